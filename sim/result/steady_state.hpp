// SPDX-License-Identifier: Apache-2.0
//
// What a server does in the long run: latencies, rates, batches and what limits them.
#pragma once

#include "sim/iteration/iteration.hpp"

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
  double requests_per_second = 0;   // of the replica
  double decode_batch = 0;          // sequences decoding at once on one attention-DP rank
  double running = 0;               // sequences holding a slot on one attention-DP rank
  double tokens_per_iteration = 1;  // that a decode iteration yields of a sequence
  double prefill_share = 0;         // of iterations that carry prompt tokens
  double prompt_share = 0;          // of the GPUs' time: what prompts take of it
  base::Watts power;                // of one GPU, mean; NaN where the TDP is not known
  double decode_clock = 1;          // of the full one, in steps without prompts
  double prefill_clock = 1;         // in steps with prompts
  models::Spread ttft_spread;       // of its mean, from the errors of operators alone
  models::Spread tpot_spread;
  Limit ttft_limit = Limit::latency;
  Limit tpot_limit = Limit::latency;
  Limit throughput_limit = Limit::latency;
  double utilisation = 0;  // of what slots and prompts allow at most; at least 1: no steady state
  double saturation = 0;   // requests per second of all replicas at which it is 1
  workloads::Batch decode_iteration;  // the batches behind the numbers, for --explain
  workloads::Batch prefill_iteration;
};

// A steady state of which nothing is known: a scenario that trains serves nobody.
SteadyState no_steady_state();

}  // namespace roofcast::sim
