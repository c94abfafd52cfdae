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
//
// The points that are recommended are replayed (sim/confirm/replayed_rows.hpp): of the base, of each option, and of the
// features of the order so far. A point that the replay breaks no longer counts, the next best one does, and the order
// is found again. Other combinations of features are estimated only.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/decide/sweep_points.hpp"

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
// What a feature takes of what the order is by; NaN where that is not known, or by the gain alone.
double taken(const FeatureTakes& takes, FundBy by);
// A workload with the settings that `axes` choose, which come before its own axes, the last one fastest.
SweepPoints points_of(const PortfolioWorkload& workload, const AxisValue& set,
                      const std::vector<Axis>& axes);
// Reads every workload with every option and feature alone; throws InputError.
void check(const Roadmap& roadmap);

}  // namespace roofcast::sim
