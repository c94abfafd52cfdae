// SPDX-License-Identifier: Apache-2.0
#include "models/operators/operator_cost.hpp"

#include "base/overloaded.hpp"
#include "models/operators/attention.hpp"
#include "models/operators/collective.hpp"
#include "models/operators/correction.hpp"
#include "models/operators/elementwise.hpp"
#include "models/operators/gemm.hpp"
#include "models/operators/grouped_gemm.hpp"
#include "models/operators/recurrence.hpp"
#include "models/operators/sparse_index.hpp"
#include "models/operators/table_lookup.hpp"

namespace roofcast::models {

Cost physical_cost_of(const workloads::Operator& op, const Machine& m, Anatomy* a) {
  return std::visit(
      base::overloaded{
          [&](const workloads::Gemm& o) { return gemm_cost(o, m, a); },
          [&](const workloads::GroupedGemm& o) { return grouped_gemm_cost(o, m, a); },
          [&](const workloads::PrefillAttention& o) { return prefill_attention_cost(o, m, a); },
          [&](const workloads::DecodeAttention& o) { return decode_attention_cost(o, m, a); },
          [&](const workloads::IndexScores& o) { return index_scores_cost(o, m, a); },
          [&](const workloads::StateScan& o) { return state_scan_cost(o, m, a); },
          [&](const workloads::StateUpdate& o) { return state_update_cost(o, m, a); },
          [&](const workloads::Elementwise& o) { return elementwise_cost(o, m, a); },
          [&](const workloads::TableLookup& o) { return table_lookup_cost(o, m, a); },
          [&](const workloads::ExpertRouting& o) { return expert_routing_cost(o, m, a); },
          [&](const workloads::Collective& o) { return collective_cost(o, m, a); },
      },
      op);
}

Cost cost_of(const workloads::Operator& op, const Machine& m) {
  Cost cost = physical_cost_of(op, m);
  correct(op, m, cost);
  return cost;
}

}  // namespace roofcast::models
