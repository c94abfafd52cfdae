// SPDX-License-Identifier: Apache-2.0
//
// Where the variance of a metric over ranges of knobs comes from: Sobol's indices (base/statistics/sobol.hpp).
//
// Knobs are independent. Within lo..hi a knob is log-uniform (every factor equally often) where lo > 0, uniform
// otherwise, whole numbers rounded down from the same; of a list each value is equally likely. Rows are doubled until
// no half-width of an index is above 0.05, or the sample is spent. Points that do not fit leave their row out.
#pragma once

#include <span>
#include <vector>

#include "base/statistics/sobol.hpp"
#include "sim/decide/overridden_scenario.hpp"
#include "sim/decide/solve.hpp"
#include "sim/result/metrics.hpp"

namespace roofcast::sim {

struct VarianceOptions {
  std::size_t rows = 0;  // 0: as many as are wanted
  std::uint64_t seed = 1;
};

struct MetricVariance {
  base::SobolIndices indices;  // by range
  double mean = 0.0;           // over the ranges
  double low90 = 0.0;          // 5 % and 95 % quantiles
  double high90 = 0.0;
};
struct VarianceShares {
  std::vector<MetricVariance> of;  // each metric
  std::size_t rows = 0;
  std::size_t estimates = 0;
  std::size_t rows_left_out = 0;
};

// A value of a range for u in [0, 1).
std::string value_at(const KnobRange& range, double u);

// Throws InputError for a value that a reader refuses.
VarianceShares variance_shares(const OverriddenScenario& scenario,
                               std::span<const KnobRange> ranges,
                               std::span<const Metric* const> metrics,
                               VarianceOptions options = {});

}  // namespace roofcast::sim
