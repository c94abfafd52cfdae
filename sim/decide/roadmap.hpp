// SPDX-License-Identifier: Apache-2.0
//
// What options of a roadmap do for a portfolio of workloads, and which of its features to fund first.
//
//   question: Which of five features should the next chip get first?
//   set: {system: hgx_h200}                   # on every workload, before its own settings
//   metric: throughput_tok_per_s_per_gpu      # that a gain is of; when left out, this one
//   workloads:
//     chat: {weight: 3, base: llama-70b.yaml, axes: {traffic.concurrency: [16, 64, 256]}, where: ['tpot_p95_s <= 0.03']}
//   options:                                  # each by itself
//     HBM4: {system.chip.hbm.bandwidth: x1.67, system.chip.hbm.capacity: x1.5, system.price.usd_per_gpu_hour: x1.1}
//   features:                                 # in every combination
//     bandwidth: {system.chip.hbm.bandwidth: x1.2}
//   takes:                                    # what a feature takes, where known
//     bandwidth: {cost: 30 USD, area_mm2: 12, power: 25 W}
//   by: area                                  # the order to fund is by the gain for this; when left out, by the gain alone
//
// A workload is a sweep. The best of its points that meet its conditions counts. So a faster chip may be loaded more.
// A gain above 1 means that the metric is better than without the option, whether higher or lower is better. The gain of
// the portfolio is the weighted geometric mean of its workloads' gains. It leaves out a workload that the base cannot run.
// The interval of a gain has two sources. The errors of operators that both have cancel (models/uncertainty.hpp). What
// servers do beside their operators changes the gain in proportion: ln of it by −55 % to +50 %, as measured.
//
// v(S) is ln of the portfolio's gain with the features S. Of each feature the result has
//
//   - what it brings alone, and on top of all others
//   - its place in the order in which each next one brings most (`by`: ln of its gain over what it takes)
//   - its Shapley share of v(all) (base/statistics/shapley.hpp)
//
// and of each pair its interaction.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/decide/sweep.hpp"
#include "sim/estimate.hpp"
#include "sim/result/metrics.hpp"

namespace roofcast::sim {

inline constexpr std::size_t kMostFeatures = 12;

struct PortfolioWorkload {
  std::string name;
  double weight = 1.0;
  std::string metric;  // empty: the roadmap's
  Sweep load;
};

enum class FundBy { gain, cost, area, power };

// What a feature takes: of a chip's price, die and power.
struct FeatureTakes {
  std::optional<base::Dollars> cost;
  std::optional<double> area_mm2;
  std::optional<base::Watts> power;
};

struct Roadmap {
  std::string question;
  std::string metric = "throughput_tok_per_s_per_gpu";
  AxisValue set;
  std::vector<PortfolioWorkload> workloads;
  std::vector<AxisValue> options;
  std::vector<AxisValue> features;
  std::vector<FeatureTakes> takes;  // of each feature
  FundBy by = FundBy::gain;
};

void read(base::Fields& f, PortfolioWorkload& workload, base::Problems& problems);
void read(base::Fields& f, Roadmap& roadmap, base::Problems& problems);
Roadmap read_roadmap(const base::Node& document);  // throws InputError with every problem
// Reads every workload with every option and feature alone; throws InputError.
void check(const Roadmap& roadmap);

// The best of a workload's points with some settings.
struct Outcome {
  bool found = false;
  ServingEstimate estimate;        // of the first point where none meets the conditions
  std::string place;               // where on the workload's axes
  std::string reason;              // why there is none
  models::UncertainSum operators;  // of the mean iteration, which takes `iteration`
  base::Seconds iteration;
  models::Uncertainty uncertainty;
  std::string calibration;
  std::string priced_with;  // another chip, whose price is paid (sim/result/costs.hpp)
};

// Of an estimate that fits.
Outcome outcome_of(const ScenarioView& scenario, const ServingEstimate& estimate,
                   Workspace& workspace);

struct Gain {
  double value = 0;       // NaN: one of the two has none
  Interval90 interval{};  // from the errors that the two do not have in common
};
// `metric` of `with` over that of `without`, or the other way round where lower is better.
Gain gain_of(const Metric& metric, const Outcome& with, const Outcome& without);

struct OptionResult {
  std::string name;
  std::vector<Outcome> outcomes;  // by workload
  std::vector<Gain> gains;
  Gain portfolio;
  double tok_per_j = 0;  // gains of the portfolio; NaN where one is not known
  double tok_per_usd = 0;
};

struct FeatureResult {
  std::string name;
  double alone = 0;  // gains
  double last = 0;   // on top of all others
  double share = 0;  // Shapley's, of the ln of the gain of all; they sum to 1
  double takes = 0;  // of what the order is by: USD, mm², W; NaN by the gain alone
};
// Of a workload, ln of the gain with each subset of features; empty where the base cannot run it.
using SubsetGains = std::vector<double>;

struct FeaturePair {
  std::size_t first;
  std::size_t second;
  double gain;  // beyond the product of theirs alone
};

struct RoadmapResult {
  OptionResult base;  // gains are 1
  std::vector<OptionResult>
      options;  // the best of the portfolio first, then what some workload cannot run
  std::vector<FeatureResult> features;  // in the roadmap's order
  std::vector<std::size_t> order;       // greedy
  std::vector<double> together;         // gain of the portfolio after each of the order
  std::vector<FeaturePair> pairs;       // the strongest interaction first
  std::vector<SubsetGains> subsets;     // by workload
  std::string no_features;              // why features could not be combined
};

RoadmapResult run_roadmap(const Roadmap& roadmap);

}  // namespace roofcast::sim
