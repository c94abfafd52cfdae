// SPDX-License-Identifier: Apache-2.0
#include "workloads/architecture/mapping.hpp"

#include <algorithm>

namespace roofcast::workloads {

void read(base::Fields& f, Mapping& mapping) {
  const base::Range ways{1.0, 1e6};
  f.integer("tensor_parallel", mapping.tensor_parallel, ways, base::optional);
  f.integer("pipeline_parallel", mapping.pipeline_parallel, ways, base::optional);
  f.integer("expert_parallel", mapping.expert_parallel, ways, base::optional);
  f.integer("data_parallel", mapping.data_parallel, ways, base::optional);
  f.flag("sequence_parallel", mapping.sequence_parallel, base::optional);
  f.integer("context_parallel", mapping.context_parallel, ways, base::optional);
  f.choice<ContextMethod>("context_method", mapping.context_method,
                          {{"ring", ContextMethod::ring}, {"ulysses", ContextMethod::ulysses}},
                          base::optional);
  f.integer("decode_context_parallel", mapping.decode_context_parallel, ways, base::optional);
  f.flag("expert_balancing", mapping.expert_balancing, base::optional);
  f.integer("redundant_experts", mapping.redundant_experts, {0.0, 1e6}, base::optional);
}

namespace {

// Whether heads can be cut: as many on each rank, or each copied to as many ranks.
bool divides(std::int64_t ranks, std::int64_t heads) {
  return heads % ranks == 0 || ranks % heads == 0;
}

MappingFault layer_fault(const Architecture& model, const LayerGroup& group,
                         const Mapping& mapping) {
  const std::int64_t tp = mapping.tensor_parallel;
  const bool gqa = model.attention.kind == AttentionKind::gqa;
  if (attends(group.mixer)) {
    if (gqa && !divides(tp, group.kv_heads)) {
      return MappingFault::kv_heads;
    }
    // Only ranks that hold copies of a KV head can cut its context instead.
    const std::int64_t copies = gqa ? tp / std::min(tp, group.kv_heads) : tp;
    if (copies % mapping.decode_context_parallel != 0) {
      return MappingFault::decode_context;
    }
  } else if (group.mixer != Mixer::none) {
    const RecurrentShape& r = model.recurrent(group.mixer);
    const std::int64_t ways = tp * mapping.context_parallel;
    if (r.heads % ways != 0 || !divides(ways, r.key_heads)) {
      return MappingFault::recurrent_heads;
    }
  }
  if (group.ffn == Ffn::mlp && group.intermediate % tp != 0) {
    return MappingFault::intermediate;
  }
  return MappingFault::none;
}

}  // namespace

MappingFault fault_of(const Architecture& model, const Mapping& mapping) {
  const std::int64_t tp = mapping.tensor_parallel;
  if (model.attention.query_heads % tp != 0) {
    return MappingFault::heads;
  }
  if (mapping.context_method == ContextMethod::ulysses &&
      model.attention.query_heads % (tp * mapping.context_parallel) != 0) {
    return MappingFault::context_heads;
  }
  if (mapping.pipeline_parallel > model.layer_count()) {
    return MappingFault::layers;
  }
  for (const LayerGroup& group : model.layers) {
    if (const MappingFault fault = layer_fault(model, group, mapping);
        fault != MappingFault::none) {
      return fault;
    }
  }
  if (model.moe.experts == 0) {
    return mapping.expert_parallel > 1 || mapping.redundant_experts > 0 ? MappingFault::no_experts
                                                                        : MappingFault::none;
  }
  if (mapping.expert_ranks() % mapping.expert_parallel != 0) {
    return MappingFault::expert_ranks;
  }
  if ((model.moe.experts + mapping.redundant_experts) % mapping.expert_parallel != 0) {
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
