// SPDX-License-Identifier: Apache-2.0
#include "sim/iteration/memory.hpp"

#include "sim/iteration/draft_model.hpp"
#include "sim/iteration/front_models.hpp"

namespace roofcast::sim {

models::Footprint footprint_of(const ScenarioView& s) {
  const base::Bytes draft = s.draft != nullptr ? s.draft->weights : base::Bytes{};
  const base::Bytes front = s.front != nullptr ? s.front->weights : base::Bytes{};
  return models::footprint(s.platform->system.chip, *s.model, *s.precision, *s.mapping, *s.serving,
                           draft + front);
}

base::Bytes states_of(const ScenarioView& s) {
  return static_cast<double>(s.serving->speculation.query_tokens()) *
         models::state_bytes(*s.model, *s.precision, *s.mapping);
}

base::Bytes keys_of(double tokens, const ScenarioView& s) {
  const std::int64_t block = s.serving->stack.kv_block_tokens;
  const base::Bytes own = models::cache_bytes(tokens, *s.model, *s.precision, *s.mapping, block);
  return s.draft == nullptr
             ? own
             : own + models::cache_bytes(tokens, s.draft->resident, s.draft->precision,
                                         s.draft->mapping, block);
}

Cache cache_of(const ScenarioView& s) {
  const workloads::Traffic& t = *s.traffic;
  const auto full = static_cast<double>(t.input_tokens + t.output_tokens);
  const auto drafted = static_cast<double>(s.serving->speculation.verified());
  const base::Bytes states = states_of(s);
  return {states + keys_of(workloads::mean_context(t) + drafted, s),
          states + keys_of(full + drafted, s)};
}

}  // namespace roofcast::sim
