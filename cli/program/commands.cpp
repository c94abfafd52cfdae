// SPDX-License-Identifier: Apache-2.0
#include "cli/program/commands.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "base/document/problems.hpp"
#include "base/nearest.hpp"
#include "cli/program/usage.hpp"
#include "cli/text/version.hpp"

namespace roofcast::cli {
namespace {

constexpr const char* kSurroundings =
    "\n\n"
    "Exit status:\n"
    "  0  done\n"
    "  1  a mistake in roofcast itself\n"
    "  2  bad input or usage; stderr says where and what\n"
    "  3  --strict: the scenario does not fit, nothing meets the conditions, or what\n"
    "     is compared has lost something\n"
    "\n"
    "Environment:\n"
    "  ROOFCAST_CATALOG  a directory with folders chips/, systems/, models/, ...: its\n"
    "                    <id>.yaml add to the built-in catalog, and win over entries\n"
    "                    of the same id\n"
    "\n"
    "Files:\n"
    "  OUT.sweep.yaml  written beside OUT.csv: the sweep that made it, base included;\n"
    "                  `roofcast report OUT.csv` reads it";

class Help : public CLI::FormatterBase {
 public:
  std::string make_help(const CLI::App* command, std::string, CLI::AppFormatMode) const override {
    return help(*command);
  }
};

// What CLI11 has no good words for: no command at all, and one that there is not.
int refuse(const CLI::App& app, const CLI::ParseError& error) {
  if (!app.get_subcommands().empty() || app.remaining_size() == 0) {
    if (app.get_subcommands().empty() && error.get_name() == "RequiredError") {
      fmt::print(stderr, "{}", app.help());
      return kBadInput;
    }
    return app.exit(error) == 0 ? kDone : kBadInput;
  }
  const std::string wrong = app.remaining().front();
  std::vector<std::string> names;
  for (const CLI::App* command : subcommands(app)) {
    names.push_back(command->get_name());
  }
  const auto near = base::nearest_name(wrong, names);
  fmt::print(
      stderr,
      "error: there is no {} \"{}\"{} (commands: {})\nRun with --help for more information.\n",
      wrong.starts_with('-') ? "option" : "command", wrong,
      near ? fmt::format("; did you mean \"{}\"?", *near) : "", fmt::join(names, ", "));
  return kBadInput;
}

}  // namespace

std::unique_ptr<CLI::App> make_program(Run& chosen) {
  auto program = std::make_unique<CLI::App>(
      "Forecasts speed, cost and size of AI workloads on GPU systems, built or not\n"
      "Describe a scenario (system, model, precision, parallelism, traffic) in YAML; estimate "
      "it, or sweep any of its figures. A dotted path names each one, through references: "
      "system.chip.hbm.bandwidth is the bandwidth of the chip of the scenario's system. Every "
      "command has a --help of its own, with examples.",
      "roofcast");
  CLI::App& app = *program;
  app.require_subcommand(1);
  app.set_help_flag("-h,--help", "print this text");
  app.set_version_flag("--version", "roofcast " + version(), "print the version");
  app.formatter(std::make_shared<Help>());
  Command root(app);
  for (const auto add : {add_list, add_show, add_check, add_estimate, add_simulate, add_sweep,
                         add_solve, add_sensitivity, add_compare, add_pareto, add_brief, add_report,
                         add_calibrate, add_schema, add_completion, add_man}) {
    add(root, chosen);
  }
  // Last: commands inherit the footer that there is when they are added.
  app.footer(examples({"roofcast list systems", "roofcast show example llama-70b > llama-70b.yaml",
                       "roofcast estimate llama-70b.yaml --set system.chip.hbm.bandwidth=x1.5",
                       "roofcast show example llama70b_what_if > what_if.yaml",
                       "roofcast sweep what_if.yaml --csv out.csv --report out.html"}) +
             kSurroundings);
  return program;
}

int run(int argc, char** argv) {
  Run chosen;
  const auto program = make_program(chosen);
  CLI::App& app = *program;
  try {
    app.parse(argc, argv);
    return chosen();
  } catch (const CLI::ParseError& error) {
    return refuse(app, error);
  } catch (const base::InputError& error) {
    const std::string_view text(error.what());
    fmt::print(stderr, "{}{}", text, text.ends_with('\n') ? "" : "\n");
    return kBadInput;
  } catch (const std::exception& error) {
    fmt::print(stderr, "roofcast: internal error, please report it: {}\n", error.what());
    return kBug;
  }
}

}  // namespace roofcast::cli
