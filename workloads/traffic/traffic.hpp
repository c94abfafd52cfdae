// SPDX-License-Identifier: Apache-2.0
//
// The traffic as an estimate sees it: means and variations. workloads/traffic/request_stream.hpp reads it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/units/square_seconds.hpp"
#include "workloads/traffic/arrivals.hpp"
#include "workloads/traffic/lengths.hpp"
#include "workloads/traffic/request_classes.hpp"

namespace roofcast::workloads {

struct SampledAgents;

// Time of a request before it is sent to the model, in stages of its own (workloads/traffic/requests.hpp).
struct StageTime {
  base::Seconds mean;
  base::SquareSeconds variance;
};

// Tokens of a prompt, and those of them that are already in the KV cache.
struct Prompt {
  std::int64_t input = 0;
  std::int64_t cached = 0;
};

// A closed loop of `concurrency` clients over all replicas, or an open loop.
struct Traffic {
  std::int64_t input_tokens = 0;   // mean
  std::int64_t output_tokens = 0;  // mean
  std::int64_t concurrency = 0;    // 0 in an open loop
  std::int64_t cached_tokens = 0;  // input tokens that are already in the KV cache (prefix cache)
  std::optional<Arrivals> arrivals = {};  // of an open loop
  Lengths input = {};  // variation of lengths; with Shape::fixed, all are the mean
  Lengths output = {};
  std::int64_t images = 0;      // images of each request; their tokens are part of the input
  RequestClasses classes = {};  // and what they are promised
  StageTime stages = {};
  // The agents; the means above are over their turns.
  std::shared_ptr<const SampledAgents> agents = {};
  std::int64_t shared_tokens = 0;  // that all of their sessions begin with, mean
  // By the tokens that are computed, ascending. If null, lengths vary as `input`, and all find `cached_tokens`.
  std::shared_ptr<const std::vector<Prompt>> prompts = {};
};

// Mean tokens of a sequence at a random instant of its decoding. Long answers decode longer, so they weigh more.
inline double mean_context(const Traffic& t) {
  return static_cast<double>(t.input_tokens) +
         0.5 * static_cast<double>(t.output_tokens) * (1.0 + squared_variation(t.output));
}

}  // namespace roofcast::workloads
