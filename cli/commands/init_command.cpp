// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include <iostream>
#include <memory>

#include "base/document/problems.hpp"
#include "base/document/text_file.hpp"
#include "cli/program/commands.hpp"
#include "cli/program/usage.hpp"
#include "cli/question/first_questions.hpp"
#include "cli/tables/say.hpp"

namespace roofcast::cli {
namespace {

struct InitOptions {
  std::string file = "scenario.yaml";
  FirstAnswers answers;
};

int run_init(InitOptions& options) {
  FirstAnswers& answers = options.answers;
  const bool to_stdout = options.file == "-";
  if (const std::string missing = missing_options(answers); !missing.empty()) {
    if (isatty(STDIN_FILENO) == 0) {
      throw base::InputError(
          fmt::format("error: {} {} needed: stdin is no terminal, so nobody can be asked\n",
                      missing, missing.find(',') == std::string::npos ? "is" : "are"));
    }
    ask(std::cin, std::cerr, answers);
  }
  const std::string next = next_command(answers, to_stdout ? "FILE" : options.file);
  const std::string text = commented_scenario(answers, next);
  base::write_text(options.file, text);
  if (to_stdout) {
    return kDone;
  }
  say("Wrote {}. Next:\n  {}\n", options.file, next);
  return kDone;
}

}  // namespace

void add_init(Command& app, Run& chosen) {
  auto* command = app.add_subcommand(
      "init",
      "Asks five questions and writes a scenario\n"
      "Model, system, traffic, limits, and what to find. Options answer questions beforehand; "
      "those that have no answer yet are asked in the terminal. The scenario has a comment on "
      "each section, and the command that comes next.");
  auto options = std::make_shared<InitOptions>();
  FirstAnswers& answers = options->answers;
  command->add_option("file", options->file, "the file to write, or - for the standard output")
      ->written()
      ->capture_default_str();
  add_scenario_options(*command, answers.said, Lists::no);
  std::vector<std::string> findable;
  for (const Findable& each : kFindable) {
    findable.emplace_back(each.name);
  }
  command->add_option("--find", answers.find, "what to find; default: speed")->one_of(findable);
  command->footer(examples(
      {"roofcast init first.yaml --model llama-3.1-70b --precision fp8 --system hgx_h200 --gpus 8 "
       "--input 2000 --output 500 --clients 64 --ttft-p95 1s --tpot-p95 30ms --find clients",
       "roofcast estimate first.yaml",
       "roofcast init - --model llama-3.1-8b --system hgx_h100 --input 1000 --output 200 | "
       "roofcast estimate -"}));
  command->callback([&chosen, options] { chosen = [options] { return run_init(*options); }; });
}

}  // namespace roofcast::cli
