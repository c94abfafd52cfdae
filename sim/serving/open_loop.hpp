// SPDX-License-Identifier: Apache-2.0
//
// Steady state of continuous batching in an open loop: requests arrive whether or not earlier ones are done.
//
// The number of sequences in a replica rises and falls by one. Arrivals are in a phase i, with a rate λ(i) of its own
// (two or more for `mmpp`, one otherwise):
//
//   up      from n to n + 1 at λ(i)
//   down    from n to n − 1 at min(n, n') / (O·C + m),  C and m with min(n, n') decodes (sim/serving/server.hpp)
//   phase   from i to i + 1 at 1/sojourn(i)
//
// As under processor sharing, the probabilities depend only on the mean of the answers. If gaps are not exponential, the
// probabilities of a birth-death process are spread to p(n)^(1/z), z = 1 + (I − 1)/(1 + scv).
//
//   TPOT     Σ p·D / Σ p·D/C, a mean over requests (Little's law), and prefill interference
//   TTFT     a mixture over the states that an arrival finds. With n ≥ n' it also waits for n − n' + 1 answers
//
//   symbol   meaning                                                                            unit
//   n        requests in a replica                                                              –
//   n'       slots, less those of prompts                                                       –
//   D        min(n, n'), sequences that decode                                                  –
//   p        probability of a state                                                             –
//   O        tokens of an answer; O−1 are its decode iterations                                 tokens
//   C, m     time between decodes; prefill interference                                         s
//   I        index of dispersion of the arrivals during a stay; 1 for Poisson                   –
//   scv      squared coefficient of variation of O                                              –
//
// Not modelled: preemption (a sequence holds its mean KV cache), attention-DP ranks that are filled unevenly,
// batch_wait_iterations and receive_iterations of a scheduler.
#pragma once

#include "sim/result/steady_state.hpp"

namespace roofcast::sim {

// `slots` is the number of sequences that the KV cache of one attention-DP rank holds, at least 1. If requests arrive
// faster than the replicas can serve them, the result has only `saturation` and a `utilisation` of at least 1.
SteadyState open_loop(const ScenarioView& scenario, double slots, Workspace& workspace);

}  // namespace roofcast::sim
