// SPDX-License-Identifier: Apache-2.0
#include "models/operators/operator_math.hpp"

#include <variant>

#include "base/overloaded.hpp"

namespace roofcast::models {

base::MathType math_of(const workloads::Operator& op, const Machine& m) {
  using base::MathType;
  return std::visit(
      base::overloaded{
          [](const workloads::Gemm& o) { return base::math_of(o.activations, o.weights); },
          [](const workloads::GroupedGemm& o) { return base::math_of(o.activations, o.weights); },
          [&](const workloads::PrefillAttention& o) {
            return m.attention_math(workloads::multiplied(o));
          },
          [&](const workloads::DecodeAttention& o) { return m.attention_math(o.heads.cache); },
          [&](const workloads::IndexScores& o) { return m.attention_math(o.keys); },
          [&](const workloads::StateScan&) { return m.attention_math(base::NumberFormat::bf16); },
          [](const workloads::StateUpdate&) { return MathType::fp32; },
          [](const workloads::Elementwise&) { return MathType::fp32; },
          [](const workloads::TableLookup&) { return MathType::fp32; },
          [](const workloads::ExpertRouting&) { return MathType::fp32; },
          [](const workloads::Collective&) { return MathType::fp32; },
      },
      op);
}

}  // namespace roofcast::models
