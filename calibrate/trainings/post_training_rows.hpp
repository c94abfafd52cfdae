// SPDX-License-Identifier: Apache-2.0
//
// Published steps of RL post-training as scenarios: what a row of NeMo-RL's performance summary asks roofcast to
// forecast (NVIDIA-NeMo/RL docs/about/performance-summary.md). What the table does not say is that of its recipes:
// calibrate/conventions/post_training.yaml.
//
//   GPUs           on policy all generate and all train; off policy those that generate do not train
//   training       packed sequences, log-probabilities of the policy and of a reference
//                  experts over no more ranks than a stage has (the table's 16 of 8, where its recipe has 8)
//   lengths        lognormal, cut at the row's longest, of the row's mean
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/csv/csv.hpp"
#include "sim/scenario/scenario.hpp"

namespace roofcast::calibrate {

struct MeasuredPostTraining {
  std::string model;
  std::string chip;
  std::string policy;
  double step_s = 0.0;
  std::string reason;  // why there is no forecast; empty when there may be one
  std::optional<sim::Scenario> scenario;
};

MeasuredPostTraining post_training_row(const base::CsvTable& table, std::size_t row,
                                       const std::string& calibration);

}  // namespace roofcast::calibrate
