// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping.hpp"

namespace roofcast::workloads {

void read(base::Fields& f, Mapping& mapping) {
  const base::Range ways{1.0, 1e6};
  f.integer("tensor_parallel", mapping.tensor_parallel, ways, base::optional);
  f.integer("pipeline_parallel", mapping.pipeline_parallel, ways, base::optional);
  f.integer("expert_parallel", mapping.expert_parallel, ways, base::optional);
  f.integer("data_parallel", mapping.data_parallel, ways, base::optional);
  f.flag("sequence_parallel", mapping.sequence_parallel, base::optional);
}

MappingFault fault_of(const Architecture& model, const Mapping& mapping) {
  const std::int64_t tp = mapping.tensor_parallel;
  if (model.attention.query_heads % tp != 0) {
    return MappingFault::heads;
  }
  const std::int64_t kv_heads = model.attention.kv_heads;
  if (kv_heads > 0 && kv_heads % tp != 0 && tp % kv_heads != 0) {
    return MappingFault::kv_heads;
  }
  if (mapping.pipeline_parallel > model.layer_count()) {
    return MappingFault::layers;
  }
  if (model.mlp.intermediate % tp != 0) {
    return MappingFault::intermediate;
  }
  if (model.moe.experts == 0) {
    return mapping.expert_parallel > 1 ? MappingFault::no_experts : MappingFault::none;
  }
  if (mapping.expert_ranks() % mapping.expert_parallel != 0) {
    return MappingFault::expert_ranks;
  }
  if (model.moe.experts % mapping.expert_parallel != 0) {
    return MappingFault::experts;
  }
  if (model.moe.intermediate % mapping.expert_tensor_parallel() != 0) {
    return MappingFault::expert_width;
  }
  if (model.moe.shared_intermediate % tp != 0) {
    return MappingFault::intermediate;
  }
  return MappingFault::none;
}

}  // namespace roofcast::workloads
