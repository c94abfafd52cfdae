// SPDX-License-Identifier: Apache-2.0
#include "cli/commands.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <exception>

#include "base/problems.hpp"

namespace roofcast::cli {

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
    return app.exit(error) == 0 ? kDone : kBadInput;
  } catch (const base::InputError& error) {
    fmt::print(stderr, "{}", error.what());
    return kBadInput;
  } catch (const std::exception& error) {
    fmt::print(stderr, "roofcast: internal error, please report it: {}\n", error.what());
    return kBug;
  }
}

}  // namespace roofcast::cli
