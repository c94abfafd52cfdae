// SPDX-License-Identifier: Apache-2.0
#include "sim/iteration/speculation_gain.hpp"

#include <memory>

#include "sim/iteration/draft_model.hpp"

namespace roofcast::sim {

std::optional<std::int64_t> break_even(const ScenarioView& s, std::int64_t context,
                                       Workspace& workspace) {
  const workloads::Speculation& speculation = s.serving->speculation;
  const std::unique_ptr<const DraftModel> draft = draft_model_of(s);
  ScenarioView speculating = s;
  speculating.draft = draft.get();
  const std::int64_t groups = s.mapping->data_parallel;
  for (std::int64_t power = 1; power <= s.serving->limits.max_sequences; power *= 2) {
    for (const std::int64_t sequences : {power, power + power / 2}) {
      workloads::Batch plain{sequences, 1, context, 0, 0, 0, groups};
      workloads::Batch verified = plain;
      verified.query_tokens = speculation.query_tokens();
      const base::Seconds with = iteration_cost(speculating, verified, workspace).latency;
      const base::Seconds without = iteration_cost(s, plain, workspace).latency;
      if (with >= speculation.tokens_per_iteration() * without) {
        return sequences;
      }
    }
  }
  return std::nullopt;
}

}  // namespace roofcast::sim
