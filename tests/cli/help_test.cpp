// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <filesystem>

#include "cli/program/commands.hpp"
#include "cli/program/completion.hpp"
#include "cli/program/usage.hpp"
#include "tests/catch.hpp"
#include "tests/cli/program.hpp"
#include "tests/measured_log.hpp"
#include "tests/request_run.hpp"

namespace roofcast::cli::cli_help {
namespace {

// The whole tree of commands, outer ones first.
void collect(const CLI::App& command, std::vector<const CLI::App*>& all) {
  all.push_back(&command);
  for (const CLI::App* each : subcommands(command)) {
    collect(*each, all);
  }
}

struct Commands {
  Run chosen;
  std::unique_ptr<CLI::App> program = make_program(chosen);
  std::vector<const CLI::App*> all;
  Commands() { collect(*program, all); }
};

// Old names of options are read, and are in no help.
std::vector<const CLI::Option*> shown_options(const CLI::App& command) {
  return command.get_options([](const CLI::Option* each) { return !each->get_group().empty(); });
}

std::vector<std::string> examples_of(const CLI::App& command) {
  std::vector<std::string> lines;
  for (const auto& [heading, text] : footer_sections(command)) {
    if (heading == "Examples") {
      lines = text;
    }
  }
  return lines;
}

// Removes the file that a command refuses to replace, if the examples of another command wrote it.
bool remove_older(const Program& roofcast, const std::string& refusal,
                  std::filesystem::file_time_type start) {
  constexpr std::string_view kBefore = "error: ";
  const auto end = refusal.find(" is there already");
  const auto begin = end == std::string::npos ? end : refusal.rfind(kBefore, end);
  if (begin == std::string::npos) {
    return false;
  }
  const auto file =
      roofcast.path(refusal.substr(begin + kBefore.size(), end - begin - kBefore.size()));
  return std::filesystem::last_write_time(file) < start && std::filesystem::remove(file);
}

}  // namespace

TEST_CASE("Every command that prints an answer takes --json", "[cli]") {
  const Commands commands;
  const std::vector<std::string> others = {// print a page, a script or a file that is no answer
                                           "init",   "submit", "completion", "man",      "help",
                                           "import", "fit",    "parameters", "accuracy", "claims"};
  for (const CLI::App* command : commands.all) {
    if (!subcommands(*command).empty() ||
        std::find(others.begin(), others.end(), name_of(*command)) != others.end()) {
      continue;
    }
    INFO(full_name(*command));
    const auto all = options(*command);
    CHECK(std::any_of(all.begin(), all.end(),
                      [](const CLI::Option* option) { return has_name(*option, "--json"); }));
  }
}

TEST_CASE("Every example in the help of every command runs, in the order of the help",
          "[cli][long]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  std::string rows = "system,fw,gemm_dtype,m,n,k,latency_ms\n";
  for (int m = 16; m <= 1024; m *= 2) {
    rows += fmt::format("h200_sxm,vllm,bfloat16,{},4096,4096,{}\n", m, 0.01 + 1e-5 * m);
  }
  roofcast.write("gemm.csv", rows);
  roofcast.write("jobs.csv", "job,memory,time\nranker,12 GB,40\nchat,60 GB,300\n");
  roofcast.write("timings.csv", "M,N,K,latency\n16,4096,4096,12.5\n");
  roofcast.write("collector.txt",
                 "framework,version,device,op_name,kernel_source,gemm_dtype,m,n,k,latency\n"
                 "VLLM,0.24.0,NVIDIA H200,gemm,cublas,bfloat16,16,4096,4096,0.0125\n");
  roofcast.write("nccl_8.txt",
                 "all_reduce_perf -g 8\n# size count type redop root time algbw busbw\n"
                 "268435456 67108864 float sum -1 1119.8 239.71 419.49 0\n");
  roofcast.write("kernels.csv",
                 "Total Time (ns),Instances,Name\n125000,10,gemm_kernel\n9000,10,fill\n");
  write_run(roofcast.path("runs/RTX4090_tiny"));
  roofcast.write("bench.json", kLogOfLlama70b);
  for (const auto& [name, log] :
       {std::pair{"nccl.txt", "nccl_all_reduce_16.txt"}, {"trace.json", "kineto_trace.json"}}) {
    roofcast.write(name, base::read_text(measured_log(log)));
  }
  const Commands commands;
  for (const CLI::App* command : commands.all) {
    const std::vector<std::string> lines = examples_of(*command);
    INFO(full_name(*command));
    CHECK((!lines.empty() || !subcommands(*command).empty()));
    bool named = lines.empty();
    const auto start = std::filesystem::file_time_type::clock::now();
    for (const std::string& line : lines) {
      named = named || contains(line, full_name(*command));
      Outcome outcome = roofcast.shell(line);
      for (int tries = 0; tries < 3 && remove_older(roofcast, outcome.err, start); ++tries) {
        outcome = roofcast.shell(line);
      }
      INFO(line << "\n" << outcome.err);
      CHECK(outcome.code == 0);
    }
    CHECK(named);
  }
}

TEST_CASE("The help of every command fits a terminal and says what each argument is", "[cli]") {
  const Commands commands;
  for (const CLI::App* command : commands.all) {
    INFO(full_name(*command));
    CHECK(!summary(*command).empty());
    const std::string help = command->help();
    CHECK(contains(help, "Usage: " + synopsis(*command) + "\n"));
    for (const std::string& line : lines_of(help)) {
      INFO(line);
      CHECK((line.size() <= 80 || contains(line, "roofcast ")));  // command lines stay whole
      for (const char c : line) {
        CHECK(static_cast<unsigned char>(c) < 0x80);
      }
    }
    for (const CLI::Option* option : shown_options(*command)) {
      INFO(option->get_name());
      CHECK(!option->get_description().empty());
    }
  }
}

TEST_CASE("Completion knows the type of the value of every argument and option", "[cli]") {
  const Commands commands;
  for (const CLI::App* command : commands.all) {
    for (const CLI::Option* option : shown_options(*command)) {
      INFO(full_name(*command) << " " << option->get_name()
                               << ": give it a type_name of cli/program/usage.hpp");
      CHECK((!takes_value(*option) || knows_values(*option)));
    }
  }
}

TEST_CASE("The manual page has every command, option and example of the help", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  std::string page;
  for (const char c : roofcast.output({"man"})) {
    page += c == '\\' ? "" : std::string(1, c);
  }
  const Commands commands;
  for (const CLI::App* command : commands.all) {
    if (command->get_parent() != nullptr && !subcommands(*command).empty()) {
      continue;  // the page has the commands that do something
    }
    INFO(full_name(*command));
    CHECK(contains(page, "\n.B " + synopsis(*command) + "\n"));
    CHECK(contains(page, summary(*command)));
    for (const CLI::Option* option : shown_options(*command)) {
      CHECK(contains(page, "\n.B " + usage(*option).name + "\n"));
    }
    for (const std::string& line : examples_of(*command)) {
      CHECK(contains(page, "\n" + line.substr(2) + "\n"));
    }
  }
  for (const char* part : {"ROOFCAST_CATALOG", ".SH EXIT STATUS", ".SH ENVIRONMENT"}) {
    CHECK(contains(page, part));
  }
}

TEST_CASE("groff and mandoc find no fault in the manual page", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  roofcast.write("roofcast.1", roofcast.output({"man"}));
  for (const std::string command : {"groff -man -Tutf8 -ww -z", "mandoc -T lint -W error"}) {
    if (roofcast.shell("command -v " + command.substr(0, command.find(' '))).code != 0) {
      WARN(command << " is not installed: not run");
      continue;
    }
    const Outcome outcome = roofcast.shell(command + " roofcast.1");
    INFO(command << "\n" << outcome.out << outcome.err);
    CHECK(outcome.code == 0);
    CHECK(outcome.err.empty());
  }
}

}  // namespace roofcast::cli::cli_help
