// SPDX-License-Identifier: Apache-2.0
//
// What the serving software does beside the kernels, and the traffic it is given.
#pragma once

#include <cstdint>
#include <string>

#include "base/catalog.hpp"
#include "base/fields.hpp"
#include "base/quantity.hpp"
#include "workloads/operator.hpp"

namespace roofcast::workloads {

// Scheduler limits; a stack has defaults, a scenario may override each.
struct SchedulerLimits {
  std::int64_t max_tokens_per_step = 0;  // prompt chunk and decodes of one iteration
  std::int64_t max_sequences = 0;        // running at once, per attention-DP rank
  double memory_fraction = 0.0;          // of the device memory the engine may fill
};

// What a stack's memory_fraction is a fraction of, and what it must hold.
enum class FractionOf : std::uint8_t {
  device,  // of the device: weights, activations, reserve and cache (vLLM's gpu_memory_utilization)
  weights_and_cache,  // of the device: weights and cache only (SGLang's mem_fraction_static)
  free_memory,  // of what the model leaves free: the cache (TensorRT-LLM's free_gpu_memory_fraction)
};

// How far forecasts were from servers of this stack: 5 % and 95 % quantiles of measured / predicted.
struct ServedError {
  std::int64_t rows = 0;
  double median = 0.0;  // of |predicted / measured − 1|
  double low = 1.0, high = 1.0;
};

struct Stack {
  std::string id;
  std::string name;
  SchedulerLimits limits;
  std::int64_t kv_block_tokens = 1;
  FractionOf fraction_of = FractionOf::device;
  base::Bytes runtime_reserve;      // context, graphs, workspaces
  base::Seconds step_overhead;      // host time of an iteration that the GPU waits for
  base::Seconds sequence_overhead;  // more of it for each running sequence
  base::Seconds request_overhead;   // once a request: HTTP, tokenisation, first detokenisation
  bool fused_quantise = false;      // activations are quantised inside the kernel before
  AllReduceKernels custom_all_reduce = AllReduceKernels::library;
  ServedError ttft_error;
  ServedError tpot_error;
};

// The `serving:` section: a stack and what the scenario overrides.
struct Serving {
  Stack stack;
  SchedulerLimits limits;
};

// The `traffic:` section: a closed loop of `concurrency` clients at one replica, fixed lengths.
struct Traffic {
  std::int64_t input_tokens = 0;
  std::int64_t output_tokens = 0;
  std::int64_t concurrency = 0;
  std::int64_t cached_tokens = 0;  // of the input, already in the KV cache (prefix reuse)
};

void read(base::Fields& f, Stack& stack);
void read(base::Fields& f, Serving& serving);
void read(base::Fields& f, Traffic& traffic);

base::Catalog stack_catalog();

}  // namespace roofcast::workloads
