// SPDX-License-Identifier: Apache-2.0
#include "sim/replay/task_summary.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace roofcast::sim {
namespace {

struct Task {
  base::Seconds first = base::Seconds::infinity();
  base::Seconds last;
  double turns = 0.0;
  bool failed = false;
};

std::vector<Task> tasks_of(const Simulation& simulation) {
  std::vector<Task> tasks;
  for (const ServedRequest& r : simulation.requests) {
    if (r.task < 0) {
      continue;
    }
    const auto index = static_cast<std::size_t>(r.task);
    if (index >= tasks.size()) {
      tasks.resize(index + 1);
    }
    Task& task = tasks[index];
    task.first = std::min(task.first, r.arrival);
    task.last = std::max(task.last, r.last_token);
    task.turns += 1.0;
    task.failed = task.failed || r.rejected;
  }
  return tasks;
}

}  // namespace

namespace {

// 1/s, of tasks that arrive by themselves.
double rate_of_arrived(const std::vector<Task>& tasks, std::size_t warm_up) {
  if (warm_up + 1 >= tasks.size()) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  const base::Seconds from = tasks[warm_up].first;
  const base::Seconds to = tasks.back().first;
  const auto ended = std::count_if(tasks.begin(), tasks.end(), [&](const Task& task) {
    return !task.failed && task.last > from && task.last <= to;
  });
  return static_cast<double>(ended) / (to - from).si();
}

// A mean over time, from where task `warm_up` begins to where the last one does.
double in_progress(const std::vector<Task>& tasks, std::size_t warm_up) {
  const base::Seconds from = tasks[warm_up].first;
  const base::Seconds to = tasks.back().first;
  base::Seconds sum;
  for (const Task& task : tasks) {
    if (!task.failed) {
      sum += base::max(base::Seconds{}, base::min(task.last, to) - base::max(task.first, from));
    }
  }
  return sum / (to - from);
}

}  // namespace

TaskSummary summarise_tasks(const Simulation& simulation, std::size_t warm_up, std::size_t agents) {
  const std::vector<Task> tasks = tasks_of(simulation);
  TaskSummary s;
  std::vector<base::Seconds> times;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    if (tasks[i].turns == 0.0) {
      continue;  // its requests are not in this part of a simulation
    }
    if (i < warm_up) {
      continue;
    }
    if (tasks[i].failed) {
      ++s.failed;
      continue;
    }
    times.push_back(tasks[i].last - tasks[i].first);
    s.turns += tasks[i].turns;
  }
  s.tasks = times.size();
  s.turns /= static_cast<double>(s.tasks);
  s.time = times_of(std::move(times));
  s.tasks_per_second =
      agents == 0 ? rate_of_arrived(tasks, warm_up) : std::numeric_limits<double>::quiet_NaN();
  if (agents > 0 && std::max(warm_up, agents) + agents < tasks.size()) {
    s.in_progress = in_progress(tasks, warm_up);
    s.tasks_per_second = s.in_progress / s.time.mean.si();
  }
  base::Seconds tools;
  base::Seconds waiting;
  base::Seconds prefill;
  base::Seconds decode;
  for (const ServedRequest& r : simulation.requests) {
    if (r.task >= 0 && static_cast<std::size_t>(r.task) >= warm_up && !r.rejected) {
      tools += r.tools;
      waiting += r.scheduled - r.arrival;
      prefill += r.first_token - r.scheduled;
      decode += r.last_token - r.first_token;
    }
  }
  const base::Seconds all = tools + waiting + prefill + decode;
  s.tools_share = tools / all;
  s.waiting_share = waiting / all;
  s.prefill_share = prefill / all;
  s.decode_share = decode / all;
  return s;
}

}  // namespace roofcast::sim
