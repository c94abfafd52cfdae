// SPDX-License-Identifier: Apache-2.0
//
// Steady state of a disaggregated deployment (sim/scenario/pools.hpp): requests are followed through both pools
// (sim/serving/sampled_requests.hpp).
//
//   prefill    The replicas compute prompts alone. Their front ends take requests in
//   transfer   Each attention-DP rank of the prefill pool sends one KV cache after the other
//   decode     A cache waits for a place, and its sequence joins the next iteration. The front ends send tokens
//   saturation The least of what the prefill pool, the transfers, the decode pool with all places taken, and the front
//              ends of both can serve
//
// Closed loop. Answers run at the start, partly done: clients that start together spread, but equal ones only after some
// twenty requests each, and of unlike ones the longest answers are still at their first. As many run as Little's law finds
// from few on: of a batch that is padded or spread more widely, a larger number could last too, and a replay does not come
// to it. Sessions of agents pause before each request, and none run at the start.
//
// Of more than 16 replicas in a pool, an equal part of both pools is followed, with its part of the traffic, where there
// is one with whole numbers of replicas and at least eight in the larger pool.
//
// Power is the mean over the GPUs of both pools.
//
// In a scan (ScenarioView::scans) no request is followed: prompts wait as in M/G/c (base/queueing/open_queue.hpp), and Little's
// law gives the sequences that decode.
#pragma once

#include <span>

#include "sim/result/serving_estimate.hpp"

namespace roofcast::sim {

struct PoolsState {
  SteadyState steady;
  PoolKind full = PoolKind::none;  // the pool that takes no more, in an open loop
};

// If requests arrive faster than they can be served, the state has only `saturation` and a `utilisation` of at least 1.
PoolsState two_pools(const ScenarioView& scenario, std::span<const base::Seconds> pauses,
                     Workspace& workspace);

}  // namespace roofcast::sim
