// SPDX-License-Identifier: Apache-2.0
#include "cli/program/command.hpp"

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>

#include "cli/program/usage.hpp"

namespace roofcast::cli {

Argument* Argument::type_name(const char* name) {
  option_->type_name(name);
  if (name == kFile || name == kText) {
    option_->check(CLI::Validator(
        [](const std::string& text) { return text.empty() ? "is empty" : std::string(); }, ""));
  }
  return this;
}

Argument* Argument::required() {
  option_->required();
  return this;
}

Argument* Argument::take_all() {
  option_->take_all();
  return this;
}

Argument* Argument::group(const char* heading) {
  option_->group(heading);
  return this;
}

Argument* Argument::capture_default_str() {
  option_->capture_default_str();
  return this;
}

Argument* Argument::one_of(const std::vector<std::string>& choices) {
  option_->check(CLI::IsMember(choices));
  return this;
}

Argument* Argument::within(double least, double most) {
  option_->check(CLI::Range(least, most).description(""));
  return this;
}

Argument* Argument::within(std::size_t least, std::size_t most) {
  option_->check(CLI::Range(least, most).description(""));
  return this;
}

Argument* Argument::written() { return type_name(kFile)->group(kOutput); }

Command* Command::add_subcommand(const std::string& name, const std::string& description) {
  return &commands_.emplace_back(*app_->add_subcommand(name, description));
}

template <class T>
Argument* Command::add_option(const std::string& name, T& target, const std::string& description) {
  CLI::Option* option = app_->add_option(name, target, description);
  if constexpr (std::is_same_v<T, double> || std::is_same_v<T, std::vector<double>>) {
    option->check(CLI::Validator(  // no limit holds a NaN back
        [](const std::string& text) {
          double value = 0.0;
          const bool is_nan = CLI::detail::lexical_cast(text, value) && std::isnan(value);
          return is_nan ? text + " is no number" : std::string();
        },
        ""));
  }
  return &arguments_.emplace_back(*option);
}
template Argument* Command::add_option(const std::string&, std::string&, const std::string&);
template Argument* Command::add_option(const std::string&, std::vector<std::string>&,
                                       const std::string&);
template Argument* Command::add_option(const std::string&, double&, const std::string&);
template Argument* Command::add_option(const std::string&, std::vector<double>&,
                                       const std::string&);
template Argument* Command::add_option(const std::string&, std::int64_t&, const std::string&);
template Argument* Command::add_option(const std::string&, std::uint32_t&, const std::string&);
template Argument* Command::add_option(const std::string&, std::size_t&, const std::string&);
template Argument* Command::add_option(const std::string&, std::optional<std::string>&,
                                       const std::string&);
template Argument* Command::add_option(const std::string&, std::optional<std::int64_t>&,
                                       const std::string&);
template Argument* Command::add_option(const std::string&, std::optional<std::uint32_t>&,
                                       const std::string&);

Argument* Command::add_flag(const std::string& name, bool& target, const std::string& description) {
  return &arguments_.emplace_back(*app_->add_flag(name, target, description));
}

void Command::add_format(std::string& format, const std::vector<std::string>& choices) {
  CLI::Option* named = app_->add_option("--format", format, "the format of the output")
                           ->check(CLI::IsMember(choices))
                           ->capture_default_str()
                           ->group(kOutput);
  app_->add_flag_callback(
          "--json", [&format] { format = "json"; }, "print JSON: --format json")
      ->excludes(named)
      ->group(kOutput);
}

void Command::add_json(bool& json) { add_flag("--json", json, "print JSON")->group(kOutput); }

Command* Command::group(const std::string& heading) {
  app_->group(heading);
  return this;
}

void Command::require_subcommand() { app_->require_subcommand(1); }

void Command::footer(const std::string& text) { app_->footer(text); }

void Command::callback(std::function<void()> chosen) { app_->callback(std::move(chosen)); }

}  // namespace roofcast::cli
