// SPDX-License-Identifier: Apache-2.0
//
// Steady state of a disaggregated deployment (sim/scenario/pools.hpp) in a closed loop with requests of equal lengths.
//
// Each of N clients goes through the request overhead R, the prefill pool, the transfer and the decode pool. Then it
// sends the next request:
//
//   prefill    An iteration of n prompts takes τ(n) ≈ τ₀ + α·n, from one prompt on one rank to K prompts on g ranks.
//              α = τ(K)/K, so that λ = M/α is the capacity of the pool. Poisson arrivals find the other N−1 clients:
//              λ' = λ/M·(N−1)/N. Requests that wait are served together. The time in such a batch queue is at most
//              both φ₀ and φ₁, tightly (Y. Inoue, Queueing Systems 97, 2021):
//                φ₀ = (α+τ₀)/2(1−λ'α) · (1 + 2λ'τ₀ + (1−λ'τ₀)/(1+λ'α))
//                φ₁ = 3τ₀/2(1−λ'α) + α/2·(λ'α+2)/(1−λ'²α²)
//              If K is one prompt, the queue is M/D/1. M replicas wait less, by ρ^(√(2(M+1))−2)/M (Sakasegawa's
//              M/G/c)
//   transfer   M·g ports send one KV cache after the other: M/D/1
//   decode     b = λ·(O−1)·TPOT / (M·g) sequences on a rank, and no prompts: TPOT = t(b). A request joins at the
//              start of an iteration. It waits half a TPOT if other sequences decode
//   Little     N = λ·(R + prefill + transfer + join) + b·M·g
//
//   symbol   meaning                                                                            unit
//   λ        requests per second of the deployment                                              1/s
//   M        replicas of the pool in question                                                   –
//   g        attention-DP ranks of each of its replicas                                         –
//   τ(n)     time of an iteration with n prompts; τ₀ is its fixed part, α that of a prompt      s
//   K        prompts that the g ranks take at once                                              –
//   ρ        utilisation of a prefill replica, λ'·(α+τ₀)                                        –
//   b        sequences that decode on a rank                                                    –
//   t(b)     time between their tokens                                                          s
//   O        tokens of an answer                                                                tokens
//
// The last equation is solved for b by bisection. b is at most max_sequences and what the KV cache of a decode rank
// holds. Further clients wait for a slot. The slower pool bounds λ. If that is the prefill pool, the clients that do
// not decode are in its queue. Power is the mean over the GPUs of both pools.
//
// Not modelled, besides the list of sim/serving/uniform_closed_loop.hpp: waits of uneven attention-DP ranks for each
// other, and prefill replicas that stop because the decode replicas are full.
#pragma once

#include "sim/result/serving_estimate.hpp"

namespace roofcast::sim {

// The forecast of a scenario with two pools.
ServingEstimate disaggregated_estimate(const ScenarioView& scenario, Workspace& workspace);

}  // namespace roofcast::sim
