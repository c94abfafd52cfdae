// SPDX-License-Identifier: Apache-2.0
#include "sim/iteration/iteration_cache.hpp"

#include <limits>

namespace roofcast::sim {
namespace {

constexpr std::size_t kMostDeployments = 65'536;  // whose numbers are kept

// nullopt where they do not say all of the batch.
std::optional<IterationCache::Key::Batch> numbers_of(const workloads::Batch& batch) {
  const auto& [decodes, query, context, prompts, tokens, cached, groups, mean_rank, last_logits,
               loss, predicted] = batch;
  const std::int64_t all = decodes | query | context | prompts | tokens | cached | groups;
  if (all < 0 || all > std::numeric_limits<std::int32_t>::max() || mean_rank || last_logits ||
      loss || predicted != 0) {
    return std::nullopt;
  }
  const auto number = [](std::int64_t value) { return static_cast<std::int32_t>(value); };
  return IterationCache::Key::Batch{number(decodes), number(query),  number(context),
                                    number(prompts), number(tokens), number(cached),
                                    number(groups)};
}

}  // namespace

// Multiplying by an odd number carries every bit into the highest ones.
std::size_t IterationCache::place(const Key& key, int bits) {
  constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15;
  std::uint64_t hash = 0;
  for (const std::uint64_t word : key.words()) {
    hash = (hash + word) * kOdd;
    hash ^= hash >> 32U;
  }
  return static_cast<std::size_t>(hash * kOdd >> (64 - bits));
}

std::optional<IterationCache::Key> IterationCache::key(const ScenarioView& s,
                                                       const workloads::Batch& batch) {
  const std::optional<Key::Batch> numbers = numbers_of(batch);
  if (!numbers || (!s.model->vision.empty() && s.traffic->images > 0)) {
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
  return Key{latest_number_, *numbers};
}

}  // namespace roofcast::sim
