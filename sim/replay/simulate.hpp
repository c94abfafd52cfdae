// SPDX-License-Identifier: Apache-2.0
//
// Simulation of serving, request by request.
//
// Arrivals. In an open loop, requests arrive at their times. In a closed loop, `concurrency` clients send one request
// each at the start, and the next one when an answer is complete. A request can follow others
// (workloads/traffic/requests.hpp): it is sent when these are answered. A client sends its next request if no request
// follows.
//
// Path. A request passes the stages and the front end (front_stages.hpp, front_end.hpp). After the stack's request
// overhead, the router of `serving:` gives it to one of the replicas, where it waits in the scheduler (scheduler.hpp).
// Its tokens reach the client after the iteration ends, when the front end has sent them.
//
// Time. Iterations take the times of sim/iteration/iteration_table.hpp: that of the slowest attention-DP rank, with the
// experts' share of the tokens of all ranks. With pipeline stages, one micro-batch per stage is in flight. The first
// stage takes the next micro-batch one period after the last.
//
// Two pools (sim/scenario/pools.hpp). The router chooses a replica of each pool. The blocks of the prefill replica are
// free when the decode replica has admitted the request.
//
// The same scenario and requests give the same bytes of output.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/replay/timeline.hpp"
#include "sim/scenario/scenario.hpp"
#include "workloads/traffic/requests.hpp"

namespace roofcast::sim {

class KeptIterations;  // sim/iteration/replica_iterations.hpp

// One request. Times are since the start of the simulation.
struct ServedRequest {
  base::Seconds arrival;
  base::Seconds queued;       // it joins the queue of the scheduler, after the request overhead
  base::Seconds scheduled;    // its first iteration begins
  base::Seconds prefilled;    // two pools: its prompt and first token are computed
  base::Seconds transferred;  // two pools: its KV cache is on the decode replica
  base::Seconds first_token;  // the client sees it
  base::Seconds last_token;
  std::int64_t input_tokens = 0;
  std::int64_t output_tokens = 0;
  std::int64_t priority = 0;
  std::int64_t reused_tokens = 0;    // input tokens in the KV cache when it was scheduled
  std::int64_t restored_tokens = 0;  // those of them that came from host memory
  std::int32_t preemptions = 0;
  std::int32_t session = -1;  // session of an agent or sub-agent; -1: none
  std::int32_t task = -1;
  base::Seconds tools;  // time of tools after it, until the next turn
  std::int32_t replica = 0;
  std::int32_t decode_replica = 0;  // two pools: replica of the decode pool
  // The request is longer than the model's context or than the KV cache. It has no times.
  bool rejected = false;

  base::Seconds ttft() const { return first_token - arrival; }
  base::Seconds waiting() const {
    return scheduled - queued +
           (transferred > base::Seconds{} ? first_token - transferred : base::Seconds{});
  }
  base::Seconds end_to_end() const { return last_token - arrival; }
  // Only for answers of more than one token.
  base::Seconds tpot() const {
    return (last_token - first_token) / static_cast<double>(output_tokens - 1);
  }
};

struct Simulation {
  std::string reason;                   // why the scenario cannot run; empty if it can
  std::vector<ServedRequest> requests;  // in the order of the stream
  std::vector<SimulatedSecond> seconds;
  base::Seconds end;  // of the last iteration
  std::int64_t iterations = 0;
  std::int64_t preemptions = 0;
  std::int64_t peak_running = 0;  // sequences, of one replica
  double peak_cache = 0;          // share, of one replica
};

// `concurrency` is the number of clients of all replicas in a closed loop, which ignores arrival times. 0: an open
// loop.
Simulation simulate(const ScenarioView& scenario, const workloads::Requests& requests,
                    std::int64_t concurrency);
// The same, with the iterations of the simulation before where the scenarios differ in traffic alone. What the scenario
// points to outlives `kept`.
Simulation simulate(const ScenarioView& scenario, const workloads::Requests& requests,
                    std::int64_t concurrency, KeptIterations& kept);

}  // namespace roofcast::sim
