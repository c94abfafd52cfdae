// SPDX-License-Identifier: Apache-2.0
//
// What no server can be, whatever its parameters: laws that every estimate of a scenario that fits must keep.
//
//   batch         at most the clients of a replica; its caches at most the KV cache of a rank
//   times         TPOT at most the time end to end; p50, p95 and p99 in this order
//   intervals     low90 at most the value, the value at most high90; bounds are rounded to four digits
//   every metric  neither negative nor infinite; times, rates, batch and memory are numbers
#pragma once

#include <string>
#include <vector>

#include "sim/result/serving_estimate.hpp"

namespace roofcast::calibrate {

// The laws that the estimate of a scenario that serves breaks, one sentence each. None where it does not fit.
std::vector<std::string> impossible(const sim::ScenarioView& scenario,
                                    const sim::ServingEstimate& estimate);

}  // namespace roofcast::calibrate
