// SPDX-License-Identifier: Apache-2.0
#include "cli/program/usage.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <sstream>

#include "base/nearest.hpp"

namespace roofcast::cli {
namespace {

constexpr std::size_t kLongestChoices = 64;  // characters beside a name; longer ones are described

bool describes_choices(const CLI::Option& option) {
  return !choices(option).empty() &&
         (option.get_positional() || value_type(option).size() > kLongestChoices);
}

// "FILE" or "COLUMN...".
std::string value_shown(const CLI::Option& option) {
  return (describes_choices(option) ? capitals(option.get_lnames().front()) : value_type(option)) +
         (takes_several(option) ? "..." : "");
}

std::string argument_shown(const CLI::Option& option) {
  return capitals(option.get_name(true)) + (takes_several(option) ? "..." : "");
}

}  // namespace

std::string capitals(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

std::string examples(std::initializer_list<std::string_view> lines) {
  return fmt::format("Examples:\n  {}", fmt::join(lines, "\n  "));
}

std::string name_of(const CLI::App& command) { return command.get_name(); }

std::string full_name(const CLI::App& command) {
  const CLI::App* parent = command.get_parent();
  return parent == nullptr ? command.get_name() : full_name(*parent) + " " + command.get_name();
}

std::string summary(const CLI::App& command) {
  const std::string text = command.get_description();
  return text.substr(0, text.find('\n'));
}

std::string details(const CLI::App& command) {
  const std::string text = command.get_description();
  const auto end = text.find('\n');
  return end == std::string::npos ? "" : text.substr(end + 1);
}

std::string synopsis(const CLI::App& command) {
  std::string line = full_name(command);
  if (!options(command).empty()) {
    line += " [OPTIONS]";
  }
  for (const CLI::Option* argument : arguments(command)) {
    const std::string name = argument_shown(*argument);
    line += argument->get_required() ? " " + name : " [" + name + "]";
  }
  for (const CLI::Option* option : options(command)) {
    if (option->get_required()) {
      line += " " + usage(*option).name;
    }
  }
  return subcommands(command).empty() ? line : line + " COMMAND";
}

std::vector<Section> footer_sections(const CLI::App& command) {
  std::vector<Section> sections;
  std::istringstream footer(footer_of(command));
  for (std::string line; std::getline(footer, line);) {
    if (line.ends_with(':') && !line.starts_with(' ')) {
      sections.push_back({line.substr(0, line.size() - 1), {}});
    } else if (!line.empty()) {
      sections.back().second.push_back(line);
    }
  }
  return sections;
}

std::vector<const CLI::App*> subcommands(const CLI::App& command) {
  return command.get_subcommands([](const CLI::App* each) { return !each->get_group().empty(); });
}

std::string unknown_command(const CLI::App& command, const std::string& wrong) {
  std::vector<std::string> names;
  for (const CLI::App* each : subcommands(command)) {
    names.push_back(name_of(*each));
  }
  const auto near = base::nearest_name(wrong, names);
  return fmt::format("there is no command \"{}\"{}{}{}", wrong,
                     command.get_parent() == nullptr ? "" : " of " + full_name(command),
                     near ? fmt::format("; did you mean \"{}\"?", *near) : "",
                     names.empty() ? "" : fmt::format(" (commands: {})", fmt::join(names, ", ")));
}

std::vector<const CLI::Option*> arguments(const CLI::App& command) {
  return command.get_options([](const CLI::Option* each) { return each->get_positional(); });
}

std::vector<const CLI::Option*> options(const CLI::App& command) {
  return command.get_options(
      [](const CLI::Option* each) { return each->nonpositional() && !each->get_group().empty(); });
}

std::vector<std::string> groups_of(const CLI::App& command) { return command.get_groups(); }

std::string group_of(const CLI::Option& option) { return option.get_group(); }

std::string footer_of(const CLI::App& command) { return command.get_footer(); }

bool has_name(const CLI::Option& option, const std::string& name) {
  return option.check_name(name);
}

std::vector<std::string> long_names(const CLI::Option& option) { return option.get_lnames(); }

std::string description_of(const CLI::Option& option) { return option.get_description(); }

std::string value_type(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const auto choices = type.find('{');
  return choices == std::string::npos ? type : type.substr(choices);
}

std::vector<std::string> choices(const CLI::Option& option) {
  const std::string type = value_type(option);
  std::vector<std::string> words;
  if (type.starts_with('{') && type.ends_with('}')) {
    std::istringstream in(type.substr(1, type.size() - 2));
    for (std::string word; std::getline(in, word, ',');) {
      words.push_back(word);
    }
  }
  return words;
}

bool takes_value(const CLI::Option& option) { return option.get_items_expected_max() > 0; }

bool is_written(const CLI::Option& option) {
  return value_type(option) == kFile && group_of(option) == kOutput;
}

bool takes_several(const CLI::Option& option) {
  return option.get_items_expected_max() > 1 && option.get_allow_extra_args();
}

bool is_help(const CLI::Option& option, const CLI::App& command) {
  return &option == command.get_help_ptr();
}

Usage usage(const CLI::Option& option) {
  const std::string description =
      describes_choices(option)
          ? fmt::format("{}: {}", option.get_description(), fmt::join(choices(option), ", "))
          : option.get_description();
  if (option.get_positional()) {
    return {argument_shown(option), description};
  }
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) {
    names.push_back("-" + name);
  }
  for (const std::string& name : option.get_lnames()) {
    names.push_back("--" + name);
  }
  Usage out{fmt::format("{}", fmt::join(names, ", ")), description};
  if (takes_value(option)) {
    out.name += " " + value_shown(option);
  }
  if (!option.get_default_str().empty()) {
    out.description += fmt::format(" (default: {})", option.get_default_str());
  }
  return out;
}

}  // namespace roofcast::cli
