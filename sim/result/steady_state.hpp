// SPDX-License-Identifier: Apache-2.0
//
// The state of a server in the long run: latencies, rates, batches and bounds.
#pragma once

#include <limits>

#include "sim/iteration/iteration.hpp"

namespace roofcast::sim {

// p95 and p99: times that one request in twenty and one in a hundred exceed.
struct Tail {
  base::Seconds p95;
  base::Seconds p99;
};

struct SteadyState {
  base::Seconds ttft_mean;
  base::Seconds ttft_p50;
  Tail ttft_tail;
  Tail tpot_tail;            // of the mean TPOT of a request
  base::Seconds tpot;        // mean time between the tokens of a request; 0 if output_tokens is 1
  base::Seconds end_to_end;  // mean latency, from the request to its last token
  // Share of the requests that meet every objective of the traffic. NaN without objectives.
  double attainment = std::numeric_limits<double>::quiet_NaN();
  double requests_per_second = 0;   // 1/s, all replicas
  double decode_batch = 0;          // sequences that decode at once on one attention-DP rank
  double running = 0;               // sequences with a slot on one attention-DP rank
  double tokens_per_iteration = 1;  // output tokens that an iteration adds to a sequence
  double front_end = 0;             // utilisation of its processes; of one pool
  double held_up = 0;               // share of TPOT that tokens wait for the front end
  double ttft_host =
      0;  // share of TTFT in the front end, before the scheduler and after the iterations
  double prefill_share = 0;    // share of iterations that carry prompt tokens
  double prompt_share = 0;     // share of the GPUs' busy time that prompts take
  base::Watts power;           // mean power of one GPU; NaN if the TDP is not known
  double decode_clock = 1;     // share of the full clock, in iterations without prompts
  double prefill_clock = 1;    // the same in iterations with prompts
  models::Spread ttft_spread;  // of the mean TTFT, from the errors of operators alone
  models::Spread tpot_spread;
  Limit ttft_limit = Limit::latency;
  Limit tpot_limit = Limit::latency;
  Limit throughput_limit = Limit::latency;
  double utilisation = 0;  // arrival rate over saturation; there is no steady state from 1 on
  double saturation = 0;   // 1/s, arrival rate of all replicas at which utilisation is 1
  // Arrivals that were followed take nearly all slots, or the later ones stay twice as long as the earlier ones.
  bool piles_up = false;
  // Longer iterations would hold more sequences and prompts, and these would keep them long: a burst can begin that.
  bool two_states = false;
  workloads::Batch decode_iteration;  // the batches behind the numbers, for --explain
  workloads::Batch prefill_iteration;

  bool front_end_is_full() const { return front_end > 0.9; }  // it limits the throughput
};

// Whether requests arrive at their own times: their rate is that of the server, unless it saturates.
inline bool is_open(const SteadyState& steady) { return steady.utilisation > 0.0; }

// NaN throughout, for a scenario that trains: it does not serve.
SteadyState no_steady_state();

}  // namespace roofcast::sim
