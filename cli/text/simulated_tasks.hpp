// SPDX-License-Identifier: Apache-2.0
//
// What `roofcast simulate` tells of agents' tasks.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/replay/task_summary.hpp"
#include "sim/scenario/scenario.hpp"
#include "sim/scenario/sections.hpp"

namespace roofcast::cli {

struct SimulatedTasks {
  sim::TaskSummary summary;
  double per_gpu_hour = 0;
  double usd = 0;  // of a task; NaN when it is not rented, or at no known price
};

// Without the tasks that have a turn among the first `warm_up` requests; nothing where the requests are of no
// task.
std::optional<SimulatedTasks> tasks_of(const sim::Simulation& simulation,
                                       const sim::StreamedScenario& scenario, std::size_t warm_up);

using Facts = std::vector<std::pair<std::string, std::string>>;
Facts facts_of(const std::optional<SimulatedTasks>& tasks);

// Without their times.
nlohmann::ordered_json json_of(const SimulatedTasks& tasks);

}  // namespace roofcast::cli
