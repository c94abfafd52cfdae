// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "cli/catalogs.hpp"
#include "cli/commands.hpp"

namespace roofcast::cli {

void add_show(CLI::App& app, Run& chosen) {
  auto* command = app.add_subcommand("show",
                                     "One entry of the catalog, with its sources\n"
                                     "  roofcast show chip h200_sxm\n"
                                     "  roofcast show example llama-70b > mine.yaml");
  auto kind = std::make_shared<std::string>();
  auto id = std::make_shared<std::string>();
  command->add_option("kind", *kind, "chip, system, model, precision, stack, calibration, example")
      ->required();
  command->add_option("id", *id, "as `roofcast list` prints it")->required();
  command->callback([&chosen, kind, id] {
    chosen = [kind, id] {
      const base::Node document = base::load_entry(kind_named(*kind).catalog(), *id);
      const std::string& text = document.place.source->text;
      fmt::print("{}{}", text, text.ends_with('\n') ? "" : "\n");
      return kDone;
    };
  });
}

}  // namespace roofcast::cli
