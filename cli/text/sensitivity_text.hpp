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
  // Of each metric, over all that have time in their unit; none where only some knobs were asked for.
  std::vector<double> rates_less_latencies;
  std::vector<sim::Waterfall> waterfalls;            // of each metric; none where it is no time
  std::vector<std::vector<sim::ErrorShare>> errors;  // of each metric
  std::vector<sim::KnobRange> ranges;
  sim::VarianceShares variance;  // where there are ranges
};

// TPOT, TTFT and throughput, the training step or the task's time: of those the estimate has.
std::vector<const sim::Metric*> usual_metrics(const sim::ServingEstimate& estimate);

// Elasticities to all quantities of the scenario, and their sums. The figures of a parent chip are in the sums alone: nobody
// turns them.
void add_elasticities(const sim::OverriddenScenario& scenario,
                      const std::vector<sim::QuantityKnob>& quantities, SensitivityAnswer& answer);

std::string sensitivity_text(const SensitivityAnswer& answer);
nlohmann::ordered_json sensitivity_json(const SensitivityAnswer& answer);
// A row a figure: analysis, metric, name, figure, value.
void write_sensitivity_csv(const SensitivityAnswer& answer, std::ostream& out);

}  // namespace roofcast::cli
