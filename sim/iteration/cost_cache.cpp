// SPDX-License-Identifier: Apache-2.0
#include "sim/iteration/cost_cache.hpp"

#include <bit>
#include <initializer_list>

#include "models/operators/operator_cost.hpp"

namespace roofcast::sim {
namespace {

constexpr int kGemmBits = 12;
constexpr int kCollectiveBits = 10;

// Multiplying by an odd number carries every bit of a shape into the highest ones.
std::size_t place_of(std::initializer_list<std::int64_t> shape, int bits) {
  constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15;
  std::uint64_t hash = 0;
  for (const std::int64_t next : shape) {
    hash = hash * kOdd + static_cast<std::uint64_t>(next);
  }
  return static_cast<std::size_t>(hash * kOdd >> (64 - bits));
}

}  // namespace

CostCache::CostCache()
    : gemms_(std::size_t{1} << kGemmBits), collectives_(std::size_t{1} << kCollectiveBits) {}

template <class Op>
models::Cost CostCache::kept(std::vector<Entry<Op>>& entries, std::size_t place, const Op& op,
                             const models::Machine& machine) {
  Entry<Op>& entry = entries[place];
  if (!(machine.identity == entry.machine) || !(entry.op == op)) {
    entry = {machine.identity.number(), op, models::cost_of(op, machine)};
  }
  return entry.cost;
}

models::Cost CostCache::of(const workloads::Operator& op, const models::Machine& machine) {
  if (const auto* gemm = std::get_if<workloads::Gemm>(&op)) {
    return kept(gemms_, place_of({gemm->m, gemm->n, gemm->k, gemm->batch}, kGemmBits), *gemm,
                machine);
  }
  if (const auto* collective = std::get_if<workloads::Collective>(&op)) {
    // Bytes are whole multiples of many: what tells them apart is in the high bits of the double.
    const auto bytes = std::bit_cast<std::int64_t>(collective->bytes) >> 16;
    return kept(collectives_, place_of({bytes, collective->ranks}, kCollectiveBits), *collective,
                machine);
  }
  return models::cost_of(op, machine);
}

}  // namespace roofcast::sim
