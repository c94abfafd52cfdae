// SPDX-License-Identifier: Apache-2.0
//
// Steady state of continuous batching in a closed loop of requests that are all alike; sim/closed_loop.hpp has
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
// With speculative decoding an iteration yields E[X] tokens of a sequence and verifies more (workloads/speculation.hpp);
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
// alone is exact: its prompt, then its decodes. Percentiles are those of sim/percentiles.hpp. Not modelled: the
// launches that the GPU waits for (launch_floor) in passes that a request meets, the front end's messages, the burst at
// the start of a benchmark, clients that stay in step, preemption.
#pragma once

#include "sim/step.hpp"

namespace roofcast::sim {

// Times that one request in twenty, and one in a hundred, exceeds.
struct Tail {
  base::Seconds p95;
  base::Seconds p99;
};

struct SteadyState {
  base::Seconds ttft_mean;
  base::Seconds ttft_p50;
  Tail ttft_tail;
  Tail tpot_tail;            // of a request's mean
  base::Seconds tpot;        // mean time between a request's tokens; zero when output_tokens is 1
  base::Seconds end_to_end;  // mean
  double requests_per_second = 0;  // of the replica
  double decode_batch = 0;         // sequences decoding at once on one attention-DP rank
  double running = 0;              // sequences holding a slot on one attention-DP rank
  double tokens_per_step = 1;      // that a decode iteration yields of a sequence
  double prefill_share = 0;        // of iterations that carry prompt tokens
  double prompt_share = 0;         // of the GPUs' time: what prompts take of it
  base::Watts power;               // of one GPU, mean; NaN where the TDP is not known
  double decode_clock = 1;         // of the full one, in steps without prompts
  double prefill_clock = 1;        // in steps with prompts
  models::Spread ttft_spread;      // of its mean, from the errors of operators alone
  models::Spread tpot_spread;
  Limit ttft_limit = Limit::latency;
  Limit tpot_limit = Limit::latency;
  Limit throughput_limit = Limit::latency;
  double utilisation = 0;  // of what slots and prompts allow at most; at least 1: no steady state
  double saturation = 0;   // requests per second of all replicas at which it is 1
  workloads::Batch decode_pass;  // the batches behind the numbers, for --explain
  workloads::Batch prefill_pass;
};

// `slots`: sequences the KV cache of one attention-DP rank can hold, at least 1.
SteadyState steady_state(const ScenarioView& scenario, double slots, Workspace& workspace);

}  // namespace roofcast::sim
