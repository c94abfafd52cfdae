// SPDX-License-Identifier: Apache-2.0
//
// The traffic that an estimate sees: means and variations. workloads/traffic/request_stream.hpp reads it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "workloads/traffic/arrivals.hpp"
#include "workloads/traffic/lengths.hpp"

namespace roofcast::workloads {

struct SampledAgents;

// A closed loop of `concurrency` clients of all replicas, or an open one whose requests arrive by
// themselves (workloads/traffic/request_stream.hpp reads them).
struct Traffic {
  std::int64_t input_tokens = 0;  // means
  std::int64_t output_tokens = 0;
  std::int64_t concurrency = 0;           // 0 in an open loop
  std::int64_t cached_tokens = 0;         // of the input, already in the KV cache (prefix reuse)
  std::optional<Arrivals> arrivals = {};  // of an open loop
  Lengths input = {};                     // how lengths vary; of Shape::fixed, all are the mean
  Lengths output = {};
  std::int64_t images = 0;  // of each request, whose tokens are some of the input
  std::shared_ptr<const SampledAgents> agents = {};  // whose turns these are means of
};

// Mean tokens of a sequence at a random instant of its decoding; long answers are met more often.
inline double mean_context(const Traffic& t) {
  return static_cast<double>(t.input_tokens) +
         0.5 * static_cast<double>(t.output_tokens) * (1.0 + squared_variation(t.output));
}

}  // namespace roofcast::workloads
