// SPDX-License-Identifier: Apache-2.0
//
// The question of `recommend`, from what was asked on the command line or in Python.
#pragma once

#include <string>
#include <vector>

#include "base/document/node.hpp"
#include "base/document/problems.hpp"
#include "cli/question/scenario_options.hpp"
#include "cli/recommend/recommend_answer.hpp"
#include "sim/recommend/recommendation.hpp"
#include "sim/recommend/training_search.hpp"

namespace roofcast::cli {

struct AskedRecommendation {
  ScenarioOptions said;
  std::vector<std::string> where;
  std::string minimize;  // a metric; both empty: the cost, or the time of a training step
  std::string maximize;
  std::string pools = "both";  // one, two
};

// `document`: the scenario, or an empty one where `asked.said` says everything. Both throw InputError.
sim::Question question_of(const AskedRecommendation& asked, base::Node document, Heading& heading);
// Of a scenario that trains. `problems`: those that are known already.
sim::TrainingQuestion training_question_of(const AskedRecommendation& asked, base::Node document,
                                           base::Problems problems);

// The heading of an answer, and what it should be read with.
void describe(const sim::Question& question, const sim::Recommendation& recommendation,
              Heading& heading);

}  // namespace roofcast::cli
