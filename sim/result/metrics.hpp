// SPDX-License-Identifier: Apache-2.0
//
// The columns of a result. Each is declared once: name with its SI unit, label, description, direction.
//
// The most important numbers have two more columns, low90_… and high90_…. A real server is expected between them nine
// times in ten (sim/result/spreads.hpp). They are metrics like all others: `high90_tpot_mean_s <= 0.02` is a condition
// that a real server meets with a probability of 95 %.
//
// `roofcast explain`, CSV headers, --format json, conditions, Pareto objectives, the report and the documentation all read this list.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "sim/result/serving_estimate.hpp"

namespace roofcast::sim {

enum class Better { none, higher, lower };
std::string_view name(Better better);  // "higher"; empty for none

// Which scenarios have a metric.
enum class Scope {
  all,
  serving,           // those that serve: a training has no requests
  step,              // those that train without RL
  engines,           // and RL post-training, whose rollouts serve
  not_post_training  // all but RL post-training (sim/training/post_training.cpp)
};

struct Metric {
  std::string_view name;   // CSV column, unit last
  std::string_view label;  // for people
  std::string_view unit;   // SI, for people: "s", "tok/s/GPU", "B"
  Better better = Better::none;
  std::string_view description;
  std::string_view formula;                 // in the names of other metrics where they suffice
  std::string_view validity;                // where it is right, and the page that says more
  double (*value)(const ServingEstimate&);  // NaN if there is none
  double (*exact)(const ServingEstimate&) = nullptr;  // of a bound: the value before it is rounded
  // The metric of which this is a bound of the 90 % interval. Empty if it is no bound.
  std::string_view bounds = {};
  bool of_answers = false;     // needs the section accuracy
  bool of_training = false;    // needs the section training
  bool of_run = false;         // needs the section run
  bool of_agents = false;      // needs traffic.agents
  bool of_prices = false;      // needs the section prices, or a price of the system
  bool of_objectives = false;  // needs traffic.objectives
  bool of_arrivals = false;    // needs requests that arrive, whoever waits
  bool of_causes = false;      // needs tell_causes() (sim/result/causes.hpp)
  bool of_clocks =
      false;  // of each load, and shown where it is a question: at full clocks it says nothing
  Scope scope = Scope::all;  // of a bound: Scope::all stands for that of the metric
  // Paths of the scenario, one of which must say something.
  std::array<std::string_view, 2> needs = {};
};

std::span<const Metric> metrics();
std::span<const Metric> estimate_metrics();  // its first part
std::span<const Metric> task_metrics();      // then of answers and tasks (task_metrics.cpp)
std::span<const Metric> limit_metrics();     // then what limits it (limit_metrics.cpp)
std::span<const Metric> run_metrics();       // the rest: of a whole training run
const Metric* find_metric(std::string_view name);

// The 90 % interval of a metric. NaN if there is none.
struct Interval90 {
  double low;
  double high;
};
Interval90 interval90(const Metric& metric, const ServingEstimate& estimate);
Interval90 exact_interval90(const Metric& metric, const ServingEstimate& estimate);

// Text columns: what limits each number, and the provenance of the parameters.
struct TextMetric {
  std::string_view name;
  std::string_view label;
  std::string_view description;
  std::string_view (*value)(const ServingEstimate&);  // empty if there is none
  bool of_causes = false;                             // as of Metric
  Scope scope = Scope::all;
  // Only where a system has figures of the chip before (sim/result/parent_figures.hpp): others have no such column.
  bool of_parents = false;
};
std::span<const TextMetric> text_metrics();
const TextMetric* find_text(std::string_view name);  // nullptr where there is none

}  // namespace roofcast::sim
