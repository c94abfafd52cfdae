// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "cli/commands.hpp"
#include "cli/compare_roadmap.hpp"
#include "cli/usage.hpp"

namespace roofcast::cli {
namespace {

struct Options {
  std::string roadmap;
  std::string csv;
  bool strict = false;
};

}  // namespace

void add_compare(CLI::App& app, Run& chosen) {
  auto* command = app.add_subcommand("compare",
                                     "The options of a roadmap over a portfolio of workloads\n"
                                     "Options by their gains, with what limits each; features by "
                                     "what each brings alone, on top of "
                                     "all others, in the best order, and by Shapley shares.");
  auto options = std::make_shared<Options>();
  command->add_option("roadmap", options->roadmap, "the YAML of a roadmap")
      ->type_name(kFile)
      ->required();
  command->add_option("--csv", options->csv, "where every number goes")
      ->type_name(kFile)
      ->group("Output");
  command->add_flag("--strict", options->strict,
                    "exit with 3 when an option cannot run a workload");
  command->footer(examples({"roofcast show example roadmap_features > roadmap.yaml",
                            "roofcast compare roadmap.yaml --csv roadmap.csv"}));
  command->callback([&chosen, options] {
    chosen = [options] {
      return compare_roadmap(base::load_document(options->roadmap), options->csv, options->strict);
    };
  });
}

}  // namespace roofcast::cli
