// SPDX-License-Identifier: Apache-2.0
//
// Summary of a simulation of agents (workloads/traffic/agents.hpp), task by task.
//
// Tasks per second follow from Little's law, X = L/R: R is the mean time of a task, and L the tasks in progress, a mean from
// where the first task that counts begins to where the last one does. From then on agents are without work. With at most two tasks
// per agent, there is no X. Where tasks arrive by themselves, those are counted that end between the first arrival and the
// last. Shares are shares of the time that agents and sub-agents spend. A session that waits for its
// sub-agents spends none.
#pragma once

#include "sim/replay/simulation_summary.hpp"

namespace roofcast::sim {

struct TaskSummary {
  std::size_t tasks = 0;        // complete tasks
  std::size_t failed = 0;       // tasks with a turn longer than the context or the KV cache
  SimulatedTimes time;          // of a task
  double turns = 0;             // mean per task, sub-agents included
  double in_progress = 0;       // tasks of agents at a time, without those that fail
  double tasks_per_second = 0;  // 1/s; NaN if it is not known
  double tools_share = 0;
  double waiting_share = 0;  // before the first iteration of a turn, stages included
  double prefill_share = 0;  // from there to the first token
  double decode_share = 0;
};

// Leaves out the first `warm_up` tasks, and those without requests in it. There are no tasks if the simulation has no agents. `agents` is the number that
// work at a time; 0: tasks arrive by themselves.
TaskSummary summarise_tasks(const Simulation& simulation, std::size_t warm_up, std::size_t agents);

}  // namespace roofcast::sim
