// SPDX-License-Identifier: Apache-2.0
//
// Steady state of continuous batching when requests arrive by themselves.
//
// They come at λ to one of the replicas, each with its own prompt P and answer O, and stay until it is
// complete. With D sequences decoding in a replica, C the mean pass (sim/serving/iteration_cycles.hpp):
//
//   decodes       D rises at λ and falls at D / ((O−1)·C + m); a birth-death process, as of processor sharing
//                 whatever the answers' distribution. m: prompts that come during one's own are met by its
//                 first decodes. Arrivals of dispersion I during a stay spread it: p(D)^(1/z),
//                 z = 1 + (I−1)/(1 + scv of O)
//   TPOT          Σ p·D / Σ p·D/C + E[m of its decodes/(O−1)], over requests, not tokens; Little's law
//   slots         beyond what max_sequences and the KV cache hold requests queue: a tail with the ratio
//                 (λ / rate of the last state)^(2 / (I + scv of O))
//   wait          who finds decodes waits for the rest X/2 of a pass, X = E[C²]/E[C], for prompts that came before it
//                 in that pass and those that come after and still fit; who finds none, for prompts alone (M/G/1);
//                 where prompts are not cut, for those that fit beside fewer decodes only
//   front end     takes prompts and messages one after the other (sim/serving/front_end_load.hpp)
//   saturation    the rate at which all slots are taken and what comes is served as fast
//
// Variances of the same parts give percentiles (sim/serving/percentiles.hpp). docs/concepts/open_loop.md has
// the errors against simulations. Not modelled: preemption (a sequence holds its mean), attention-DP ranks that are unevenly
// filled, batch_wait_iterations and receive_iterations of a scheduler.
#pragma once

#include "sim/result/steady_state.hpp"

namespace roofcast::sim {

// `slots` as of uniform_closed_loop(). When the traffic is more than the replicas can serve, nothing but
// `saturation` and `utilisation`, at least 1, is told.
SteadyState open_loop(const ScenarioView& scenario, double slots, Workspace& workspace);

}  // namespace roofcast::sim
