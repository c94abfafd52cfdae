// SPDX-License-Identifier: Apache-2.0
#include "calibrate/bench/options.hpp"

#include <CLI/CLI.hpp>

#include "calibrate/bench/plan.hpp"

namespace roofcast::bench {

std::unique_ptr<CLI::App> make_parser(Options& options) {
  auto parser = std::make_unique<CLI::App>(
      "Measures the GPU it runs on: bandwidths, latencies, peaks and single operators\n"
      "Writes one CSV table a subject and environment.yaml into a directory. Tables of operators "
      "are "
      "read by `roofcast calibrate validate`.",
      "roofcast-bench");
  std::vector<std::string> names;
  for (const Suite& suite : suites()) {
    names.emplace_back(suite.name);
  }
  CLI::App& app = *parser;
  auto* out = app.add_option("--out", options.directory, "directory of the results; made if absent")
                  ->type_name("DIR");
  app.add_option("--chip", options.chip,
                 "id of the chip in the catalog; default: by the GPU's name")
      ->type_name("ID");
  app.add_option("--only", options.only, "suites to run, separated by commas; default: all")
      ->delimiter(',')
      ->check(CLI::IsMember(names))
      ->type_name("SUITES");
  app.add_option("--budget-s", options.budget_s, "seconds for all suites together")
      ->check(CLI::Range(1.0, 1e6))
      ->capture_default_str()
      ->type_name("SECONDS");
  auto* list = app.add_flag("--list", options.list, "name the suites, and run none");
  auto* drift = app.add_flag("--drift", options.drift,
                             "compare the GPU with its chip in the catalog; ROOFCAST_CATALOG names "
                             "a directory of your own chips");
  // Written by the suite `nccl` alone, for the processes that it starts.
  auto* board = app.add_option("--board", options.board)->group("");
  app.add_option("--rank", options.rank)->needs(board)->group("");
  list->excludes(drift);
  list->excludes(out);
  drift->excludes(out);
  app.final_callback([out, list, drift, board] {
    if (out->count() + list->count() + drift->count() + board->count() == 0) {
      throw CLI::RequiredError("--out DIR");
    }
  });
  return parser;
}

}  // namespace roofcast::bench
