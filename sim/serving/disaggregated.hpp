// SPDX-License-Identifier: Apache-2.0
//
// Steady state of a disaggregated deployment (sim/scenario/pools.hpp) in a closed loop with fixed lengths.
//
// N clients; each passes the request overhead R, the prefill pool, the transfer and the decode pool, and sends
// again. At λ requests a second, over the M replicas of a pool with g attention-DP ranks each:
//
//   prefill    a pass of n prompts takes τ(n) ≈ τ₀ + α·n: from one prompt on one rank to K, all that the g ranks
//              take at once; α = τ(K)/K, so that λ = M/α is all the pool can do. Poisson arrivals see the other
//              N−1 clients: λ' = λ/M·(N−1)/N, and who waits is served together (Y. Inoue, Queueing Systems 97,
//              2021: the time in a batch queue is at most both of
//                φ₀ = (α+τ₀)/2(1−λ'α) · (1 + 2λ'τ₀ + (1−λ'τ₀)/(1+λ'α))
//                φ₁ = 3τ₀/2(1−λ'α) + α/2·(λ'α+2)/(1−λ'²α²)   tightly); M/D/1 where K is one prompt.
//              M replicas wait less: by ρ^(√(2(M+1))−2)/M (Sakasegawa's M/G/c)
//   transfer   M·g ports that each send one cache after the other: M/D/1
//   decode     b = λ·(O−1)·TPOT / (M·g) sequences a rank, no prompts among them: TPOT = t(b). A request joins at
//              an iteration's start: half a TPOT while others decode
//   Little     N = λ·(R + prefill + transfer + join) + b·M·g
//
// solved for b by bisection. b is at most max_sequences and what the decode rank's KV cache holds; clients beyond that
// wait for a slot. The slower pool bounds λ; when that is prefill its queue holds the clients that decode does not.
// Power is the mean over the GPUs of both pools. Not modelled beyond sim/serving/uniform_closed_loop.hpp's: waits of
// uneven attention-DP ranks for each other, prefill replicas that stop because decode replicas are full.
#pragma once

#include "sim/result/serving_estimate.hpp"

namespace roofcast::sim {

// estimate() of a scenario with pools.
ServingEstimate disaggregated_estimate(const ScenarioView& scenario, Workspace& workspace);

}  // namespace roofcast::sim
