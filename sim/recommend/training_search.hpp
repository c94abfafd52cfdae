// SPDX-License-Identifier: Apache-2.0
//
// The best ways to train a model on a number of GPUs: all choices of sim/recommend/training_mappings.hpp, estimated.
//
// A candidate is a system and a precision. Of each candidate's mappings (TP, CP, PP, EP, DP) the best row is kept, by the
// objective among rows that fit and meet the conditions.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/decide/choice.hpp"
#include "sim/estimate.hpp"
#include "sim/recommend/training_mappings.hpp"

namespace roofcast::sim {

struct TrainingQuestion {
  base::Node base;                     // a scenario that trains
  std::vector<base::Node> systems;     // the scenario's where there is none
  std::vector<base::Node> precisions;  // likewise
  std::int64_t gpus = 1;
  std::vector<Condition> where;
  Objective objective;
};

struct TrainedRow {
  std::size_t candidate = 0;
  TrainingChoice choice;
  ServingEstimate estimate;
  double value = 0.0;  // of the objective
};

struct TrainingSearch {
  struct Candidate {
    base::Node document;  // with a system of so many GPUs
    std::string label;    // "gb200_nvl72, fp8"; empty if there is one only
  };
  std::vector<Candidate> candidates;
  std::vector<TrainedRow> best;  // of each candidate's mappings, the best first
  std::optional<TrainedRow> least_memory;
  std::map<std::string, std::size_t> refused;  // rows by why they do not run
  std::size_t missed = 0;                      // that run and miss a condition
  std::size_t rows = 0;                        // all
};

// Throws InputError. The same on any number of threads; 0: all cores.
TrainingSearch search_trainings(const TrainingQuestion& question, unsigned threads);

}  // namespace roofcast::sim
