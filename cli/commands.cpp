// SPDX-License-Identifier: Apache-2.0
#include "cli/commands.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "base/nearest.hpp"
#include "base/problems.hpp"

namespace roofcast::cli {
namespace {

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
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
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

int run(int argc, char** argv) {
  CLI::App app{
      "Forecasts how fast, how expensive and how large an AI workload runs on GPU systems,\n"
      "built or not.\n\n"
      "  roofcast list systems\n"
      "  roofcast show example llama-70b > mine.yaml\n"
      "  roofcast estimate mine.yaml --set system.chip.hbm.bandwidth=x1.5 --explain\n"
      "  roofcast sweep examples/llama70b_what_if.yaml --csv out.csv --report out.html",
      "roofcast"};
  app.require_subcommand(1);
  app.set_version_flag("--version", "roofcast " ROOFCAST_VERSION);
  Run chosen;
  for (const auto add : {add_list, add_show, add_check, add_estimate, add_sweep, add_pareto,
                         add_report, add_calibrate}) {
    add(app, chosen);
  }
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
