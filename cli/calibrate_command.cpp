// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>

#include "calibrate/operator_rows.hpp"
#include "cli/commands.hpp"
#include "cli/usage.hpp"
#include "cli/validation.hpp"

namespace roofcast::cli {

void add_calibrate(CLI::App& app, Run& chosen) {
  auto* command = app.add_subcommand("calibrate", "How well forecasts agree with measurements");
  command->require_subcommand(1);
  auto* validate = command->add_subcommand(
      "validate",
      "Predicts every row of a table of measurements and tells the errors\n"
      "The columns are those of the tables collected in ai-dynamo/aiconfigurator; rows that "
      "cannot be predicted are counted by reason.");
  auto options = std::make_shared<ValidationOptions>();
  std::vector<std::string> kinds = calibrate::operator_kinds();
  kinds.emplace_back("serving");
  validate->add_option("kind", options->kind, "what was measured")
      ->required()
      ->check(CLI::IsMember(kinds));
  validate->add_option("data", options->data, "the table, .csv or .csv.gz")
      ->type_name(kFile)
      ->required();
  validate->add_option("--out", options->out, "every row with its prediction, as CSV")
      ->type_name(kFile);
  validate->add_option("--where", options->where, "only rows with this text in this column")
      ->type_name(kColumnValue)
      ->take_all();
  validate->footer(examples({"roofcast calibrate validate gemm gemm.csv --where system=h200_sxm",
                             "roofcast calibrate validate gemm gemm.csv --out errors.csv"}));
  validate->callback([&chosen, options] {
    chosen = [options] {
      return options->kind == "serving" ? validate_serving(*options) : validate_operators(*options);
    };
  });
}

}  // namespace roofcast::cli
