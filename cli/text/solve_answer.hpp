// SPDX-License-Identifier: Apache-2.0
//
// The answer of `roofcast solve` for people and for programs.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "sim/confirm/verdict.hpp"
#include "sim/result/condition.hpp"
#include "sim/result/metrics.hpp"

namespace roofcast::cli {

struct SolvedCondition {
  sim::Condition condition;
  double slack = 0.0;  // to its bound, relative; negative where it is missed
  // With the bound looser by a hundredth; empty where nothing changes.
  std::vector<std::string> looser_values;
  double looser_metric = 0.0;  // what is least or most
};

struct SolveAnswer {
  std::string title;
  std::string price;    // of a GPU, and who says so
  std::string parents;  // what is that of the chip before (add_parents)
  bool found = false;
  std::string sentence;
  std::vector<std::string> paths;
  std::vector<std::string> values;  // of the knobs; of what comes nearest where none meets
  sim::ServingEstimate estimate;
  std::vector<std::string> notes;
  std::vector<SolvedCondition> conditions;
  const sim::Metric* objective = nullptr;  // of several knobs, or a list
  bool every = false;                      // combination was tried
  std::size_t tried = 0;
  std::size_t met = 0;
  sim::Judgement judgement;
  std::optional<sim::ServingEstimate> replayed;  // nothing if it is estimated only
  struct Broken {
    std::string knobs;
    std::string note;
  };
  std::vector<Broken> broken;  // what came before it, and the simulation contradicts

  const sim::ServingEstimate& result() const { return replayed ? *replayed : estimate; }
};

std::string solve_text(const SolveAnswer& answer);
nlohmann::ordered_json solve_json(const SolveAnswer& answer);
// One row: the knobs, fits, meets, reason, and every metric, as a sweep's.
void write_solve_csv(const SolveAnswer& answer, std::ostream& out);

}  // namespace roofcast::cli
