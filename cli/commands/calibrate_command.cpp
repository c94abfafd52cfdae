// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>

#include "base/document/text_file.hpp"
#include "calibrate/accuracy/accuracy.hpp"
#include "calibrate/fit/fit.hpp"
#include "calibrate/operators/operator_rows.hpp"
#include "cli/pages/accuracy_page.hpp"
#include "cli/program/commands.hpp"
#include "cli/program/usage.hpp"
#include "cli/tables/text_table.hpp"
#include "cli/validate/validation.hpp"

namespace roofcast::cli {
namespace {

struct FitOptions {
  std::string tables, chip, stack, output;
  std::string source = "fitted to measured operators";
};

int fit(const FitOptions& options) {
  const calibrate::FittedCalibration fitted =
      calibrate::fit_calibration(options.chip, options.stack, options.tables);
  TextTable table({"kind", "rows", "held back", "generic median", "fitted", "corrected", "mape",
                   "p90", "bias"});
  for (const calibrate::KindErrors& e : fitted.kinds) {
    table.add({e.kind, fmt::format("{}", e.given), fmt::format("{}", e.after.rows),
               calibrate::percent(e.before.median), calibrate::percent(e.physical.median),
               calibrate::percent(e.after.median), calibrate::percent(e.after.mape),
               calibrate::percent(e.after.p90), calibrate::percent(e.after.bias)});
  }
  fmt::print("{}", table.text());
  base::write_text(options.output, calibrate::overlay(fitted, options.source));
  return kDone;
}

void add_fit(Command& calibrate, Run& chosen) {
  auto* command = calibrate.add_subcommand(
      "fit",
      "Fits the parameters of a chip and stack to measured operators\n"
      "Reads TABLES/<kind>.csv or .csv.gz in the layouts that validate reads. A fifth of the "
      "shapes is held "
      "back and only judges. Writes what differs from the generic parameters.");
  auto options = std::make_shared<FitOptions>();
  command->add_option("tables", options->tables, "directory of the tables")
      ->type_name(kFile)
      ->required();
  command->add_option("--chip", options->chip, "whose rows")->type_name(kText)->required();
  command->add_option("--stack", options->stack, "whose kernels")
      ->required()
      ->one_of({"trtllm", "vllm"});
  command->add_option("-o,--output", options->output, "the overlay, YAML")
      ->type_name(kFile)
      ->required();
  command->add_option("--source", options->source, "where the tables are from")->type_name(kText);
  command->footer(examples({"roofcast calibrate fit . --chip h200_sxm --stack vllm -o h200.yaml"}));
  command->callback([&chosen, options] { chosen = [options] { return fit(*options); }; });
}

void add_accuracy(Command& calibrate, Run& chosen) {
  struct Options {
    std::string tables, output;
  };
  auto* command = calibrate.add_subcommand(
      "accuracy",
      "Writes the page of errors of every shipped calibration\n"
      "Reads TABLES/<kind>.csv or .csv.gz. Prints the errors of transferred parameters, as a "
      "calibration lists them.");
  auto options = std::make_shared<Options>();
  command->add_option("tables", options->tables, "directory of the tables")
      ->type_name(kFile)
      ->required();
  command->add_option("-o,--output", options->output, "the page, Markdown")
      ->type_name(kFile)
      ->required();
  command->footer(examples({"roofcast calibrate accuracy . -o accuracy.md"}));
  command->callback([&chosen, options] {
    chosen = [options] {
      const auto kinds = calibrate::accuracy(options->tables);
      base::write_text(options->output, accuracy_page(kinds));
      fmt::print("{}", calibrate::transferred_errors(kinds));
      return kDone;
    };
  });
}

}  // namespace

void add_calibrate(Command& app, Run& chosen) {
  auto* command = app.add_subcommand("calibrate", "How well forecasts agree with measurements");
  command->require_subcommand();
  auto* validate = command->add_subcommand(
      "validate",
      "Predicts every row of a table of measurements and tells the errors\n"
      "The columns are those of the tables collected in ai-dynamo/aiconfigurator; rows that "
      "cannot be predicted are counted by reason. Requests are simulated, every run in or below a "
      "directory: meta.json, requests.jsonl and timeseries.csv as casys-kaist/LLMServingSim "
      "records vLLM.");
  add_fit(*command, chosen);
  add_accuracy(*command, chosen);
  add_claims(*command, chosen);
  auto options = std::make_shared<ValidationOptions>();
  std::vector<std::string> kinds = calibrate::operator_kinds();
  kinds.insert(kinds.end(), {"serving", "requests", "training", "rl"});
  validate->add_option("kind", options->kind, "what was measured")->required()->one_of(kinds);
  validate
      ->add_option("data", options->data, "the table, .csv or .csv.gz; of requests the directory")
      ->type_name(kFile)
      ->required();
  validate->add_option("--out", options->out, "every row with its prediction, as CSV")
      ->type_name(kFile);
  validate->add_option("--where", options->where, "only rows with this text in this column")
      ->type_name(kColumnValue)
      ->take_all();
  validate
      ->add_option("--calibration", options->calibration,
                   "parameters in place of the chips' own: an id or a file that fit wrote")
      ->type_name(kFile);
  validate
      ->add_option("--chip-parameters", options->chip_parameters,
                   "transferred: as if the chip itself had not been measured")
      ->one_of({"own", "transferred"});
  validate
      ->add_option("--report", options->report,
                   "of requests: an HTML page of the measured and the simulated distributions and "
                   "queues")
      ->type_name(kFile);
  validate
      ->add_option("--against", options->against,
                   "another forecaster's predictions of the same rows, as --out writes them: CSV "
                   "with id, predicted_ttft_ms and predicted_tpot_ms; of requests with run, "
                   "request_id, predicted_ttft_s and predicted_tpot_s")
      ->type_name(kFile);
  validate->footer(examples({"roofcast calibrate validate gemm gemm.csv --where system=h200_sxm",
                             "roofcast calibrate validate gemm gemm.csv --out errors.csv",
                             "roofcast calibrate validate requests runs --out errors.csv",
                             "roofcast calibrate validate requests runs --report runs.html",
                             "roofcast calibrate validate requests runs --against errors.csv"}));
  validate->callback([&chosen, options] {
    chosen = [options] {
      if (options->kind == "requests") {
        return validate_requests(*options);
      }
      if (!options->report.empty()) {
        throw base::InputError("error: --report is of requests\n");
      }
      if (options->kind == "training") {
        return validate_training(*options);
      }
      if (options->kind == "rl") {
        return validate_post_training(*options);
      }
      return options->kind == "serving" ? validate_serving(*options) : validate_operators(*options);
    };
  });
}

}  // namespace roofcast::cli
