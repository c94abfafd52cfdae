// SPDX-License-Identifier: Apache-2.0
//
// What requests pass one after the other before the front end, each stage with its servers and a queue.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/fnv.hpp"
#include "workloads/traffic/requests.hpp"

namespace roofcast::sim {

// Drawn by the request, so that it takes the same whatever is before it.
inline double drawn(const workloads::Duration& duration, std::uint64_t seed, std::uint64_t request,
                    std::string_view what) {
  base::Random random(base::fnv(seed, request), what);
  return duration.draw(random).si();
}

class Stages {
 public:
  explicit Stages(const workloads::Requests& requests)
      : stages_(requests.stages), seed_(requests.seed) {
    for (const workloads::Stage& stage : stages_) {
      free_.emplace_back(static_cast<std::size_t>(stage.servers), 0.0);
    }
    passed_.resize(stages_.empty() ? 0 : requests.requests.size());
  }

  bool all_passed(std::size_t request) const {
    return stages_.empty() || passed_[request] == stages_.size();
  }

  // When a request that joins its next stage at `now` has passed it; asked in the order of `now`.
  double pass(std::size_t request, double now) {
    const std::size_t stage = passed_[request]++;
    double& free = *std::min_element(free_[stage].begin(), free_[stage].end());
    const std::uint64_t draw = request * stages_.size() + stage;
    free = std::max(free, now) + drawn(stages_[stage].service, seed_, draw, "stage");
    return free;
  }

 private:
  const std::vector<workloads::Stage>& stages_;
  std::uint64_t seed_;
  std::vector<std::vector<double>> free_;  // when each server is
  std::vector<std::size_t> passed_;        // by each request; empty without stages
};

}  // namespace roofcast::sim
