// SPDX-License-Identifier: Apache-2.0
//
// What a roadmap (sim/roadmap/roadmap.hpp) comes to: gains of its options and features, and what of them was replayed.
#pragma once

#include <string>
#include <vector>

#include "sim/result/metrics.hpp"
#include "sim/roadmap/choices.hpp"

namespace roofcast::sim {

struct Gain {
  double value = 0;       // NaN: one of the two has none
  Interval90 interval{};  // from the errors that the two do not have in common
};
// `metric` of `with` over that of `without`, or the other way round where lower is better.
Gain gain_of(const Metric& metric, const Outcome& with, const Outcome& without);

// The same of what was replayed, where both were: it errs as an estimated gain of that size. Else that of the estimates.
Gain replayed_gain_of(const Metric& metric, const Outcome& with, const Outcome& without);

struct OptionResult {
  std::string name;
  std::vector<Outcome> outcomes;  // by workload
  std::vector<Gain> gains;
  Gain portfolio;
  double tok_per_j = 0;  // gains of the portfolio; NaN where one is not known
  double tok_per_usd = 0;
  std::vector<double> replayed_gains;  // by workload; NaN where a replay has no values
  double replayed = 0;                 // of the portfolio; NaN where that of a workload is
};

struct FeatureResult {
  std::string name;
  double alone = 0;  // gains
  double last = 0;   // on top of all others
  double share =
      0;  // Shapley's, of the ln of the gain of all; they sum to 1. NaN where some gain and some lose
  double takes = 0;  // of what the order is by: USD, mm², W; NaN by the gain alone
};
// Of a workload, ln of the gain with each subset of features; empty where the base cannot run it.
using SubsetGains = std::vector<double>;

struct FeaturePair {
  std::size_t first;
  std::size_t second;
  double gain;  // beyond the product of theirs alone
};

// The best of a workload lies on the edge of a list: one that goes on may hold a better one.
struct ListEdge {
  std::size_t workload;
  std::string at;  // "concurrency 128, the most of its list"
  std::vector<std::string>
      with;  // "no option", options' names, "features": of some of their combinations
};

struct RoadmapResult {
  OptionResult base;  // gains are 1
  std::vector<OptionResult>
      options;  // the best of the portfolio first, then what some workload cannot run
  std::vector<FeatureResult> features;  // in the roadmap's order
  std::vector<std::size_t> order;       // greedy, of all features
  std::vector<OptionResult>
      funded;  // its features so far, one more each time, up to where none gains on top
  std::vector<FeaturePair> pairs;    // the strongest interaction first
  std::vector<SubsetGains> subsets;  // by workload
  std::string no_features;           // why features could not be combined
  std::vector<ListEdge> edges;       // by workload
};

RoadmapResult run_roadmap(const Roadmap& roadmap, const ReplayedRowsOptions& options);

}  // namespace roofcast::sim
