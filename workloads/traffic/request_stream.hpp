// SPDX-License-Identifier: Apache-2.0
//
// The `traffic:` section: what clients ask of one replica.
//
//   traffic: {input_tokens: 2048, output_tokens: 512, concurrency: 64}
//
//   traffic:
//     input_tokens: {lognormal: {mean: 1500, cv: 1.2, max: 8192}}
//     output_tokens: {uniform: [200, 600]}
//     arrivals: {process: poisson, rate: 3.5 /s}
//     requests: 5000
//     priorities: {values: [0, 1], weights: [9, 1]}
//     seed: 1
//     objectives: {ttft: 2 s, tpot: 50 ms}
//
// With `concurrency` clients each wait for their answer and send the next request (closed loop); with
// `arrivals` requests come by themselves (open loop). With `agents` in place of both and the lengths clients
// are agents that work at tasks (workloads/traffic/agents.hpp).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/document/fields.hpp"
#include "base/units/quantity.hpp"
#include "workloads/traffic/agents.hpp"
#include "workloads/traffic/arrivals.hpp"
#include "workloads/traffic/lengths.hpp"
#include "workloads/traffic/requests.hpp"
#include "workloads/traffic/traffic.hpp"

namespace roofcast::workloads {

// What a request must keep to count as good; absent ones hold.
struct Objectives {
  std::optional<base::Seconds> ttft;
  std::optional<base::Seconds> tpot;
  std::optional<base::Seconds> end_to_end;
  bool any() const { return ttft || tpot || end_to_end; }
};

// What share of the requests has which priority, as weights; each draws its own.
struct Priorities {
  std::vector<std::int64_t> values;
  std::vector<std::int64_t> weights;
};

struct RequestStream {
  Lengths input;
  Lengths output;
  std::int64_t cached_tokens = 0;    // of each input, already in the KV cache
  std::int64_t images = 0;           // of each request; their tokens are some of the input
  std::int64_t concurrency = 0;      // 0 in an open loop
  std::optional<Arrivals> arrivals;  // of an open loop
  std::optional<std::int64_t> requests;
  std::optional<Priorities> priorities;  // all 0 without
  std::int64_t seed = 1;
  Objectives objectives;
  std::optional<Agents> agents;  // who decide all but seed and objectives
};

void read(base::Fields& f, RequestStream& stream);

// Mean lengths, and how they vary about them; of agents, those of their turns.
Traffic mean_traffic(const RequestStream& stream);

// As many as the stream says, else ten a client or a thousand; of agents, all turns of as many tasks. Those of a closed loop arrive at 0.
Requests draw_requests(const RequestStream& stream);

}  // namespace roofcast::workloads
