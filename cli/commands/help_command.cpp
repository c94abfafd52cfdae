// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "base/document/problems.hpp"
#include "cli/program/commands.hpp"
#include "cli/program/usage.hpp"
#include "cli/tables/say.hpp"

namespace roofcast::cli {
namespace {

const CLI::App& command_at(const CLI::App& program, const std::vector<std::string>& path) {
  const CLI::App* at = &program;
  for (const std::string& word : path) {
    const CLI::App* next = nullptr;
    for (const CLI::App* each : subcommands(*at)) {
      next = name_of(*each) == word ? each : next;
    }
    if (next == nullptr) {
      throw base::InputError(fmt::format("error: {}\n", unknown_command(*at, word)));
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
      say("{}", help(command_at(*program, *path)));
      return kDone;
    };
  });
}

}  // namespace roofcast::cli
