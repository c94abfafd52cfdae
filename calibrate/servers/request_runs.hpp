// SPDX-License-Identifier: Apache-2.0
//
// Measured runs of vLLM, request by request, and the same requests simulated.
//
// A run is a directory (casys-kaist/LLMServingSim):
//
//   meta.json         the engine: engine_kwargs, and where recorded kv_cache; what is left out is the stack's
//   requests.jsonl    one object a line: input_toks, output_toks and, in seconds, arrival_time, queued_ts,
//                     first_token_ts, last_token_ts; others are kept as they are
//   timeseries.csv    where there is one: t (s), running, waiting at the end of that second; where they
//                     were recorded gen_throughput (tokens/s) and kv_cache_pct, which is 0 throughout where
//                     it was not
//   config.json       where there is one: nodes[].instances[].hardware names the GPU; else the directory's
//                     name does, up to its first '_'
//
// The client stamps arrival_time, the engine the others. Where their clocks differ (a request is queued
// before it arrives, or a run's length after), times to first tokens are from the queue on, in the
// measurement and in the simulation; else from the arrival on. Requests are replayed at their arrivals.
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "base/units/quantity.hpp"
#include "calibrate/platforms/chip_platforms.hpp"
#include "sim/replay/simulate.hpp"

namespace roofcast::calibrate {

struct MeasuredRequest {
  std::vector<std::string> cells;  // its own values, by RequestRun::columns
  base::Seconds arrival;           // of the client's clock
  base::Seconds queued;            // of the engine's clock, as the others
  base::Seconds first_token;
  base::Seconds last_token;
  std::int64_t input_tokens = 0;
  std::int64_t output_tokens = 0;
};

// What waits and runs at a time.
struct MeasuredLoad {
  base::Seconds time;
  double running = 0.0;
  double waiting = 0.0;
  double output_rate = std::numeric_limits<double>::quiet_NaN();  // tokens/s
  double cache = std::numeric_limits<double>::quiet_NaN();        // share of the KV cache
};

struct RequestRun {
  std::string name;  // of its directory
  std::vector<std::string> columns;
  std::vector<MeasuredRequest> requests;  // by arrival, at least one
  std::vector<MeasuredLoad> loads;
  bool one_clock = false;                    // the engine's is the client's
  std::optional<std::int64_t> cache_tokens;  // of the engine's KV cache, where it is told

  std::string model;  // catalog ids; the run's words where there is none
  std::string chip;
  std::string reason;                       // why it is no scenario; empty when it is one
  const sim::Platform* platform = nullptr;  // owned by ChipPlatforms
  workloads::Architecture architecture;
  workloads::Precision precision;
  workloads::Mapping mapping;
  workloads::Serving serving;
  workloads::Traffic traffic;  // none: requests are replayed

  sim::ScenarioView scenario() const {
    return {.platform = platform,
            .model = &architecture,
            .precision = &precision,
            .mapping = &mapping,
            .serving = &serving,
            .traffic = &traffic};
  }
};

// The directory itself, or those below it that are runs, by name. InputError when there is none.
std::vector<std::filesystem::path> request_runs(const std::filesystem::path& directory);
// InputError for what cannot be read.
RequestRun read_request_run(const std::filesystem::path& directory, ChipPlatforms& platforms);

// From the same start in the measurement and in the simulation.
struct RequestTimes {
  base::Seconds start;
  base::Seconds first_token;
  base::Seconds last_token;
  base::Seconds ttft() const { return first_token - start; }
};

struct RequestPair {
  RequestTimes measured;
  RequestTimes simulated;  // of one that is not rejected
  std::int64_t output_tokens = 0;
  bool rejected = false;
  base::Seconds tpot(const RequestTimes& times) const {  // NaN for one token
    return output_tokens > 1
               ? (times.last_token - times.first_token) / static_cast<double>(output_tokens - 1)
               : base::Seconds::from_si(std::numeric_limits<double>::quiet_NaN());
  }
};

// Over the seconds that either has.
struct LoadDifference {
  double measured = 0.0;  // means
  double simulated = 0.0;
  double difference = 0.0;  // mean of |simulated − measured|
};

struct Replay {
  std::string reason;                 // why there is none; empty when there is one
  std::vector<RequestPair> requests;  // by arrival
  LoadDifference running;             // NaN where the run has no loads
  LoadDifference waiting;
  std::vector<sim::SimulatedSecond> seconds;
  std::int64_t cache_tokens = 0;  // that one sequence could hold in the KV cache of a rank
};
Replay replay(const RequestRun& run);

}  // namespace roofcast::calibrate
