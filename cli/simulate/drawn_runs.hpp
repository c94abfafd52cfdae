// SPDX-License-Identifier: Apache-2.0
//
// Whole training runs, drawn failure by failure, beside the closed form: `roofcast simulate` of a scenario with `run`.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "sim/scenario/scenario.hpp"
#include "sim/training/drawn_run.hpp"

namespace roofcast::cli {

struct DrawnRuns {
  std::string reason;  // why it cannot run; empty if it can
  std::string title;
  sim::RunOutcome closed;  // mean of the closed form
  std::vector<sim::RunOutcome> drawn;
  std::size_t seed = 1;
  double tokens_per_second = 0;  // of useful time, of a run with `days`; 0 for others
};

inline constexpr std::size_t kMostRuns = 1'000'000;

// Throws InputError.
DrawnRuns draw_runs(const sim::Scenario& scenario, std::size_t runs, std::size_t seed);

std::string text_of(const DrawnRuns& answer);
nlohmann::ordered_json json_of(const DrawnRuns& answer);

}  // namespace roofcast::cli
