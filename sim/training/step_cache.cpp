// SPDX-License-Identifier: Apache-2.0
#include "sim/training/step_cache.hpp"

namespace roofcast::sim {

StepCache::Key StepCache::key(const ScenarioView& s) {
  return {s.platform, s.model, s.precision, s.mapping, s.serving, s.training};
}

const ServingEstimate* StepCache::find(const ScenarioView& s) const {
  const auto found = steps_.find(key(s));
  return found == steps_.end() ? nullptr : &found->second;
}

void StepCache::keep(const ScenarioView& s, const ServingEstimate& step) {
  if (steps_.size() == kMost) {
    steps_.clear();
  }
  steps_.emplace(key(s), step);
}

}  // namespace roofcast::sim
