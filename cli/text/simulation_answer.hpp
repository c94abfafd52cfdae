// SPDX-License-Identifier: Apache-2.0
//
// The answer of `roofcast simulate` for people and for programs.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "cli/tables/text_table.hpp"
#include "cli/text/simulated_tasks.hpp"
#include "sim/replay/breach.hpp"
#include "sim/replay/simulation_summary.hpp"
#include "sim/scenario/sections.hpp"

namespace roofcast::cli {

// How probable a breach is, and the alarm.
struct BreachAlarm {
  sim::Window window;
  double limit = 0.0;  // on the probability
  sim::Breach breach;
  bool sounds() const { return breach.probability() > limit; }
  // Whether the limit is outside the interval.
  bool is_sure() const { return limit < breach.interval.low || limit > breach.interval.high; }
};

struct SimulationAnswer {
  sim::StreamedScenario scenario;
  workloads::Requests requests;
  std::string stream;  // in words
  sim::Simulation simulation;
  std::size_t warm_up = 0;
  std::optional<BreachAlarm> alarm;
};

std::string percent(double share);  // "95.1 %"

TextTable times_table(const sim::SimulationSummary& summary);
TextTable classes_table(const std::vector<sim::ClassSummary>& summaries);
std::string alarm_text(const BreachAlarm& alarm);  // lines

// Of clients or agents whose start is counted, what TTFT p95 is without it; empty where that is the same.
std::string burst_text(const SimulationAnswer& answer);

void print_text(const SimulationAnswer& answer);
nlohmann::ordered_json json_of(const SimulationAnswer& answer);

}  // namespace roofcast::cli
