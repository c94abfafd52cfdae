// SPDX-License-Identifier: Apache-2.0
//
// Steady state of continuous batching in a closed loop with requests of different lengths.
//
// Each of C clients of a replica sends a prompt when it has its answer. In each iteration D/O of D decodes end, at
// random, so that a number with a Poisson distribution of prompts joins a later iteration. The chain of iterations is
// that of sim/serving/server.hpp, with arrivals by iteration in place of arrivals by time:
//
//   λ = D / (O·I + m)                                     decodes end
//   C = λ (delay + wait for a slot + F) + D               Little's law: every client is somewhere
//   λ F + D ≤ n                                           slots
//
//   symbol   meaning                                                                            unit
//   λ        requests that a replica completes                                                  1/s
//   D        sequences that decode                                                              –
//   O        decode iterations of an answer                                                     –
//   I, m     time between decodes; prefill interference                                         s
//   F        from the scheduler's queue to the first token                                      s
//   delay    messages, request overhead, intake: from the end of an answer to the queue         s
//   n        slots                                                                              –
//
// The first equation gives λ for a D, so bisection finds the largest D that the other two allow. The batch is never
// larger than the clients or the slots. If no D is small enough, prompts are the bottleneck, and clients wait.
// Clients with requests of equal lengths stay in step: sim/serving/lockstep.hpp.
#pragma once

#include "sim/result/steady_state.hpp"

namespace roofcast::sim {

// `slots` is as in open_loop(). Answers have more than one token.
SteadyState closed_loop(const ScenarioView& scenario, double slots, Workspace& workspace);

}  // namespace roofcast::sim
