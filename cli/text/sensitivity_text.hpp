// SPDX-License-Identifier: Apache-2.0
//
// What `roofcast sensitivity` found, as text, JSON and CSV.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <ostream>
#include <string>
#include <vector>

#include "sim/decide/error_shares.hpp"
#include "sim/decide/sensitivity.hpp"
#include "sim/decide/variance_shares.hpp"

namespace roofcast::cli {

struct SensitivityAnswer {
  std::string title;
  sim::ServingEstimate estimate;
  sim::StepAndGain steps;
  std::vector<const sim::Metric*> metrics;
  std::vector<sim::KnobElasticities> elasticities;
  bool all_rates = false;  // of all that have time in their unit, so that their sum means something
  std::vector<sim::Waterfall> waterfalls;            // of each metric; none where it is no time
  std::vector<std::vector<sim::ErrorShare>> errors;  // of each metric
  std::vector<sim::KnobRange> ranges;
  sim::VarianceShares variance;  // where there are ranges
};

// TPOT, TTFT and throughput, the training step or the task's time: of those the estimate has.
std::vector<const sim::Metric*> usual_metrics(const sim::ServingEstimate& estimate);

std::string sensitivity_text(const SensitivityAnswer& answer);
nlohmann::ordered_json sensitivity_json(const SensitivityAnswer& answer);
// A row a figure: analysis, metric, name, figure, value.
void write_sensitivity_csv(const SensitivityAnswer& answer, std::ostream& out);

}  // namespace roofcast::cli
