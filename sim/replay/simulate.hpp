// SPDX-License-Identifier: Apache-2.0
//
// Serving, request by request: what every request of a stream meets.
//
// Requests arrive at their times (open loop), or `concurrency` clients send one each at the start and the
// next when an answer is complete (closed loop). A request that follows others (workloads/traffic/requests.hpp) is sent
// when they are answered, and a client sends its next one when nothing follows. After the stack's request overhead the router of
// `serving:` gives a request to one of the replicas, where it waits in the scheduler (sim/replay/scheduler.hpp).
// Iterations take the times of sim/iteration/iteration_table.hpp: the slowest attention-DP rank's, with the experts' share of
// all ranks' tokens. With pipeline stages a micro-batch for each stage is on its way; the first stage takes
// the next one a period after the last. A token is seen when its iteration ends. Of a disaggregated
// deployment (sim/scenario/pools.hpp) the router chooses a replica of each pool; the prefill replica's blocks are free
// when the decode replica has taken the request in.
//
// The same scenario and requests give the same bytes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/scenario/scenario.hpp"
#include "workloads/traffic/requests.hpp"

namespace roofcast::sim {

// Seconds since the start of the simulation.
struct ServedRequest {
  double arrival = 0;
  double queued = 0;       // after the request overhead
  double scheduled = 0;    // its first iteration begins
  double prefilled = 0;    // of two pools: its prompt and first token are computed
  double transferred = 0;  // its cache is where its answer is computed
  double first_token = 0;  // the client sees it
  double last_token = 0;
  std::int64_t input_tokens = 0;
  std::int64_t output_tokens = 0;
  std::int64_t priority = 0;
  std::int64_t reused_tokens = 0;    // of the input, found in the KV cache when it was scheduled
  std::int64_t restored_tokens = 0;  // of these, from host memory
  std::int32_t preemptions = 0;
  std::int32_t session = -1;  // of an agent or sub-agent
  std::int32_t task = -1;
  double tools = 0;  // s, that they take after it, until the next turn
  std::int32_t replica = 0;
  std::int32_t decode_replica = 0;  // of the decode pool
  bool rejected = false;  // longer than the model's context or than the KV cache: has no times

  double ttft() const { return first_token - arrival; }
  double waiting() const {
    return scheduled - queued + (transferred > 0.0 ? first_token - transferred : 0.0);
  }
  double end_to_end() const { return last_token - arrival; }
  double tpot() const {  // of more than one token
    return (last_token - first_token) / static_cast<double>(output_tokens - 1);
  }
};

// What the replicas did together in one second of the simulation.
struct SimulatedSecond {
  double running = 0;  // mean
  double waiting = 0;
  double cache = 0;                // share of the KV caches held
  double busy = 0;                 // share of the time with an iteration on a first stage
  std::int64_t prompt_tokens = 0;  // computed in iterations that ended in this second
  std::int64_t output_tokens = 0;
};

struct Simulation {
  std::string reason;                   // why the scenario cannot run; empty when it can
  std::vector<ServedRequest> requests;  // as in the stream
  std::vector<SimulatedSecond> seconds;
  double end = 0;  // s, of the last iteration
  std::int64_t iterations = 0;
  std::int64_t preemptions = 0;
  std::int64_t peak_running = 0;  // of one replica
  double peak_cache = 0;          // share, of one replica
};

// `concurrency`: clients of all replicas in a closed loop, which do not heed arrival times; 0 for an open one.
Simulation simulate(const ScenarioView& scenario, const workloads::Requests& requests,
                    std::int64_t concurrency);

}  // namespace roofcast::sim
