// SPDX-License-Identifier: Apache-2.0
#include "calibrate/trainings/training_errors.hpp"

#include <algorithm>
#include <numeric>

#include "base/csv/csv.hpp"
#include "calibrate/platforms/measurements.hpp"
#include "sim/result/metrics.hpp"
#include "sim/result/training_step.hpp"
#include "sim/scenario/sections.hpp"

namespace roofcast::calibrate {

ForecastTraining forecast_training(MeasuredTraining measured, sim::Workspace& workspace) {
  ForecastTraining row{std::move(measured), {}, {}, {}};
  row.reason = row.measured.reason;
  if (!row.reason.empty()) {
    return row;
  }
  row.estimate = sim::estimate(sim::view(*row.measured.scenario), workspace);
  row.reason = sim::reason(row.estimate);
  if (row.reason.empty()) {
    const sim::Interval90 within = sim::interval90(*sim::find_metric("step_s"), row.estimate);
    row.step = {row.measured.step_s, row.estimate.workflow->step().si(), within.low, within.high};
  }
  return row;
}

std::string_view kind_of(const MeasuredTraining& measured) {
  const sim::Scenario& s = *measured.scenario;
  const auto& layers = s.model.layers;
  if (s.training.lora.trains()) {
    return "LoRA";
  }
  if (measured.group.ends_with(", SFT")) {
    return "SFT";
  }
  if (std::any_of(layers.begin(), layers.end(), [](const workloads::LayerGroup& layer) {
        return !workloads::attends(layer.mixer) && layer.mixer != workloads::Mixer::none;
      })) {
    return "hybrid";
  }
  return s.model.moe.experts > 0 ? "mixture of experts" : "dense";
}

std::size_t TrainingErrors::skipped_rows() const {
  return std::accumulate(skipped.begin(), skipped.end(), std::size_t{0},
                         [](std::size_t sum, const auto& reason) { return sum + reason.second; });
}

void TrainingErrors::add(const ForecastTraining& row) {
  const MeasuredTraining& measured = row.measured;
  if (!row.reason.empty()) {
    // Amounts of memory differ from row to row.
    const bool memory_lacks =
        std::holds_alternative<sim::infeasible::TrainingMemory>(row.estimate.infeasible);
    ++skipped[memory_lacks ? std::string(sim::reason_kind(row.estimate.infeasible)) : row.reason];
    return;
  }
  steps.push_back(row.step);
  groups[{measured.group, measured.chip}].push_back(row.step);
  kinds[kind_of(measured)].push_back(row.step);
  if (measured.sets_trainer) {
    parts[*measured.sets_trainer ? "set the trainer's host times" : "are held back"].push_back(
        row.step);
  }
  if (measured.memory) {
    memory.push_back({measured.memory->si(), row.estimate.memory.si()});
  }
}

std::vector<TrainingTable> training_tables() {
  std::vector<TrainingTable> all;
  sim::Workspace workspace;
  for (const std::filesystem::path& file : tables_of("training")) {
    const base::CsvTable table = base::read_csv(file);
    const TrainingRows rows(table, "");
    TrainingTable& result = all.emplace_back();
    result.name = file.stem().string();
    result.rows = table.rows();
    for (std::size_t row = 0; row < table.rows(); ++row) {
      result.errors.add(forecast_training(rows.row(row), workspace));
    }
  }
  return all;
}

}  // namespace roofcast::calibrate
