// SPDX-License-Identifier: Apache-2.0
//
// The training steps that points of a sweep share: points that differ in their run alone have one step.
//
// A step is recognised by where its sections stand, as the iterations of sim/iteration/iteration_cache.hpp are. So these must
// stay where they are, unchanged, while the cache lives.
#pragma once

#include <cstddef>
#include <map>
#include <tuple>

#include "sim/result/serving_estimate.hpp"
#include "sim/scenario/scenario.hpp"

namespace roofcast::sim {

class StepCache {
 public:
  // Null if it is not known.
  const ServingEstimate* find(const ScenarioView& scenario) const;
  void keep(const ScenarioView& scenario, const ServingEstimate& step);

 private:
  using Key =
      std::tuple<const void*, const void*, const void*, const void*, const void*, const void*>;
  static Key key(const ScenarioView& scenario);
  static constexpr std::size_t kMost = 1024;

  std::map<Key, ServingEstimate> steps_;
};

}  // namespace roofcast::sim
