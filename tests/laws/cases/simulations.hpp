// SPDX-License-Identifier: Apache-2.0
//
// Simulations for laws of the engine: each case under an open and a closed loop, without the front end between the
// clients and the engine.
#pragma once

#include <array>

#include "sim/replay/simulate.hpp"
#include "sim/scenario/sections.hpp"
#include "tests/catch.hpp"
#include "workloads/traffic/request_stream.hpp"

namespace roofcast::laws {

inline void without_front_end(workloads::Stack& stack) {
  stack.intake_overhead = {};
  stack.token_overhead = {};
  stack.message_overhead = {};
}

inline sim::Simulation run(const sim::StreamedScenario& s) {
  return sim::simulate(sim::view(s.scenario), workloads::draw_requests(s.stream),
                       s.stream.concurrency);
}

// `scenario` of a case and a traffic section.
template <class Cases, class MakeScenario, class Law>
void for_each_run(const Cases& cases, const std::array<const char*, 2>& traffics,
                  MakeScenario scenario, Law law) {
  for (const auto& c : cases) {
    for (const char* traffic : traffics) {
      INFO(c.deployment << " " << c.serving << " " << traffic);
      const sim::StreamedScenario s = scenario(c, traffic);
      const sim::Simulation simulation = run(s);
      REQUIRE(simulation.reason.empty());
      law(s, simulation);
    }
  }
}

}  // namespace roofcast::laws
