// SPDX-License-Identifier: Apache-2.0
//
// The answers of solve (sim/decide/solve.hpp, choice.hpp), found again on the simulation.
//
// One knob. The estimate says where to look. From its edge, steps that double lead to a value that meets and one
// that does not; between them the edge is found by bisection, to kExact of the value or to the next whole number. A
// value meets if every condition holds by kSure standard errors. The answer is then replayed with seven more seeds. It
// stands if the mean of the eight holds by kSurer standard deviations of one replay; else it moves back by steps.
//
// Several knobs. The best by the estimate is replayed. If the replay breaks it, its bounds are tightened
// (ChoiceSearch::reject), and the next best is tried.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sim/confirm/verdict.hpp"
#include "sim/decide/choice.hpp"
#include "sim/decide/solve.hpp"

namespace roofcast::sim {

// The replay with knobs at these values; `seed` is added to that of the traffic.
using ReplayAt = std::function<Replayed(const std::vector<std::string>& values, std::int64_t seed)>;

struct ReplayedBoundary {
  Boundary boundary;          // its estimates are the simulated ones
  Replayed replayed;          // of its value
  std::string beyond_misses;  // why the value beyond does not meet
  double edge = 0.0;          // before more seeds were tried
  std::size_t replays = 0;
};
// `closed_form` is the boundary by the estimate. With `looks_once`, no more seeds are tried.
ReplayedBoundary replayed_boundary(const KnobRange& range, const std::vector<Condition>& conditions,
                                   const Boundary& closed_form, const ReplayAt& replay_at,
                                   bool looks_once = false);

struct ReplayedChoice {
  Choice choice;  // not found if every one that was tried is broken
  Replayed replayed;
  struct Broken {
    std::vector<std::string> values;
    std::string note;
  };
  std::vector<Broken> broken;  // the best first
  bool gave_up = false;
};
ReplayedChoice replayed_choice(ChoiceSearch& search, const std::vector<Condition>& conditions,
                               const ReplayAt& replay_at);

}  // namespace roofcast::sim
