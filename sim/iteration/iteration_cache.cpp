// SPDX-License-Identifier: Apache-2.0
#include "sim/iteration/iteration_cache.hpp"

namespace roofcast::sim {
namespace {

constexpr std::size_t kMostDeployments = 65'536;  // whose numbers are kept

}  // namespace

// Multiplying by an odd number carries every bit into the highest ones.
std::size_t IterationCache::place(const Key& key, int bits) {
  constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15;
  const workloads::Batch& b = key.batch;
  std::uint64_t hash = key.deployment;
  for (const std::int64_t next :
       {b.decode_sequences, b.query_tokens, b.context, b.prefill_sequences, b.prefill_tokens,
        b.cached_tokens, b.groups}) {
    hash = hash * kOdd + static_cast<std::uint64_t>(next);
  }
  return static_cast<std::size_t>(hash * kOdd >> (64 - bits));
}

std::optional<IterationCache::Key> IterationCache::key(const ScenarioView& s,
                                                       const workloads::Batch& batch) {
  if (!s.model->vision.empty() && s.traffic->images > 0) {
    return std::nullopt;
  }
  const Deployment deployment{s.platform, s.model,   s.precision,
                              s.mapping,  s.serving, s.launches_ahead};
  if (latest_number_ == 0 || deployment != latest_) {
    if (numbers_.size() >= kMostDeployments) {
      numbers_.clear();  // no number is given twice
    }
    const auto [at, added] = numbers_.try_emplace(deployment, last_number_ + 1);
    last_number_ += added ? 1 : 0;
    latest_ = deployment;
    latest_number_ = at->second;
  }
  return Key{latest_number_, batch};
}

}  // namespace roofcast::sim
