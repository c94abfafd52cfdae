// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>

#include "calibrate/operator_rows.hpp"
#include "cli/commands.hpp"
#include "cli/validation.hpp"

namespace roofcast::cli {

void add_calibrate(CLI::App& app, Run& chosen) {
  auto* command = app.add_subcommand("calibrate", "How well forecasts agree with measurements");
  command->require_subcommand(1);
  auto* validate = command->add_subcommand(
      "validate",
      "Predicts every row of a table of measurements and tells the errors\n"
      "  roofcast calibrate validate serving serving_silicon.csv --out errors.csv\n"
      "  roofcast calibrate validate gemm gemm.csv.gz --where system=h100_sxm");
  auto options = std::make_shared<ValidationOptions>();
  std::vector<std::string> kinds = calibrate::operator_kinds();
  kinds.emplace_back("serving");
  validate
      ->add_option("kind", options->kind,
                   fmt::format("what was measured: {}", fmt::join(kinds, ", ")))
      ->required()
      ->check(CLI::IsMember(kinds));
  validate->add_option("data", options->data, "the table, .csv or .csv.gz")->required();
  validate->add_option("--out", options->out, "every row with its prediction, as CSV");
  validate->add_option("--where", options->where, "only rows with this text in this column")
      ->type_name("COLUMN=VALUE")
      ->take_all();
  validate->callback([&chosen, options] {
    chosen = [options] {
      return options->kind == "serving" ? validate_serving(*options) : validate_operators(*options);
    };
  });
}

}  // namespace roofcast::cli
