// SPDX-License-Identifier: Apache-2.0
#include "sim/training/newton_schulz.hpp"

#include <algorithm>
#include <cmath>

#include "base/integers.hpp"
#include "sim/training/pass.hpp"

namespace roofcast::sim {
namespace {

constexpr double kNewtonSchulzSteps = 5.0;

base::Seconds orthogonalised(std::int64_t rows, std::int64_t columns, const ScenarioView& s) {
  const auto [shorter, longer] = std::minmax(rows, columns);
  const auto product = [&](std::int64_t m, std::int64_t n, std::int64_t k) {
    const workloads::Gemm gemm{m, n, k, 1, base::NumberFormat::bf16, base::NumberFormat::bf16};
    return training_kernel(gemm, s.platform->machine, *s.training).time;
  };
  return kNewtonSchulzSteps *
         (product(shorter, shorter, longer) + product(shorter, shorter, shorter) +
          product(shorter, longer, shorter));
}

}  // namespace

//   stage   share of the layers that the fullest stage has      longest   s, one matrix
base::Seconds newton_schulz_time(const workloads::Graph& backward, const ScenarioView& s,
                                 const workloads::Mapping& mapping) {
  const double layers = base::as_double(s.model->layer_count());
  const double stage = std::ceil(layers / base::as_double(mapping.pipeline_parallel)) / layers;
  const bool whole = s.training->sharding == workloads::Sharding::none;
  base::Seconds all, longest;
  const auto add = [&](std::int64_t rows, std::int64_t columns, double matrices,
                       std::int64_t replicas) {
    const base::Seconds one = orthogonalised(rows, columns, s);
    all += stage * matrices / (whole ? 1.0 : base::as_double(replicas)) * one;
    longest = base::max(longest, one);
  };
  for (const workloads::Call& call : backward) {
    if (!call.weight_gradient || !call.in_layers) {
      continue;
    }
    if (const auto* gemm = std::get_if<workloads::Gemm>(&call.op)) {
      add(gemm->m, gemm->n, call.count * base::as_double(gemm->batch),
          mapping.data_parallel * mapping.context_parallel);
    } else if (const auto* experts = std::get_if<workloads::GroupedGemm>(&call.op)) {
      add(experts->n, experts->k, call.count * experts->distinct, mapping.expert_replicas);
    }
  }
  return base::max(all, longest);
}

}  // namespace roofcast::sim
