// SPDX-License-Identifier: Apache-2.0
#include "sim/iteration/cost_cache.hpp"

#include "models/operators/operator_cost.hpp"

namespace roofcast::sim {
namespace {

constexpr int kBits = 12;

// Multiplying by an odd number carries every bit of a shape into the highest ones.
std::size_t place_of(const workloads::Gemm& op) {
  constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15;
  auto hash = static_cast<std::uint64_t>(op.m);
  for (const std::int64_t next : {op.n, op.k, op.batch}) {
    hash = hash * kOdd + static_cast<std::uint64_t>(next);
  }
  return static_cast<std::size_t>(hash * kOdd >> (64 - kBits));
}

}  // namespace

CostCache::CostCache() : entries_(std::size_t{1} << kBits) {}

models::Cost CostCache::of(const workloads::Operator& op, const models::Machine& machine) {
  const auto* gemm = std::get_if<workloads::Gemm>(&op);
  if (gemm == nullptr) {
    return models::cost_of(op, machine);
  }
  Entry& entry = entries_[place_of(*gemm)];
  if (!(machine.identity == entry.machine) || !(entry.op == *gemm)) {
    entry = {machine.identity.number(), *gemm, models::cost_of(op, machine)};
  }
  return entry.cost;
}

}  // namespace roofcast::sim
