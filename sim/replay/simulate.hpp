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

#include "sim/replay/served_request.hpp"
#include "sim/replay/timeline.hpp"
#include "sim/scenario/scenario.hpp"
#include "workloads/traffic/requests.hpp"

namespace roofcast::sim {

class KeptIterations;  // sim/iteration/replica_iterations.hpp

struct Simulation {
  std::string reason;                   // why the scenario cannot run; empty if it can
  std::vector<ServedRequest> requests;  // in the order of the stream
  std::vector<SimulatedSecond> seconds;
  base::Seconds end;  // of the last iteration
  std::int64_t iterations = 0;
  std::int64_t preemptions = 0;
  std::int64_t peak_running = 0;  // sequences, of all replicas together
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
