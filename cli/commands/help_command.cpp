// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "base/document/problems.hpp"
#include "base/nearest.hpp"
#include "cli/program/commands.hpp"
#include "cli/program/usage.hpp"

namespace roofcast::cli {
namespace {

const CLI::App& command_at(const CLI::App& program, const std::vector<std::string>& path) {
  const CLI::App* at = &program;
  for (const std::string& word : path) {
    const CLI::App* next = nullptr;
    std::vector<std::string> names;
    for (const CLI::App* each : subcommands(*at)) {
      names.push_back(name_of(*each));
      next = names.back() == word ? each : next;
    }
    if (next == nullptr) {
      const auto near = base::nearest_name(word, names);
      throw base::InputError(fmt::format("error: {} has no command \"{}\"{}\n", full_name(*at),
                                         word,
                                         near ? fmt::format("; did you mean \"{}\"?", *near) : ""));
    }
    at = next;
  }
  return *at;
}

}  // namespace

void add_help(Command& app, Run& chosen) {
  auto* command = app.add_subcommand("help", "Prints the help of a command");
  auto path = std::make_shared<std::vector<std::string>>();
  command->add_option("command", *path, "a command, such as sweep or calibrate validate")
      ->type_name(kText);
  command->footer(
      examples({"roofcast help", "roofcast help sweep", "roofcast help calibrate validate"}));
  const CLI::App* program = &app.tree();
  command->callback([&chosen, path, program] {
    chosen = [path, program] {
      fmt::print("{}", help(command_at(*program, *path)));
      return kDone;
    };
  });
}

}  // namespace roofcast::cli
