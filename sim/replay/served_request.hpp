// SPDX-License-Identifier: Apache-2.0
//
// What became of a request in a simulation.
#pragma once

#include <cstdint>

#include "base/units/quantity.hpp"

namespace roofcast::sim {

// Times are since the start of the simulation.
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

}  // namespace roofcast::sim
