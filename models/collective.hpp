// SPDX-License-Identifier: Apache-2.0
//
// Time of collectives: α–β per algorithm, over the levels of the fabric.
//
// n ranks, S bytes, B one rank's port (datasheet × link efficiency), α one hop, L the library's
// overhead:
//   one-shot all-reduce     launch + 4α + (n−1)·S/(c·B)        ranks read each other's memory, between
//   two-shot all-reduce     launch + 8α + 2(n−1)/n·S/(c·B)     two barriers of two hops a shot
//   ring all-reduce         launch + L + 2(n−1)α + 2(n−1)/n·S/B
//   tree all-reduce         launch + L + 2⌈log₂n⌉α + 2S/B
//   in-switch all-reduce    launch + L + L' + 2α + S/(η·B)
//   ring all-gather, reduce-scatter    launch + L + (n−1)α + (n−1)/n·S/B
//   direct all-to-all       launch + L + α + (n−1)/n·S/B
//   send/receive            launch + L + α + S/B
//   deduplicated all-to-all    rows that k ranks want cross once to each domain and fan out there:
//                              launch + L + D + hops + (d−1)(1−(1−1/d)^k)/k·S/B_out over d domains
// The fastest available one is taken, and named. Ranks that span scale-up domains use both levels:
// all-reduce as reduce-scatter inside, all-reduce of the shard across, all-gather inside;
// all-to-all with both levels at work at once. One rank: no cost at all. Sources: standard forms;
// NCCL's tuning constants.
#pragma once

#include "models/cost.hpp"
#include "models/machine.hpp"
#include "workloads/operator.hpp"

namespace roofcast::models {

// Requires a scale-out level when the ranks span domains (sim/estimate checks the system's size
// first).
Cost collective_cost(const workloads::Collective& op, const Machine& machine);

}  // namespace roofcast::models
