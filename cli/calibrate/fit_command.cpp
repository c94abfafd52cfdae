// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>
#include <memory>

#include "base/document/text_file.hpp"
#include "calibrate/fit/fit.hpp"
#include "calibrate/fit/parameter_spread.hpp"
#include "calibrate/platforms/measurements.hpp"
#include "cli/calibrate/commands.hpp"
#include "cli/program/usage.hpp"
#include "cli/tables/say.hpp"
#include "cli/tables/text_table.hpp"
#include "workloads/serving/serving.hpp"

namespace roofcast::cli {
namespace {

struct FitOptions {
  std::vector<std::string> tables, fixed;
  bool with_shipped = false;
  std::string chip, stack, output;
  std::string source = "fitted to measured operators";
  std::string hold_back = "shapes";
};

// Where no table is named, the operators among the measured ones.
calibrate::FitSources sources(const FitOptions& options) {
  const bool shipped = options.tables.empty() || options.with_shipped;
  return {{options.tables.begin(), options.tables.end()},
          shipped ? calibrate::measurements() / "ops" : std::filesystem::path()};
}

void print_errors(const calibrate::FittedCalibration& fitted) {
  const bool few = !fitted.start.is_null();
  TextTable table(few ? std::vector<std::string>{"kind", "rows", "before", "fitted",
                                                 "each by the others", "p90", "bias"}
                      : std::vector<std::string>{"kind", "rows", "held back", "generic median",
                                                 "fitted", "corrected", "mape", "p90", "bias"});
  for (const calibrate::KindErrors& e : fitted.kinds) {
    using calibrate::percent;
    std::vector<std::string> cells = {e.kind, fmt::format("{}", e.given)};
    if (!few) {
      cells.push_back(fmt::format("{}", e.after.rows));
    }
    cells.insert(cells.end(),
                 {percent(e.before.median), percent(e.physical.median), percent(e.after.median)});
    if (!few) {
      cells.push_back(percent(e.after.mape));
    }
    cells.insert(cells.end(), {percent(e.after.p90), percent(e.after.bias)});
    table.add(std::move(cells));
  }
  say("{}", table.text());
}

std::string known_to(double uncertainty) {
  return std::isfinite(uncertainty) ? fmt::format("± {} %", calibrate::percent_text(uncertainty))
                                    : "not told by these rows";
}

// How little few rows say.
void print_few(const calibrate::FittedCalibration& fitted) {
  if (fitted.start.is_null()) {
    return;
  }
  say("\nFewer than {} rows are few: parameters start from {} ({}), and its corrections stay.\n"
      "The rows place {} of {} parameters that they depend on. The others stay.\n\n",
      calibrate::kFewRows, fitted.start_name, fitted.start_provenance, fitted.parameters.size(),
      fitted.parameters.size() + fitted.stay.size());
  TextTable table({"parameter", "before", "fitted", "known to"});
  for (const calibrate::FittedParameter& p : fitted.parameters) {
    table.add({p.path, p.before, p.text, known_to(p.uncertainty)});
  }
  for (const calibrate::FittedParameter& p : fitted.stay) {
    table.add({p.path, p.before, "stays", known_to(p.uncertainty)});
  }
  say("{}", table.text());
}

int fit(const FitOptions& options) {
  const calibrate::FittedCalibration fitted = calibrate::fit_calibration(
      {options.chip, options.stack, sources(options),
       options.hold_back == "layers" ? calibrate::Split::layers : calibrate::Split::shapes,
       options.fixed});
  print_errors(fitted);
  print_few(fitted);
  say("fitted on {}\n", calibrate::rows_text(fitted.rows));
  base::write_text(options.output, calibrate::overlay(fitted, options.source));
  return kDone;
}

}  // namespace

void add_fit(Command& calibrate, Run& chosen) {
  auto* command = calibrate.add_subcommand(
      "fit",
      "Fits the parameters of a chip and stack to measured operators\n"
      "Reads tables with the columns that `calibrate validate` reads; `calibrate import` makes "
      "such "
      "tables. A folder has the tables of its kinds by their names: gemm.csv, moe.csv.gz, "
      "nccl.columns.gz. A part of the shapes is held back to judge the fit. Writes the parameters "
      "that differ from the generic ones; where there are few rows, those that differ from the "
      "nearest chip's.");
  auto options = std::make_shared<FitOptions>();
  command
      ->add_option("tables", options->tables,
                   "tables and folders of tables; default: ops/ of the shipped measurements, or of "
                   "$ROOFCAST_DATA")
      ->type_name(kFile);
  command->add_flag("--with-shipped", options->with_shipped,
                    "the rows of the shipped tables too, beside those of one's own");
  command->add_option("--chip", options->chip, "the chip whose rows are fitted")
      ->type_name(kText)
      ->required();
  command->add_option("--stack", options->stack, "the stack whose rows are fitted")
      ->required()
      ->one_of(base::catalog_ids(workloads::stack_catalog()));
  command->add_option("-o,--output", options->output, "the overlay, YAML")->written()->required();
  command->add_option("--source", options->source, "a text that says where the tables come from")
      ->type_name(kText);
  command
      ->add_option("--fix", options->fixed,
                   "a parameter that stays where it is, for example gemm.l2_sharing")
      ->type_name(kText)
      ->take_all();
  command
      ->add_option("--hold-back", options->hold_back,
                   "what judges the fit: a fifth of the shapes, or all shapes of a fifth of the "
                   "layers (widths of GEMMs, heads, sizes of experts), as of a new model")
      ->one_of({"shapes", "layers"});
  command->footer(examples(
      {"roofcast calibrate fit . --chip h200_sxm --stack vllm -o h200.yaml",
       "roofcast calibrate fit gemm.csv --chip h200_sxm --stack vllm -o gemm.yaml",
       "roofcast calibrate fit gemm.csv --with-shipped --chip h200_sxm --stack vllm -o joined.yaml",
       "roofcast calibrate fit --chip h200_sxm --stack vllm -o shipped.yaml"}));
  command->callback([&chosen, options] { chosen = [options] { return fit(*options); }; });
}

}  // namespace roofcast::cli
