// SPDX-License-Identifier: Apache-2.0
#include "sim/scenario/scenario.hpp"

namespace roofcast::sim {

bool returns_to_context(const ScenarioView& s) {
  return s.mapping->data_parallel == 1 &&
         (s.serving->replicas == 1 || s.serving->router == workloads::Router::session);
}

}  // namespace roofcast::sim
