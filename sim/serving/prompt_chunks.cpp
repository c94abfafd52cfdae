// SPDX-License-Identifier: Apache-2.0
#include "sim/serving/prompt_chunks.hpp"

#include <algorithm>

#include "base/integers.hpp"

namespace roofcast::sim {

// prompt is P, budget is B − b, whole is k and iterations is c of sim/serving/uniform_closed_loop.hpp.
PromptPlan plan_of(const ScenarioView& s, std::int64_t decodes) {
  const workloads::Traffic& t = *s.traffic;
  const std::int64_t prompt = t.input_tokens - t.cached_tokens;
  const std::int64_t budget =
      std::max<std::int64_t>(1, s.serving->limits.max_tokens_per_iteration - decodes);
  PromptPlan plan;
  if (prompt <= budget) {
    plan.whole = static_cast<double>(budget / prompt);
    plan.chunk = prompt;
    plan.cached = t.cached_tokens;
  } else {
    const std::int64_t iterations = base::ceil_div(prompt, budget);
    plan.iterations = static_cast<double>(iterations);
    plan.chunk = base::ceil_div(prompt, iterations);
    plan.cached = t.cached_tokens + (prompt - plan.chunk) / 2;
  }
  return plan;
}

}  // namespace roofcast::sim
