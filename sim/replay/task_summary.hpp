// SPDX-License-Identifier: Apache-2.0
//
// What a simulation of agents (workloads/traffic/agents.hpp) amounts to, task by task.
//
// Tasks a second are counted while every agent has work, from when as many have ended as there are agents (they
// begin together) until none is left to begin; where there are at most two tasks an agent, not at all. Shares are of
// the time that agents and sub-agents spend; one that waits for its sub-agents spends none.
#pragma once

#include "sim/replay/simulation_summary.hpp"

namespace roofcast::sim {

struct TaskSummary {
  std::size_t tasks = 0;        // complete
  std::size_t failed = 0;       // a turn was longer than the context or the KV cache
  SimulatedTimes time;          // of a task
  double turns = 0;             // of a task, mean, sub-agents' with them
  double tasks_per_second = 0;  // NaN where it is not counted
  double tools_share = 0;
  double waiting_share = 0;  // before a turn's first iteration, stages with it
  double prefill_share = 0;  // from there to the first token
  double decode_share = 0;
};

// Leaves out the first `warm_up` tasks; none where the simulation is not of tasks. `agents`: how many work at
// a time.
TaskSummary summarise_tasks(const Simulation& simulation, std::size_t warm_up, std::size_t agents);

}  // namespace roofcast::sim
