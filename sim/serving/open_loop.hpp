// SPDX-License-Identifier: Apache-2.0
//
// Steady state of continuous batching in an open loop.
//
// Requests arrive at a replica at a rate λ, whether or not earlier ones are done. Each has its own prompt and
// answer and stays until the answer is complete. With D sequences decoding in a replica:
//
//   decodes       D rises at rate λ and falls at rate D / ((O−1)·C + m). This is a birth-death process. As under
//                 processor sharing, it depends only on the mean of the answers. If the arrivals of a stay have
//                 dispersion I, the probabilities are spread to p(D)^(1/z), z = 1 + (I−1)/(1 + scv)
//   TPOT          Σ p·D / Σ (p·D/C) + E[m of a request / its (O−1)], a mean over requests, not over tokens
//                 (Little's law)
//   slots         requests beyond max_sequences and the KV cache queue. Their number has a geometric tail with the
//                 ratio (λ / rate of the last state)^(2 / (I + scv))
//   wait          A request that finds decodes waits for the rest X/2 of an iteration. X = E[C²]/E[C]. It also waits
//                 for prompts that came before it in that iteration, and for later prompts that still fit. A request
//                 that finds no decodes waits for prompts alone (M/G/1). Prompts that are not cut may have to wait
//                 until fewer sequences decode
//   front end     takes in prompts and sends messages one after the other (sim/serving/front_end_load.hpp)
//   saturation    the rate at which all slots are taken and requests complete as fast as they arrive
//
//   symbol   meaning                                                                            unit
//   λ        arrival rate of one replica                                                        1/s
//   D        sequences that decode                                                              –
//   p        probability of D                                                                   –
//   O        tokens of an answer; O−1 are its decode iterations                                 tokens
//   C        time of an iteration (sim/serving/iteration_cycles.hpp)                            s
//   m        prefill interference: prompts that arrived during the request's own prompt slow
//            its first decodes                                                                  s
//   I        index of dispersion of the arrivals during a stay; 1 for Poisson                   –
//   scv      squared coefficient of variation of O                                              –
//
// The variances of the same parts give percentiles (sim/serving/percentiles.hpp).
//
// Errors: docs/concepts/open_loop.md has those against simulations. Not modelled: preemption (a sequence holds its mean
// KV cache), attention-DP ranks that are filled unevenly, batch_wait_iterations and receive_iterations of a scheduler.
#pragma once

#include "sim/result/steady_state.hpp"

namespace roofcast::sim {

// `slots` is as in uniform_closed_loop(). If requests arrive faster than the replicas can serve them, the result has
// only `saturation` and a `utilisation` of at least 1.
SteadyState open_loop(const ScenarioView& scenario, double slots, Workspace& workspace);

}  // namespace roofcast::sim
