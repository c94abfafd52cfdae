// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "base/csv/csv.hpp"
#include "base/document/text_file.hpp"
#include "calibrate/fit/parameter_spread.hpp"
#include "cli/calibrate/commands.hpp"
#include "cli/calibrate/parameters_page.hpp"
#include "cli/catalog/calibration_table.hpp"
#include "cli/program/usage.hpp"
#include "cli/tables/say.hpp"
#include "cli/tables/text_table.hpp"

namespace roofcast::cli {
namespace {

void print_table() {
  TextTable table({"parameter", "generic", "least", "most", "placed", "best", "worst", "meaning"});
  for (const calibrate::ParameterSpread& spread : calibrate::parameter_spreads()) {
    std::string best, worst;
    if (!spread.placed.empty()) {
      const auto [low, high] = std::minmax_element(
          spread.placed.begin(), spread.placed.end(),
          [](const auto& a, const auto& b) { return a.uncertainty < b.uncertainty; });
      best = fmt::format("± {} %", calibrate::percent_text(low->uncertainty));
      worst =
          fmt::format("± {} % ({})", calibrate::percent_text(high->uncertainty), high->calibration);
    }
    table.add(
        {spread.path, spread.generic, spread.least, spread.most,
         fmt::format("{} of {}", spread.placed.size(), calibrate::fitted_calibrations().size()),
         std::move(best), std::move(worst), meaning_of(spread.path)});
  }
  say("{}", table.text());
}

void write_csv(const std::string& file) {
  base::CsvWriter csv(std::filesystem::path(file),
                      {"parameter", "calibration", "value", "generic", "uncertainty_percent"});
  for (const calibrate::ParameterSpread& spread : calibrate::parameter_spreads()) {
    for (const calibrate::PlacedParameter& placed : spread.placed) {
      csv.append(spread.path);
      csv.append(placed.calibration);
      csv.append(placed.text);
      csv.append(spread.generic);
      csv.append(100.0 * placed.uncertainty);
      csv.end_row();
    }
  }
  csv.close();
}

}  // namespace

void add_parameters(Command& calibrate, Run& chosen) {
  struct Options {
    std::string page, csv;
  };
  auto* command = calibrate.add_subcommand(
      "parameters",
      "Shows what parameters mean, how far they range, and how well chips place them\n"
      "Reads the shipped calibrations. `placed` counts those whose rows place the parameter apart "
      "from its generic value; the uncertainties are of these.");
  auto options = std::make_shared<Options>();
  command->add_option("-o,--output", options->page, "write the page with all of it, Markdown")
      ->written();
  command->add_option("--csv", options->csv, "write every placed value with its uncertainty")
      ->written();
  command->footer(
      examples({"roofcast calibrate parameters",
                "roofcast calibrate parameters -o parameters.md --csv parameters.csv"}));
  command->callback([&chosen, options] {
    chosen = [options] {
      print_table();
      if (!options->page.empty()) {
        base::write_text(options->page, parameters_page());
      }
      if (!options->csv.empty()) {
        write_csv(options->csv);
      }
      return kDone;
    };
  });
}

}  // namespace roofcast::cli
