// SPDX-License-Identifier: Apache-2.0
//
// Steady state of the replicas of one pool, from requests that are followed one by one (sim/serving/sampled_requests.hpp).
//
//   open loop     The sample starts with D sequences that decode, D = λ·O·t(D). Where others decode in it, more or fewer by a
//                 quarter, it starts again with so many: iterations that prompts hold up have more. Near saturation few
//                 bursts decide over TTFT, and where prompts run first and hardly leave the decodes an iteration, few
//                 iterations over the time between tokens: four times as many requests are followed, then 16 times,
//                 until the standard errors are 10 and 3 %
//                 Where a scheduler lets iterations run until more requests have come, a sample that starts empty may stay
//                 in another state; that one counts
//   closed loop   Rate = clients / end to end (Little's law). Sessions of agents pause before each request
//   saturation    what a replica serves whose queue is never empty (overloaded_rate), and what its front end can
//
//   symbol   meaning                                                                            unit
//   λ        requests per second                                                                1/s
//   D        sequences that decode                                                              –
//   O        decode iterations of an answer                                                     –
//   t(D)     mean iteration                                                                     s
//
// Of more than kMostServers attention-DP ranks, so many are followed, of two replicas at least, with their part of the traffic.
//
// Errors: those of a sample, and the same contexts of all decodes. `calibrate validate simulation` compares random scenarios
// with simulations; docs/validation.md has the figures.
#pragma once

#include <span>

#include "sim/result/steady_state.hpp"

namespace roofcast::sim {

// Clients of one replica of one rank and one stage, whose requests are all alike, stay in step: lockstep() follows their
// groups, as long as the front end is not full. In a scan (ScenarioView::scans) it takes all clients for such ones.
bool stay_in_step(const ScenarioView& scenario);

// `slots`: sequences that the KV cache of a rank holds. `pauses`: clients pause before each request for one of these times;
// none: not at all. If requests arrive faster than the replicas can serve them, the
// result has only `saturation` and a `utilisation` of at least 1.
SteadyState sampled_loop(const ScenarioView& scenario, double slots,
                         std::span<const base::Seconds> pauses, Workspace& workspace);

}  // namespace roofcast::sim
