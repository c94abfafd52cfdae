// SPDX-License-Identifier: Apache-2.0
//
// Steady state of continuous batching in a closed loop with requests of equal lengths. sim/serving/closed_loop.hpp has
// requests of different lengths.
//
// Each of C clients of a replica sends a prompt of P new tokens, waits for an answer of O tokens, and sends the next
// prompt. Every iteration carries the running decodes. A share f of the iterations also carries prompts, which slows
// the decodes (prefill interference). On one attention-DP rank:
//
//   prompts per iteration    r = (b/stages) / (O−1)         every request that ends is replaced
//   an iteration takes       up to k = ⌊(B − b)/P⌋ whole prompts, or one chunk of a longer prompt. Such a prompt needs
//                            c = ⌈P/(B − b)⌉ iterations
//   iterations with prompts  f = min(1, r·c/q),  q = ⌈r·c⌉ ≤ k
//   TPOT                     (1−g)·t(decodes) + g·t(decodes and prompts),  g = f·(n−1)/n
//   prefill                  c iterations
//   wait before it           the rest of an iteration, E[t²]/2E[t], and (c/k)·ρ/(2(1−ρ)) iterations with ρ = r·c/k;
//                            both times (n−1)/n
//   Little's law             b = n·(O−1)·TPOT / ((O−1)·TPOT + wait + prefill)
//
//   symbol   meaning                                                                            unit
//   b        sequences that decode; b/stages of them in a micro-batch                           –
//   n        running requests: the least of clients, max_sequences, and what the KV cache
//            holds at the mean length P + O/2. Further clients wait for a slot                  –
//   B        max_tokens_per_iteration                                                           tokens
//   r        prompts that start per iteration                                                   –
//   k        whole prompts that fit in one iteration                                            –
//   c        iterations that one prompt needs                                                   –
//   q        prompts of one iteration that carries some                                         –
//   f        share of iterations with prompts                                                   –
//   g        share of a request's decodes that meet prompts: those of the others, never its own –
//   t        time of an iteration                                                               s
//   E( )     energy of an iteration above idle                                                  J
//   ρ        utilisation of the prefill capacity                                                –
//
// With speculative decoding, an iteration yields E[X] tokens of a sequence and verifies more
// (workloads/serving/speculation.hpp). O−1 is then the number of iterations of an answer. Each of them takes
// draft_tokens + 1 of the budget B, and TPOT above is the time between them.
//
// The solution b is found by bisection. If r·c > k, prompts are the bottleneck, and b is what they can feed. A GPU
// draws its idle power. The energy above it is that of the iterations that the requests need:
//
//   power = idle + (prompts/s·c/q · E(decodes and prompts) + other iterations/s · E(decodes)) / stages   ≤ the limit
//
// The median of TTFT takes the wait before prefill as exponential. One client alone is exact: its prompt, then its
// decodes. Percentiles are those of sim/serving/percentiles.hpp.
//
// Not modelled: time in which the GPU waits for launches (launch_floor) in the iterations that a request meets, the
// messages of the front end, the burst at the start of a benchmark, clients that stay synchronised, preemption.
#pragma once

#include "sim/iteration/iteration.hpp"
#include "sim/result/steady_state.hpp"

namespace roofcast::sim {

// `slots` is the number of sequences that the KV cache of one attention-DP rank holds, at least 1.
SteadyState uniform_closed_loop(const ScenarioView& scenario, double slots, Workspace& workspace);

}  // namespace roofcast::sim
