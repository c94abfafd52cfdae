// SPDX-License-Identifier: Apache-2.0
//
// How one replica of a model is spread over ranks (the `deployment:` section).
//
// tensor_parallel × data_parallel × pipeline_parallel ranks, tensor innermost. data_parallel is
// attention DP: each of its groups serves its own requests, the experts are shared by all. Experts
// are cut expert_parallel ways; what remains of tensor × data cuts each expert's width.
#pragma once

#include <cstdint>

#include "base/fields.hpp"
#include "workloads/architecture.hpp"

namespace roofcast::workloads {

struct Mapping {
  std::int64_t tensor_parallel = 1;
  std::int64_t pipeline_parallel = 1;
  std::int64_t expert_parallel = 1;
  std::int64_t data_parallel = 1;
  bool sequence_parallel = false;  // norms on 1/tensor_parallel of the tokens

  std::int64_t ranks() const { return tensor_parallel * pipeline_parallel * data_parallel; }
  // Ranks that share the experts of one pipeline stage, and ways each expert is cut.
  std::int64_t expert_ranks() const { return tensor_parallel * data_parallel; }
  std::int64_t expert_tensor_parallel() const { return expert_ranks() / expert_parallel; }
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
};
MappingFault fault_of(const Architecture& model, const Mapping& mapping);

}  // namespace roofcast::workloads
