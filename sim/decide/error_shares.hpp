// SPDX-License-Identifier: Apache-2.0
//
// Which of the known errors of a forecast makes most of its 90 % interval: where a measurement would help.
//
// W = ln(high / low) of a metric's interval (sim/result/spreads.hpp) comes from the spread s_k of each kind of operators,
// of power and of what servers and trainers do beside their operators. To first order W is homogeneous in them, so
//
//   share_k = (∂ ln W / ∂ ln s_k) / Σ_j (∂ ln W / ∂ ln s_j)
//
// which sum to 1; variances add up, so a kind with half of another's spread has a quarter of its share.
#pragma once

#include <string>
#include <vector>

#include "sim/result/metrics.hpp"

namespace roofcast::sim {

struct ErrorShare {
  std::string source;  // "gemm", "nccl", …, "power", "server", "trainer"
  double share = 0.0;
  Interval90 without{};  // the interval if this were known
};

// The greatest first, those of nothing left out; empty where the metric has no interval.
std::vector<ErrorShare> error_shares(const ScenarioView& scenario, const Metric& metric,
                                     Workspace& workspace);

}  // namespace roofcast::sim
