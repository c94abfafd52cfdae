// SPDX-License-Identifier: Apache-2.0
#include "sim/sweep_workspaces.hpp"

#include <algorithm>

#include "sim/iteration/iteration_cache.hpp"
#include "sim/training/step_cache.hpp"

namespace roofcast::sim {

SweepWorkspace::SweepWorkspace() {
  staying_.costs.emplace();
  staying_.iterations = std::make_shared<IterationCache>();
  passing_.costs.emplace();
  passing_.steps = std::make_shared<StepCache>();
}

Workspace& SweepWorkspace::of(const ScenarioView& s) {
  return s.pools == nullptr && s.training == nullptr ? staying_ : passing_;
}

void SweepWorkspaces::reserve(unsigned threads) {
  by_thread_.resize(std::max<std::size_t>(by_thread_.size(), threads));
}

SweepWorkspace& SweepWorkspaces::of(unsigned thread) {
  std::unique_ptr<SweepWorkspace>& own = by_thread_[thread];
  if (own == nullptr) {
    own = std::make_unique<SweepWorkspace>();
  }
  return *own;
}

}  // namespace roofcast::sim
