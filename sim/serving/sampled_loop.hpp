// SPDX-License-Identifier: Apache-2.0
//
// Steady state of servers under random traffic, from a sample of their path (base/queueing/iteration_servers.hpp).
//
// Bursts fill a server for longer than an answer lasts, prompts wait for slots and for memory, and several replicas share
// what comes. The formulas of open_loop.hpp and closed_loop.hpp take each of these by itself. Here some thousand requests
// (workloads/traffic/even_sample.hpp) are followed instead. The same scenario gives the same sample.
//
//   open loop     n requests are counted. It starts with D sequences that decode, D = λ·O·t(D), whose answers are as
//                 long as a running one's and partly done. As many as D of the same requests come before and after those
//                 that count, as if the sample were repeated: its load is exact. Of two phases, n has six cycles, up to four
//                 times as many requests as usual; where they have more, phases are shorter.
//                 Near saturation few bursts decide over TTFT, and where prompts run first and hardly leave the decodes an
//                 iteration, few iterations over the time between tokens: four times as many requests are followed, then 16
//                 times, until the standard errors are 10 and 3 %
//   closed loop   It starts with all clients at once, as a simulation does. The first two requests of each do not count,
//                 nor does the last. Rate = clients / end to end (Little's law). Of equal requests at two pools, the answers
//                 that run are partly done at the start, as those of an open loop: clients that start together spread,
//                 but only after some twenty requests each. Sessions of agents pause before each request
//
//   symbol   meaning                                                                            unit
//   n        requests that are followed and counted                                             –
//   λ        requests per second                                                                1/s
//   D        sequences that decode                                                              –
//   O        decode iterations of an answer                                                     –
//   t(D)     mean iteration                                                                     s
//
// Of more than kMostServers attention-DP ranks, so many are followed, of two replicas at least, with their part of the traffic.
//
// Errors: those of a sample. Contexts of decodes are the mean one. Not followed: speculative decoding, images, priorities,
// schedulers that wait for more prompts or for one on every rank.
#pragma once

#include <span>

#include "sim/result/steady_state.hpp"

namespace roofcast::sim {

class PoolScenarios;

// Whether requests of the scenario can be followed: of an open loop, or of clients whose requests differ.
bool is_followed(const ScenarioView& scenario);
// Clients of one replica of one rank and one stage, whose requests are all alike, stay in step, and lockstep() follows their
// groups. So do clients with equal answers, where requests are not followed one by one.
bool stay_in_step(const ScenarioView& scenario);

// `slots` is as in open_loop(). If requests arrive faster than the replicas can serve them, the result has only
// `saturation` and a `utilisation` of at least 1.
SteadyState sampled_loop(const ScenarioView& scenario, double slots, Workspace& workspace);

// Clients of one pool that pause before each request, for one of these times.
SteadyState sampled_sessions(const ScenarioView& scenario, double slots,
                             std::span<const base::Seconds> pauses, Workspace& workspace);

// Of two pools: latencies and rates of a sample in place of those of `steady`, which gives the rest.
void sample_pools(const ScenarioView& scenario, const PoolScenarios& pools, Workspace& workspace,
                  SteadyState& steady);

}  // namespace roofcast::sim
