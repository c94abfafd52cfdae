// SPDX-License-Identifier: Apache-2.0
#include "sim/confirm/full_iterations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace roofcast::sim {

std::string full_iterations(const ScenarioView& s, const ServingEstimate& e) {
  constexpr double kFew = 0.01;  // share of the prompts
  if (s.training != nullptr || !e.fits() || s.pools != nullptr || s.traffic->agents ||
      s.serving->policy.chunked_prompts ||
      s.serving->policy.order == workloads::ScheduleOrder::prompts_first) {
    return {};
  }
  const workloads::Traffic& t = *s.traffic;
  const double clients = static_cast<double>(t.concurrency) /
                         static_cast<double>(s.serving->replicas * s.mapping->data_parallel);
  const double others = t.arrivals ? e.steady.running : std::min(e.max_running, clients) - 1.0;
  const std::int64_t beside =
      static_cast<std::int64_t>(std::floor(others)) * s.serving->speculation.query_tokens();
  const std::int64_t budget = s.serving->limits.max_tokens_per_iteration;
  const double share = 1.0 - workloads::share_up_to(t.input, budget + t.cached_tokens - beside);
  if (beside <= 0 || share < kFew) {
    return {};
  }
  return fmt::format(
      "{:.0f}% of the prompts do not fit beside {} tokens of sequences that decode: an iteration "
      "has {} tokens, and {} does not chunk prompts. They wait until enough sequences end; "
      "serving.max_tokens_per_iteration: {} is enough",
      100.0 * share, beside, budget, s.serving->stack.name,
      workloads::longest(t.input) - t.cached_tokens + beside);
}

}  // namespace roofcast::sim
