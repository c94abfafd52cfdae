// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "cli/program/commands.hpp"
#include "cli/program/usage.hpp"
#include "cli/provenance/version.hpp"
#include "cli/tables/say.hpp"

namespace roofcast::cli {
namespace {

// Text that roff prints as it stands: no escapes, no requests, hyphens that can be copied.
std::string plain(std::string_view text) {
  std::string out = text.starts_with('.') || text.starts_with('\'') ? "\\&" : "";
  for (const char c : text) {
    c == '\\' ? out += "\\e" : c == '-' ? out += "\\-" : out += c;
  }
  return out;
}

std::string literal(const std::vector<std::string>& lines) {
  std::string out = ".nf\n.RS\n";
  for (const std::string& line : lines) {
    out += plain(line.substr(std::min<std::size_t>(2, line.size()))) + '\n';
  }
  return out + ".RE\n.fi\n";
}

std::string tagged(const CLI::Option& option) {
  const Usage text = usage(option);
  return fmt::format(".TP\n.B {}\n{}\n", plain(text.name), plain(text.description));
}

// A command and those below it.
std::string command_text(const CLI::App& command) {
  std::string out;
  if (subcommands(command).empty()) {
    out += fmt::format(".SS {}\n{}.\n", plain(full_name(command)), plain(summary(command)));
    if (const std::string more = details(command); !more.empty()) {
      out += plain(more) + '\n';
    }
    out += fmt::format(".PP\n.B {}\n", plain(synopsis(command)));
    for (const CLI::Option* argument : arguments(command)) {
      out += tagged(*argument);
    }
    for (const CLI::Option* option : options(command)) {
      out += is_help(*option, command) ? "" : tagged(*option);
    }
    for (const auto& [heading, lines] : footer_sections(command)) {
      out += fmt::format(".PP\n{}:\n.PP\n{}", plain(heading), literal(lines));
    }
  }
  for (const CLI::App* each : subcommands(command)) {
    out += command_text(*each);
  }
  return out;
}

std::string page(const CLI::App& program) {
  std::string out = fmt::format(
      ".TH ROOFCAST 1 \"\" \"roofcast {}\" \"User Commands\"\n"
      ".SH NAME\nroofcast \\- {}\n"
      ".SH SYNOPSIS\n.B {}\n"
      ".SH DESCRIPTION\n{}\n",
      version(), plain(summary(program)), plain(synopsis(program)), plain(details(program)));
  out += ".SH OPTIONS\n";
  for (const CLI::Option* option : options(program)) {
    out += tagged(*option);
  }
  out += ".SH COMMANDS\n";
  for (const CLI::App* each : subcommands(program)) {
    out += command_text(*each);
  }
  for (const auto& [heading, lines] : footer_sections(program)) {
    out += fmt::format(".SH {}\n{}", capitals(heading), literal(lines));
  }
  return out;
}

}  // namespace

void add_man(Command& app, Run& chosen) {
  auto* command = app.add_subcommand("man", "Prints the manual page");
  command->footer(examples({"roofcast man > roofcast.1"}));
  command->callback([&program = app.tree(), &chosen] {
    chosen = [&program] {
      say("{}", page(program));
      return kDone;
    };
  });
}

}  // namespace roofcast::cli
