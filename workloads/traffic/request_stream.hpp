// SPDX-License-Identifier: Apache-2.0
//
// The `traffic:` section: what clients ask of all replicas.
//
//   traffic: {input_tokens: 2048, output_tokens: 512, concurrency: 64}
//
//   traffic:
//     input_tokens: {lognormal: {mean: 1500, cv: 1.2, max: 8192}}
//     output_tokens: {uniform: [200, 600]}
//     arrivals: {process: poisson, rate: 3.5 /s}
//     requests: 5000
//     seed: 1
//     objectives: {ttft: 2 s, tpot: 50 ms}
//
// `concurrency` is a closed loop: each client waits for its answer and then sends the next request.
// `arrivals` is an open loop: requests arrive whether or not earlier ones are done. `agents` replaces both
// and the lengths: clients are agents that work at tasks (workloads/traffic/agents.hpp). So does `trace`:
// recorded requests at their own times, an open loop (workloads/traffic/replayed_trace.hpp). Objectives by class are in
// workloads/traffic/request_classes.hpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/document/fields.hpp"
#include "base/units/quantity.hpp"
#include "workloads/traffic/agents.hpp"
#include "workloads/traffic/arrivals.hpp"
#include "workloads/traffic/lengths.hpp"
#include "workloads/traffic/replayed_trace.hpp"
#include "workloads/traffic/request_classes.hpp"
#include "workloads/traffic/requests.hpp"
#include "workloads/traffic/traffic.hpp"

namespace roofcast::workloads {

struct RequestStream {
  Lengths input;
  Lengths output;
  std::int64_t cached_tokens = 0;    // tokens of each input that are already in the KV cache
  std::int64_t images = 0;           // images of each request; their tokens are part of the input
  std::int64_t concurrency = 0;      // 0 in an open loop
  std::optional<Arrivals> arrivals;  // of an open loop; of agents, those of their tasks
  std::optional<std::int64_t> requests;
  std::int64_t seed = 1;
  RequestClasses classes;
  std::optional<Agents> agents;        // replaces everything but seed and objectives
  std::optional<ReplayedTrace> trace;  // replaces the keys below
};

// What a trace has of its own. Beside `trace` they are a problem of the document.
inline constexpr std::string_view kReplacedByTrace[] = {"input_tokens", "output_tokens", "arrivals",
                                                        "concurrency", "agents"};

// Whether requests arrive at their own times. Otherwise `concurrency` clients wait for answers.
inline bool is_open(const RequestStream& stream) { return stream.arrivals || stream.trace; }

void read(base::Fields& f, RequestStream& stream);

// Mean lengths and their variation. For agents, those of their turns. For a trace, those of its window, with a process
// of arrivals that stands for it.
Traffic mean_traffic(const RequestStream& stream);

// As many requests as the stream says, else ten a client, else a thousand. For agents, all turns of as many tasks, else
// of ten an agent, else of 400. Of a
// trace, the first so many, else all. Requests of a closed loop arrive at 0. Priorities are drawn, unless a trace has
// its own.
Requests draw_requests(const RequestStream& stream);

}  // namespace roofcast::workloads
