// SPDX-License-Identifier: Apache-2.0
//
// How one replica of a model is spread over ranks (the `deployment:` section).
//
// A replica has tensor_parallel × context_parallel × data_parallel × pipeline_parallel ranks, with tensor
// innermost. data_parallel is attention DP: each of its groups serves its own requests, and all groups share
// the experts. Experts are cut expert_parallel ways. What remains of tensor × context × data cuts the width
// of each expert.
//
// context_parallel ranks share the tokens of each prompt and hold equal parts of the KV cache. Prompts attend
// in one of two ways: keys and values are passed around (ring, arXiv 2310.01889, balanced between first and
// last tokens), or tokens are traded for heads (ulysses, arXiv 2309.14509). A decoding sequence runs on every
// rank of the group. Each rank attends to its part of the cache, and the partial outputs are merged.
// decode_context_parallel cuts the cache the same way among tensor-parallel ranks that would otherwise hold
// copies of it (arXiv 2507.07120, and the option of that name in vLLM).
//
// expert_balancing packs experts by their popularity. redundant_experts adds copies of popular ones to each
// layer, spread over its ranks like the other experts (workloads/architecture/expert_load.hpp).
#pragma once

#include <cstdint>

#include "base/document/fields.hpp"
#include "workloads/architecture/architecture.hpp"

namespace roofcast::workloads {

enum class ContextMethod : std::uint8_t { ring, ulysses };

struct Mapping {
  std::int64_t tensor_parallel = 1;
  std::int64_t pipeline_parallel = 1;
  std::int64_t expert_parallel = 1;
  std::int64_t data_parallel = 1;
  bool sequence_parallel = false;  // norms on 1/tensor_parallel of the tokens
  std::int64_t context_parallel = 1;
  ContextMethod context_method = ContextMethod::ring;
  std::int64_t decode_context_parallel = 1;
  bool expert_balancing = false;
  std::int64_t redundant_experts = 0;
  // In training: copies of the experts on the ranks that are left.
  std::int64_t expert_replicas = 1;

  // Ranks of one pipeline stage.
  std::int64_t stage_ranks() const { return tensor_parallel * context_parallel * data_parallel; }
  std::int64_t ranks() const { return stage_ranks() * pipeline_parallel; }
  // The parts into which the tokens of a KV cache are cut.
  std::int64_t cache_parts() const { return context_parallel * decode_context_parallel; }
  // The ranks that share the experts of one pipeline stage, and the parts into which each expert is cut.
  std::int64_t expert_ranks() const { return stage_ranks() / expert_replicas; }
  std::int64_t expert_tensor_parallel() const { return expert_ranks() / expert_parallel; }
  ExpertPlacement expert_placement() const {
    return {expert_parallel, expert_balancing || redundant_experts > 0, redundant_experts};
  }
};

void read(base::Fields& f, Mapping& mapping);

// Why a mapping does not divide a model.
enum class MappingFault : std::uint8_t {
  none,
  heads,
  kv_heads,
  intermediate,
  no_experts,
  experts,
  expert_width,
  expert_ranks,
  layers,
  recurrent_heads,
  context_heads,
  decode_context,
};
MappingFault fault_of(const Architecture& model, const Mapping& mapping);

}  // namespace roofcast::workloads
