// SPDX-License-Identifier: Apache-2.0
//
// Steady state of continuous batching in a closed loop of requests that are all alike; sim/serving/closed_loop.hpp has
// those that vary.
//
// C clients of one replica each send a prompt of P new tokens, wait for O tokens and send the next.
// Every iteration carries the running decodes; a share f of them carries prompts too, which slows
// the decodes (interference). On one attention-DP rank, with b sequences decoding in micro-batches
// of b/stages:
//
//   prompts per pass       r = (b/stages) / (O−1)           what finishes must be replaced
//   a pass takes           up to k prompts whole, k = ⌊(budget − b)/P⌋, or one chunk of a long
//                          prompt, which then needs c = ⌈P/(budget − b)⌉ passes
//   passes with prompts    f = min(1, r·c/q), q = prompts of one such pass = ⌈r·c⌉ ≤ k
//   TPOT                   = (1−g)·t(decodes) + g·t(decodes and prompts), g = f·(n−1)/n: a request
//                            meets the prompts of the others, never its own
//   prefill                = c passes
//   wait before it         = the rest of a pass, E[t²]/2E[t], and (c/k)·ρ/(2(1−ρ)) passes, ρ = r·c/k,
//                            both for the (n−1)/n of the others
//   Little                 b = n·(O−1)·TPOT / ((O−1)·TPOT + wait + prefill), n = running requests
//
// With speculative decoding an iteration yields E[X] tokens of a sequence and verifies more (workloads/serving/speculation.hpp);
// O−1 is then the number of iterations that an answer takes, each of which takes draft_tokens + 1 of the budget, and
// TPOT above the time between them.
//
// It is solved by bisection. When r·c > k prompts are the bottleneck: b is what they can feed. n is the
// least of the clients, max_sequences and what the KV cache holds at the mean length P + O/2; further
// clients wait for a slot. A GPU draws its idle power, and above it the energy of as many passes a
// second as the requests need:
//
//   power = idle + (prompts/s·c/q · E(decodes and prompts) + other decode passes/s · E(decodes)) / stages
//
// not more than its limit. The median of TTFT takes the wait before prefill as exponential. One client
// alone is exact: its prompt, then its decodes. Percentiles are those of sim/serving/percentiles.hpp. Not modelled: the
// launches that the GPU waits for (launch_floor) in passes that a request meets, the front end's messages, the burst at
// the start of a benchmark, clients that stay in step, preemption.
#pragma once

#include "sim/iteration/iteration.hpp"
#include "sim/result/steady_state.hpp"

namespace roofcast::sim {

// `slots`: sequences the KV cache of one attention-DP rank can hold, at least 1.
SteadyState uniform_closed_loop(const ScenarioView& scenario, double slots, Workspace& workspace);

}  // namespace roofcast::sim
