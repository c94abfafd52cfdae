// SPDX-License-Identifier: Apache-2.0
//
// The parts of metrics(), in its order.
#pragma once

#include "sim/result/metrics.hpp"

namespace roofcast::sim {

std::span<const Metric> estimate_metrics();
std::span<const Metric> run_metrics();  // of a whole training run

}  // namespace roofcast::sim
