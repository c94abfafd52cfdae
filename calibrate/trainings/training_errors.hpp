// SPDX-License-Identifier: Apache-2.0
//
// Published training steps beside their forecasts: what `calibrate validate training` prints, and docs/accuracy.md.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "calibrate/platforms/error_summary.hpp"
#include "calibrate/trainings/training_rows.hpp"
#include "sim/estimate.hpp"

namespace roofcast::calibrate {

struct ForecastTraining {
  MeasuredTraining measured;
  sim::ServingEstimate estimate;
  std::string reason;  // why there is no forecast; empty where there is one
  Pair step;           // s
};
ForecastTraining forecast_training(MeasuredTraining measured, sim::Workspace& workspace);

// What is trained, of a row with a scenario: "LoRA", "SFT", "hybrid" with recurrent layers, "mixture of experts" or "dense".
std::string_view kind_of(const MeasuredTraining& measured);

struct TrainingErrors {
  std::vector<Pair> steps;
  std::vector<Pair> memory;                                                 // B
  std::map<std::pair<std::string, std::string>, std::vector<Pair>> groups;  // by group and chip
  std::map<std::string_view, std::vector<Pair>> kinds;                      // by what is trained
  std::map<std::string_view, std::vector<Pair>>
      parts;                                   // by what the trainer's host times were fitted to
  std::map<std::string, std::size_t> skipped;  // by reason
  std::size_t skipped_rows() const;
  void add(const ForecastTraining& row);
};

// A table of published steps.
struct TrainingTable {
  std::string name;
  std::size_t rows = 0;
  TrainingErrors errors;
};

// All of them (calibrate/platforms/measurements.hpp).
std::vector<TrainingTable> training_tables();

}  // namespace roofcast::calibrate
