// SPDX-License-Identifier: Apache-2.0
#include "cli/text/simulated_tasks.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/tables/text_table.hpp"
#include "cli/text/json_answer.hpp"
#include "sim/result/costs.hpp"
#include "sim/scenario/pools.hpp"
#include "sim/scenario/sections.hpp"

namespace roofcast::cli {

std::optional<SimulatedTasks> tasks_of(const sim::Simulation& simulation,
                                       const sim::StreamedScenario& s, std::size_t warm_up) {
  if (simulation.requests.empty() || simulation.requests.front().task < 0 ||
      warm_up >= simulation.requests.size()) {
    return std::nullopt;
  }
  const std::size_t skipped =
      warm_up == 0 ? 0 : static_cast<std::size_t>(simulation.requests[warm_up - 1].task) + 1;
  SimulatedTasks t;
  t.summary =
      sim::summarise_tasks(simulation, skipped, static_cast<std::size_t>(s.stream.concurrency));
  const sim::ScenarioView view = sim::view(s.scenario);
  t.per_gpu_hour =
      t.summary.tasks_per_second * base::hour.si() / static_cast<double>(sim::gpus_of(view));
  t.usd = t.summary.tasks_per_second > 0.0 ? sim::rent(view).si() / t.summary.tasks_per_second
                                           : std::nan("");
  return t;
}

Facts facts_of(const std::optional<SimulatedTasks>& tasks) {
  if (!tasks) {
    return {};
  }
  const sim::TaskSummary& s = tasks->summary;
  const auto percent = [](double share) { return fmt::format("{:.1f} %", 100.0 * share); };
  Facts facts = {{"tasks", fmt::format("{}", s.tasks)},
                 {"turns a task", fmt::format("{:.3g}", s.turns)},
                 {"time of a task",
                  fmt::format("{} on average, p50 {}, p95 {}", display(s.time.mean.si(), "s"),
                              display(s.time.p50.si(), "s"), display(s.time.p95.si(), "s"))},
                 {"tasks per GPU-hour", display(tasks->per_gpu_hour, "")}};
  if (s.failed > 0) {
    facts.emplace_back("tasks that failed", fmt::format("{}", s.failed));
  }
  if (!std::isnan(tasks->usd)) {
    facts.emplace_back("cost of a task", display(tasks->usd, "USD"));
  }
  facts.emplace_back(
      "time of agents",
      fmt::format("{} tools, {} waiting, {} prefill, {} decode", percent(s.tools_share),
                  percent(s.waiting_share), percent(s.prefill_share), percent(s.decode_share)));
  return facts;
}

nlohmann::ordered_json json_of(const SimulatedTasks& t) {
  const sim::TaskSummary& s = t.summary;
  return {{"tasks", s.tasks},
          {"failed", s.failed},
          {"turns", json_number(s.turns)},
          {"tasks_per_gpu_hour", json_number(t.per_gpu_hour)},
          {"usd_per_task", json_number(t.usd)},
          {"tools_share", json_number(s.tools_share)},
          {"waiting_share", json_number(s.waiting_share)},
          {"prefill_share", json_number(s.prefill_share)},
          {"decode_share", json_number(s.decode_share)}};
}

}  // namespace roofcast::cli
