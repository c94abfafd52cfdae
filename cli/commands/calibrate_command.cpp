// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/document/text_file.hpp"
#include "calibrate/accuracy/accuracy.hpp"
#include "calibrate/accuracy/architectures.hpp"
#include "calibrate/operators/operator_rows.hpp"
#include "calibrate/platforms/measurements.hpp"
#include "cli/calibrate/commands.hpp"
#include "cli/pages/accuracy_page.hpp"
#include "cli/program/usage.hpp"
#include "cli/tables/say.hpp"
#include "cli/text/json_answer.hpp"
#include "cli/validate/validation.hpp"

namespace roofcast::cli {
namespace {

constexpr const char* kTables =
    "directory of the tables; default: ops/ of the shipped measurements, or of $ROOFCAST_DATA";

// The operators among the measured tables, where no folder is named.
std::filesystem::path tables_in(const std::string& named) {
  return named.empty() ? calibrate::measurements() / "ops" : std::filesystem::path(named);
}

void add_accuracy(Command& calibrate, Run& chosen) {
  struct Options {
    std::string tables, output, spreads;
  };
  auto* command = calibrate.add_subcommand(
      "accuracy",
      "Writes a page with the errors of every built-in calibration, and of training\n"
      "Reads TABLES/<kind>.csv, .csv.gz or .columns.gz, and the published training steps of the "
      "measurements. Also prints the errors of generic "
      "parameters, in the form of a calibration's `errors:`.");
  auto options = std::make_shared<Options>();
  command->add_option("tables", options->tables, kTables)->type_name(kFile);
  command->add_option("-o,--output", options->output, "the file of the page, Markdown")
      ->written()
      ->required();
  command
      ->add_option("--spreads", options->spreads,
                   "write the spreads of measurements to this file, YAML")
      ->written();
  command->footer(examples({"roofcast calibrate accuracy . -o accuracy.md"}));
  command->callback([&chosen, options] {
    chosen = [options] {
      const std::filesystem::path tables = tables_in(options->tables);
      const calibrate::Accuracy accuracy = calibrate::accuracy(tables);
      const calibrate::OwnMeasurements own = calibrate::own_measurements(tables);
      base::write_text(options->output, accuracy_page(accuracy.kinds, calibrate::new_layers(tables),
                                                      own, calibrate::training_tables()));
      if (!options->spreads.empty()) {
        base::write_text(
            options->spreads,
            calibrate::spreads_document({accuracy.spreads, {calibrate::repeated_spread(own)}}));
      }
      say("{}", calibrate::generic_errors(accuracy));
      return kDone;
    };
  });
}

void check(const ValidationOptions& options) {
  if (!options.report.empty() && options.kind != "requests") {
    throw base::InputError("error: --report is of requests\n");
  }
  const bool of_data = !options.data.empty() || !options.where.empty() ||
                       !options.calibration.empty() || !options.against.empty() ||
                       !options.as_if_unmeasured.empty();
  const bool of_simulation =
      options.scenarios || options.seed || options.threads > 0 || options.check_only;
  if (!options.as_if_unmeasured.empty() && (options.kind == "training" || options.kind == "rl")) {
    throw base::InputError(
        "error: --as-if-unmeasured is of operators, serving and requests; in a training scenario "
        "set system.as_if_unmeasured\n");
  }
  if (options.kind == "simulation" && of_data) {
    throw base::InputError(
        "error: validate simulation draws its scenarios; a table and its options are of "
        "measurements\n");
  }
  if (options.kind != "simulation" && of_simulation) {
    throw base::InputError(
        "error: --scenarios, --seed, --threads and --check-only are of validate simulation\n");
  }
}

int validate_one(const ValidationOptions& options) {
  if (options.kind == "requests") {
    return validate_requests(options);
  }
  if (options.kind == "training") {
    return validate_training(options);
  }
  if (options.kind == "rl") {
    return validate_post_training(options);
  }
  return options.kind == "serving" ? validate_serving(options) : validate_operators(options);
}

// Every table of a kind, or the one that is named.
int validate_all(ValidationOptions options) {
  if (options.kind == "simulation") {
    return validate_simulation(options);
  }
  if (!options.data.empty()) {
    return validate_one(options);
  }
  const std::vector<std::filesystem::path> tables = calibrate::tables_of(options.kind);
  if (tables.size() > 1 && !(options.out.empty() && options.where.empty())) {
    throw base::InputError(fmt::format(
        "error: {} has {} tables, with columns of their own; --out and --where need one of them: "
        "{}\n",
        options.kind, tables.size(), tables.front().string()));
  }
  nlohmann::ordered_json* whole = options.json;
  for (const std::filesystem::path& table : tables) {
    if (tables.size() > 1 && whole == nullptr) {
      say("{}\n", table.filename().string());
    }
    nlohmann::ordered_json json = {{"table", table.filename().string()}, {"kind", options.kind}};
    options.json = whole == nullptr ? nullptr : &json;
    options.data = table.string();
    validate_one(options);
    if (whole != nullptr) {
      (*whole)["tables"].push_back(std::move(json));
    }
  }
  return kDone;
}

int validated(ValidationOptions options, const std::string& chip_parameters, bool as_json) {
  if (chip_parameters == "transferred") {
    fmt::print(
        stderr,
        "note: \"--chip-parameters transferred\" is now \"--as-if-unmeasured chip\"; the old "
        "name works until the next release\n");
    options.as_if_unmeasured = "chip";
  }
  check(options);
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  options.json = as_json ? &json : nullptr;
  const int code = validate_all(options);
  if (as_json) {
    print_json(json);
  }
  return code;
}

}  // namespace

void add_calibrate(Command& app, Run& chosen) {
  auto* command =
      app.add_subcommand("calibrate", "Compares forecasts with measurements, and fits them");
  command->require_subcommand();
  auto* validate = command->add_subcommand(
      "validate",
      "Forecasts every row of a table of measurements and prints the errors\n"
      "The table has the columns of the tables in ai-dynamo/aiconfigurator. Rows that cannot "
      "be forecast are counted by reason. For `requests`, every run in the directory or below "
      "it is simulated. A run is meta.json, requests.jsonl and timeseries.csv, as "
      "casys-kaist/LLMServingSim records vLLM. `simulation` needs no table: it draws random "
      "scenarios and compares their estimates with their simulations.");
  add_import(*command, chosen);
  add_fit(*command, chosen);
  add_parameters(*command, chosen);
  add_accuracy(*command, chosen);
  add_claims(*command, chosen);
  auto options = std::make_shared<ValidationOptions>();
  std::vector<std::string> kinds = calibrate::operator_kinds();
  kinds.insert(kinds.end(), {"serving", "requests", "training", "rl", "simulation"});
  validate->add_option("kind", options->kind, "what was measured")->required()->one_of(kinds);
  validate
      ->add_option("data", options->data,
                   "the table, .csv, .csv.gz or .columns.gz; for requests a directory; for "
                   "simulation none; default: those of the shipped measurements, or of "
                   "$ROOFCAST_DATA")
      ->type_name(kFile);
  validate->add_option("--out", options->out, "write every row with its forecast, as CSV")
      ->written();
  validate->add_option("--where", options->where, "use only rows with this text in this column")
      ->type_name(kColumnValue)
      ->take_all();
  validate
      ->add_option("--calibration", options->calibration,
                   "parameters to use instead of the chips' own: an id, or a file that `calibrate "
                   "fit` wrote")
      ->type_name(kFile);
  validate
      ->add_option("--as-if-unmeasured", options->as_if_unmeasured,
                   "forecast as if the chip, or its whole architecture, had never been measured")
      ->one_of({"chip", "architecture"});
  auto chip_parameters = std::make_shared<std::string>("own");
  validate
      ->add_option("--chip-parameters", *chip_parameters,
                   "the old name: transferred is --as-if-unmeasured chip")
      ->one_of({"own", "transferred"});
  validate
      ->add_option(
          "--report", options->report,
          "for requests: write an HTML page with the measured and the simulated distributions and "
          "queues")
      ->written();
  validate
      ->add_option(
          "--against", options->against,
          "compare with another forecaster: a CSV of its forecasts of the same rows, with the "
          "columns id, predicted_ttft_ms and predicted_tpot_ms that --out writes; for requests "
          "with run, request_id, predicted_ttft_s and predicted_tpot_s")
      ->type_name(kFile);
  validate
      ->add_option("--scenarios", options->scenarios, "number of random scenarios; default: 400")
      ->type_name(kNumber)
      ->within(std::size_t{1}, std::size_t{1'000'000})
      ->group("Simulation");
  validate->add_option("--seed", options->seed, "draw other scenarios; default: 1")
      ->type_name(kNumber)
      ->group("Simulation");
  validate->add_option("--threads", options->threads, "number of threads; 0: all cores")
      ->type_name(kNumber)
      ->within(std::size_t{0}, kMostThreads)
      ->group("Simulation");
  validate
      ->add_flag(
          "--check-only", options->check_only,
          "simulate no scenario: count the estimates that are impossible, and those that better "
          "hardware makes more than 1 % slower. These are followed longer, and simulated "
          "where they stay slower: confirmed, or contradicted and exit with 3")
      ->group("Simulation");
  validate->footer(
      examples({"roofcast calibrate validate nccl",
                "roofcast calibrate validate gemm gemm.csv --where system=h200_sxm",
                "roofcast calibrate validate gemm gemm.csv --out gemm_errors.csv",
                "roofcast calibrate validate requests runs --out errors.csv",
                "roofcast calibrate validate requests runs --report runs.html",
                "roofcast calibrate validate requests runs --against errors.csv",
                "roofcast calibrate validate simulation --scenarios 20",
                "roofcast calibrate validate simulation --check-only --scenarios 50"}));
  auto json = std::make_shared<bool>(false);
  validate->add_json(*json);
  validate->callback([&chosen, options, chip_parameters, json] {
    chosen = [options, chip_parameters, json] {
      return validated(*options, *chip_parameters, *json);
    };
  });
}

}  // namespace roofcast::cli
