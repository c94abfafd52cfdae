// SPDX-License-Identifier: Apache-2.0
//
// The same serving scenario request by request: some microseconds for each request. The same scenario gives the same
// numbers, byte for byte.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <roofcast/scenario.hpp>

namespace roofcast {

struct SimulationOptions {
  std::size_t warm_up = 0;            // requests at the start that the summary leaves out
  std::optional<std::uint32_t> seed;  // in place of the scenario's
};

// Of the requests that were served, in seconds; NaN when there is none.
struct SimulatedTimes {
  double mean;
  double interval95;  // the 95 % interval of the mean is mean ± interval95; NaN below 40 requests
  double p50;
  double p90;
  double p95;
  double p99;
};

// Times are in seconds since the start of the simulation.
struct SimulatedRequest {
  std::int64_t input_tokens;
  std::int64_t output_tokens;
  double arrival;
  double scheduled;    // its first iteration begins
  double first_token;  // the client sees it
  double last_token;
  bool
      rejected;  // longer than the model's context or than the KV cache: has no times but its arrival
};

struct Simulation {
  std::string
      reason;  // why the scenario cannot run; empty when it can. The rest is then zero, empty or NaN
  std::size_t served = 0;
  std::size_t rejected = 0;
  double duration_s = 0;  // from the first arrival to the last token
  SimulatedTimes ttft;
  SimulatedTimes tpot;  // of requests with more than one token
  SimulatedTimes end_to_end;
  SimulatedTimes waiting;  // in the queue
  double requests_per_s = 0;
  double input_tokens_per_s = 0;
  double output_tokens_per_s = 0;
  double attainment = 0;  // share of the requests that meet every objective of their class
  double goodput = 0;     // 1/s, of these requests
  std::vector<SimulatedRequest> requests;  // in the order of the stream, the warm-up included

  bool runs() const { return reason.empty(); }
};

// Throws InputError when the scenario is bad input, or trains and serves nobody.
Simulation simulate(const Scenario& scenario, const SimulationOptions& options = {});

}  // namespace roofcast
