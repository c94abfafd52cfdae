// SPDX-License-Identifier: Apache-2.0
//
// Steady state of a disaggregated deployment (sim/scenario/pools.hpp).
//
//   TTFT       = request overhead + front end + wait and service of prefill + transfer + join + wait for a place
//   end to end = TTFT + I·t(D)
//
//   prefill    sim/serving/prefill_pool.hpp: a queue whose server takes all prompts that wait
//   transfer   Each attention-DP rank of the prefill pool sends one KV cache after the other. Those of prompts that
//              were computed together wait for each other, x·(k − 1)/2. If a transfer takes longer than a prompt,
//              M/G/1 is added
//   join       Half an iteration, if all decode replicas have sequences; more if the scheduler looks for requests
//              more rarely (receive_iterations)
//   place      sim/serving/decode_pool.hpp: the KV cache and max_sequences bound the sequences that decode
//   front end  sim/serving/front_end_load.hpp
//
// Open loop. The rate λ is given. It is below saturation: the least of what the prefill pool, the transfers, the front
// end and the decode pool can serve.
//
// Closed loop. N clients: N = λ·(TTFT without a place) + D, and D = λ·I·t. A client meets the others as if they
// arrived at random at λ(N−1)/N. Bisection finds D. If a pool is full, the clients that are in no other place wait for
// it. Clients with equal requests meet each other at equal intervals: only the bounds and the join remain of their
// waits.
//
//   symbol   meaning                                                                            unit
//   λ        requests per second                                                                1/s
//   N        clients                                                                            –
//   D        sequences that decode                                                              –
//   I        decode iterations of an answer; fewer than its tokens with speculative decoding    –
//   t(D)     time between iterations of a sequence                                              s
//   x        time of a transfer                                                                 s
//   k        prompts of a rank that are computed together                                       –
//
// Percentiles come from means and variances (sim/serving/latency_mixture.hpp). The parts are taken as independent, except
// those that depend on the length of the prompt. TPOT varies as D does, and as accepted drafts do. In a closed loop D is
// binomial. Power is the mean over the GPUs of both pools.
//
// Not modelled: preemption, attention-DP ranks that wait for the longest prompt, phases of arrivals that last longer
// than an answer, and prefill replicas that stop because the decode replicas are full.
#pragma once

#include "sim/result/serving_estimate.hpp"

namespace roofcast::sim {

// The forecast of a scenario with two pools.
ServingEstimate disaggregated_estimate(const ScenarioView& scenario, Workspace& workspace);

}  // namespace roofcast::sim
