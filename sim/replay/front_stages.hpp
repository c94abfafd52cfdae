// SPDX-License-Identifier: Apache-2.0
//
// Stages that requests pass one after the other before the front end. Each stage has its own servers and one queue.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/scatter.hpp"
#include "base/statistics/random.hpp"
#include "workloads/traffic/requests.hpp"

namespace roofcast::sim {

// A duration drawn for this request. It does not depend on the other requests.
inline base::Seconds drawn(const workloads::Duration& duration, std::uint64_t seed,
                           std::uint64_t request, std::string_view what) {
  base::Random random(base::seed_of_part(seed, request), what);
  return duration.draw(random);
}

class Stages {
 public:
  Stages(const std::vector<workloads::Stage>& stages, const workloads::Requests& requests)
      : stages_(stages), seed_(requests.seed) {
    for (const workloads::Stage& stage : stages_) {
      // Each request takes one at most.
      free_.emplace_back(std::min(static_cast<std::size_t>(stage.servers),
                                  std::max<std::size_t>(1, requests.requests.size())));
    }
    passed_.resize(stages_.empty() ? 0 : requests.requests.size());
  }

  bool empty() const { return stages_.empty(); }
  bool all_passed(std::size_t request) const {
    return stages_.empty() || passed_[request] == stages_.size();
  }

  struct Passed {
    base::Seconds time;
    bool beside =
        false;  // the stage takes `time` of the model's GPUs, for which it has yet to wait
  };
  // When a request that joins its next stage at `now` has passed it. Calls must be in the order of `now`.
  Passed pass(std::size_t request, base::Seconds now) {
    const std::size_t stage = passed_[request]++;
    if (stages_[stage].servers == 0) {
      return {stages_[stage].service.time, true};
    }
    base::Seconds& free = *std::min_element(free_[stage].begin(), free_[stage].end());
    const std::uint64_t draw = request * stages_.size() + stage;
    free = std::max(free, now) + drawn(stages_[stage].service, seed_, draw, "stage");
    return {free};
  }

 private:
  const std::vector<workloads::Stage>& stages_;
  std::uint64_t seed_;
  std::vector<std::vector<base::Seconds>> free_;  // time at which each server is free
  std::vector<std::size_t> passed_;  // stages that each request has passed; empty without stages
};

}  // namespace roofcast::sim
