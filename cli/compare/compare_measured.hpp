// SPDX-License-Identifier: Apache-2.0
//
// `roofcast compare SCENARIO.yaml LOG…`: what a benchmark or a profiler measured beside the forecast of the scenario
// that it ran. Without a file, options and the log say the scenario (cli/question/logged_scenario.hpp).
#pragma once

#include <functional>
#include <limits>
#include <string>
#include <variant>
#include <vector>

#include "base/document/node.hpp"
#include "calibrate/logs/collective_log.hpp"
#include "calibrate/logs/kernel_profile.hpp"
#include "calibrate/logs/serving_log.hpp"
#include "calibrate/logs/training_log.hpp"

namespace roofcast::cli {

// A scenario, and what of it the log said alone: "model gpt-oss-120b".
struct LoggedScenario {
  base::Node document;
  std::vector<std::string> from_log;
};

// The scenario that a log is laid beside. `log`: its name.
struct MeasuredScenarios {
  std::function<LoggedScenario(const calibrate::ServingLog&)> of_server;
  std::function<base::Node(const std::string& log)> of_profile;
  std::function<base::Node(const std::string& log)> of_collectives;
};

struct CompareMeasuredOptions {
  std::string scenario;  // its file; empty: none
  MeasuredScenarios scenarios;
  std::vector<std::string> logs;
  std::vector<std::string> set;  // PATH=VALUE that the user says: they win over what a log says
  std::string csv;
  std::string format = "text";
  std::int64_t iterations = 0;       // of a profile; 0: as the log says
  std::string iteration = "decode";  // that a profile shows: decode, prompts
  bool strict = false;
  bool anyway = false;  // a log that contradicts the scenario is compared nevertheless
};

int compare_measured(const CompareMeasuredOptions& options);

// One log beside its forecast.
struct MeasuredComparison {
  using Cell = std::variant<std::string, double>;  // NaN: not known

  std::string log;
  std::string scenario;            // its title
  std::vector<std::string> said;   // sentences before the table
  std::string table;               // for people
  std::vector<std::string> notes;  // sentences behind it
  std::vector<std::string> columns;
  std::vector<std::vector<Cell>> rows;
  bool runs = true;     // the scenario
  bool matches = true;  // the log is of the scenario's model and GPU, as far as their names tell
};

// What of a log contradicts the scenario, a sentence each: an error, or with --anyway sentences before the table.
void refuse_contradictions(const CompareMeasuredOptions& options,
                           const std::vector<std::string>& contradictions,
                           MeasuredComparison& comparison);

MeasuredComparison compare_serving(const CompareMeasuredOptions& options,
                                   const calibrate::ServingLog& log);
MeasuredComparison compare_collectives(const CompareMeasuredOptions& options,
                                       const calibrate::CollectiveLog& log);
MeasuredComparison compare_training(const CompareMeasuredOptions& options,
                                    const calibrate::TrainingLog& log);
MeasuredComparison compare_kernels(const CompareMeasuredOptions& options,
                                   const calibrate::KernelProfile& profile);

// "1.23" of forecast over measured; "-" where either is not known.
std::string ratio_text(double forecast, double measured);
// Whether the measurement is in the interval; empty where there is none.
std::string inside(double measured, double low, double high);

}  // namespace roofcast::cli
