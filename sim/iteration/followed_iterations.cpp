// SPDX-License-Identifier: Apache-2.0
#include "sim/iteration/followed_iterations.hpp"

namespace roofcast::sim {

using base::Seconds;

FollowedIterations::FollowedIterations(const ScenarioView& s, Workspace& workspace)
    : s_(s),
      workspace_(workspace),
      costs_(s, workspace),
      ranks_(s.mapping->data_parallel),
      query_(static_cast<double>(s.serving->speculation.query_tokens())),
      by_groups_(static_cast<std::size_t>(ranks_) + 1) {}

FollowedIterations::Group& FollowedIterations::group(std::int64_t groups) {
  auto& found = by_groups_[static_cast<std::size_t>(groups)];
  if (!found) {
    found = std::make_unique<Group>(Group{CoarseIterations(s_, workspace_, groups), {}});
  }
  return *found;
}

const FollowedIterations::Span& FollowedIterations::alone(std::int64_t decodes,
                                                          std::int64_t groups) {
  std::vector<Span>& known = group(groups).alone;
  const auto index = static_cast<std::size_t>(decodes);
  if (index >= known.size()) {
    known.resize(index + 1);
  }
  Span& entry = known[index];
  if (entry.latency == Seconds{}) {
    const IterationTime t = costs_.decode(static_cast<double>(decodes), groups);
    entry = {t.latency, t.period, costs_.context_token(decodes)};
  }
  return entry;
}

FollowedIterations::Span FollowedIterations::time(const Batch& b, std::int64_t groups) {
  if (b.prompts == 0) {
    return alone(b.decodes, groups);
  }
  const IterationTime t = group(groups).coarse(b.decodes, b.tokens, b.attended);
  return {t.latency, t.period, {}};
}

FollowedIterations::Span FollowedIterations::operator()(std::span<const Batch> ranks) {
  if (ranks.size() == 1) {
    return time(ranks.front(), 1);
  }
  const auto tokens = [&](const Batch& b) {
    return static_cast<double>(b.decodes) * query_ + b.tokens;
  };
  double all = 0.0;
  for (const Batch& b : ranks) {
    all += tokens(b);
  }
  Span slowest;
  for (const Batch& b : ranks) {
    if (tokens(b) > 0.0) {
      const Span t = time(b, equal_ranks(all, tokens(b), ranks_));
      slowest.latency = base::max(slowest.latency, t.latency);
      slowest.period = base::max(slowest.period, t.period);
      slowest.token = base::max(slowest.token, t.token);
    }
  }
  return slowest;
}

FollowedIterations::Span FollowedIterations::with_prompt(std::int64_t decodes, double tokens,
                                                         double attended) {
  const double each = static_cast<double>(decodes) * query_;
  const double one = each + tokens;
  const double all = static_cast<double>(ranks_) * each + tokens;
  return time({decodes, tokens, attended, 1}, equal_ranks(all, one, ranks_));
}

}  // namespace roofcast::sim
