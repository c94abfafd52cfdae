// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "calibrate/trainings/training_rows.hpp"
#include "cli/tables/text_table.hpp"
#include "cli/text/exit_code.hpp"
#include "cli/validate/validation.hpp"
#include "sim/estimate.hpp"
#include "sim/result/metrics.hpp"
#include "sim/result/training_step.hpp"
#include "sim/scenario/sections.hpp"

namespace roofcast::cli {

int validate_training(const ValidationOptions& options) {
  const base::CsvTable table = base::read_csv(options.data);
  const RowFilter filter(table, options.where);
  const calibrate::TrainingRows rows(table, options.calibration);
  ErrorsFile out(options.out, table,
                 {"measured_step_s", "predicted_step_s", "low90_step_s", "high90_step_s",
                  "measured_memory_b", "predicted_memory_b"});
  sim::Workspace workspace;
  std::vector<calibrate::Pair> all;
  std::vector<calibrate::Pair> memory;
  std::map<std::pair<std::string, std::string>, std::vector<calibrate::Pair>> groups;
  std::map<std::string_view, std::vector<calibrate::Pair>> parts;
  std::map<std::string, std::size_t> skipped_by_reason;
  std::size_t skipped = 0;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    if (!filter.keeps(row)) {
      continue;
    }
    calibrate::MeasuredTraining measured = rows.row(row);
    sim::ServingEstimate e;
    if (measured.reason.empty()) {
      e = sim::estimate(sim::view(*measured.scenario), workspace);
      measured.reason = sim::reason(e);
    }
    if (!measured.reason.empty()) {
      out.add(row, std::vector<double>(6, NAN), "", measured.reason);
      ++skipped;
      // Amounts of memory differ from row to row.
      ++skipped_by_reason[std::holds_alternative<sim::infeasible::TrainingMemory>(e.infeasible)
                              ? std::string(sim::reason_kind(e.infeasible))
                              : measured.reason];
      continue;
    }
    const double predicted = e.workflow->step().si();
    const sim::Interval90 within = sim::interval90(*sim::find_metric("step_s"), e);
    all.push_back({measured.step_s, predicted, within.low, within.high});
    groups[{measured.group, measured.chip}].push_back(all.back());
    if (measured.sets_trainer) {
      parts[*measured.sets_trainer ? "set the trainer's host times" : "are held back"].push_back(
          all.back());
    }
    if (measured.memory) {
      memory.push_back({measured.memory->si(), e.memory.si()});
    }
    out.add(row,
            {measured.step_s, predicted, within.low, within.high,
             measured.memory ? measured.memory->si() : NAN, e.memory.si()},
            std::string(hardware::name(e.provenance)), "");
  }
  out.close();
  if (options.json != nullptr) {
    nlohmann::ordered_json& json = *options.json;
    json["all"] = {{"step", error_json(calibrate::summarise(all))},
                   {"memory", error_json(calibrate::summarise(memory))}};
    json["not_predicted"] = skipped_by_reason;
    for (const auto& [key, pairs] : groups) {
      json["groups"].push_back({{"group", key.first},
                                {"chip", key.second},
                                {"errors", error_json(calibrate::summarise(pairs))}});
    }
    for (const auto& [part, pairs] : parts) {
      json["steps_that"][std::string(part)] = error_json(calibrate::summarise(pairs));
    }
    return kDone;
  }
  if (!groups.empty()) {
    TextTable by_group({"group", "chip", "rows", "mape", "median", "p90", "bias", "in 90%"});
    for (const auto& [key, pairs] : groups) {
      std::vector<std::string> cells = {key.first, key.second, fmt::format("{}", pairs.size())};
      for (std::string& cell : error_cells(calibrate::summarise(pairs))) {
        cells.push_back(std::move(cell));
      }
      by_group.add(cells);
    }
    fmt::print("{}\n", by_group.text());
  }
  if (!parts.empty()) {
    TextTable by_part({"steps that", "rows", "mape", "median", "p90", "bias", "in 90%"});
    for (const auto& [part, pairs] : parts) {
      std::vector<std::string> cells = {std::string(part), fmt::format("{}", pairs.size())};
      for (std::string& cell : error_cells(calibrate::summarise(pairs))) {
        cells.push_back(std::move(cell));
      }
      by_part.add(cells);
    }
    fmt::print("{}\n", by_part.text());
  }
  fmt::print("{}{}\n", skipped_table(skipped_by_reason),
             calibrate::summary_line("step", calibrate::summarise(all), skipped));
  if (!memory.empty()) {
    fmt::print("{}\n", calibrate::summary_line("memory", calibrate::summarise(memory), skipped));
  }
  return kDone;
}

}  // namespace roofcast::cli
