// SPDX-License-Identifier: Apache-2.0
//
// Llama-3.1-70B in fp8 on eight H200s, for tests of queues.
#pragma once

#include "sim/estimate.hpp"
#include "sim/scenario/sections.hpp"
#include "tests/laws/catalog.hpp"

namespace roofcast {

inline sim::Scenario eight_h200(const workloads::Traffic& traffic) {
  return {laws::platform("hgx_h200"),
          laws::model("llama-3.1-70b"),
          laws::precision("fp8"),
          {{{8, 1, 1, 1, false}, {}}, {}},
          laws::servings().front(),
          traffic,
          {}};
}

inline sim::ServingEstimate estimated(const sim::Scenario& scenario) {
  sim::Workspace workspace;
  return sim::estimate(sim::view(scenario), workspace);
}

}  // namespace roofcast
