// SPDX-License-Identifier: Apache-2.0
//
// How a command declares its arguments and options. CLI11 is a header of its own 10,000 lines that is compiled anew in
// every source that includes it: these few functions keep it out of the commands.
//
//   Command* command = app.add_subcommand("sweep", "Every combination of the axes of a sweep");
//   command->add_option("--csv", options->csv, "where the rows go")->type_name(kFile)->required();
//
// Targets and callbacks outlive the program that CLI11 parses for; the objects of this header need not.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace roofcast::cli {

class Argument {
 public:
  explicit Argument(CLI::Option& option) : option_(&option) {}

  Argument* type_name(const char* name);  // a word of cli/program/usage.hpp
  Argument* required();
  Argument* take_all();  // may be given several times
  Argument* group(const char* heading);
  Argument* capture_default_str();  // help prints the target's value as the default
  Argument* one_of(const std::vector<std::string>& choices);
  Argument* within(double least, double most);
  Argument* within(std::size_t least, std::size_t most);
  Argument* written();  // it names a file that the command writes

 private:
  CLI::Option* option_;
};

class Command {
 public:
  explicit Command(CLI::App& app) : app_(&app) {}

  Command* add_subcommand(const std::string& name, const std::string& description);
  // A name without dashes is that of an argument by position. `target` keeps its value unless the option is given.
  // Defined for texts, whole numbers and numbers, optional ones and vectors (cli/program/command.cpp).
  template <class T>
  Argument* add_option(const std::string& name, T& target, const std::string& description);
  Argument* add_flag(const std::string& name, bool& target, const std::string& description);
  // --format with these choices, of which `format` has the usual one, and --json, which is --format json.
  void add_format(std::string& format, const std::vector<std::string>& choices);
  void add_json(bool& json);                   // of a command with no other format
  Command* group(const std::string& heading);  // an empty one hides the command
  void require_subcommand();
  void footer(const std::string& text);
  void callback(std::function<void()> chosen);

  CLI::App& tree() { return *app_; }

 private:
  CLI::App* app_;
  std::deque<Command> commands_;
  std::deque<Argument> arguments_;
};

}  // namespace roofcast::cli
