// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "calibrate/trainings/training_errors.hpp"
#include "cli/tables/say.hpp"
#include "cli/tables/text_table.hpp"
#include "cli/text/exit_code.hpp"
#include "cli/validate/validation.hpp"

namespace roofcast::cli {

int validate_training(const ValidationOptions& options) {
  const base::CsvTable table = base::read_csv(options.data);
  const RowFilter filter(table, options.where);
  const calibrate::TrainingRows rows(table, options.calibration);
  ErrorsFile out(options.out, table,
                 {"measured_step_s", "predicted_step_s", "low90_step_s", "high90_step_s",
                  "measured_memory_b", "predicted_memory_b"});
  sim::Workspace workspace;
  calibrate::TrainingErrors errors;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    if (!filter.keeps(row)) {
      continue;
    }
    const calibrate::ForecastTraining of = calibrate::forecast_training(rows.row(row), workspace);
    errors.add(of);
    if (!of.reason.empty()) {
      out.add(row, std::vector<double>(6, NAN), "", of.reason);
      continue;
    }
    out.add(row,
            {of.step.measured, of.step.predicted, of.step.low, of.step.high,
             of.measured.memory ? of.measured.memory->si() : NAN, of.estimate.memory.si()},
            std::string(hardware::name(of.estimate.provenance)), "");
  }
  out.close();
  if (options.json != nullptr) {
    nlohmann::ordered_json& json = *options.json;
    json["all"] = {{"step", error_json(calibrate::summarise(errors.steps))},
                   {"memory", error_json(calibrate::summarise(errors.memory))}};
    json["not_predicted"] = errors.skipped;
    for (const auto& [key, pairs] : errors.groups) {
      json["groups"].push_back({{"group", key.first},
                                {"chip", key.second},
                                {"errors", error_json(calibrate::summarise(pairs))}});
    }
    for (const auto& [part, pairs] : errors.parts) {
      json["steps_that"][std::string(part)] = error_json(calibrate::summarise(pairs));
    }
    return kDone;
  }
  if (!errors.groups.empty()) {
    TextTable by_group({"group", "chip", "rows", "mape", "median", "p90", "bias", "in 90%"});
    for (const auto& [key, pairs] : errors.groups) {
      std::vector<std::string> cells = {key.first, key.second, fmt::format("{}", pairs.size())};
      for (std::string& cell : error_cells(calibrate::summarise(pairs))) {
        cells.push_back(std::move(cell));
      }
      by_group.add(cells);
    }
    say("{}\n", by_group.text());
  }
  if (!errors.parts.empty()) {
    TextTable by_part({"steps that", "rows", "mape", "median", "p90", "bias", "in 90%"});
    for (const auto& [part, pairs] : errors.parts) {
      std::vector<std::string> cells = {std::string(part), fmt::format("{}", pairs.size())};
      for (std::string& cell : error_cells(calibrate::summarise(pairs))) {
        cells.push_back(std::move(cell));
      }
      by_part.add(cells);
    }
    say("{}\n", by_part.text());
  }
  say("{}{}\n", skipped_table(errors.skipped),
      calibrate::summary_line("step", calibrate::summarise(errors.steps), errors.skipped_rows()));
  if (!errors.memory.empty()) {
    say("{}\n", calibrate::summary_line("memory", calibrate::summarise(errors.memory),
                                        errors.skipped_rows()));
  }
  return kDone;
}

}  // namespace roofcast::cli
