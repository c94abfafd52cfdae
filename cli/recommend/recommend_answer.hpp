// SPDX-License-Identifier: Apache-2.0
//
// The answer of `roofcast recommend` for people and for programs.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "sim/recommend/recommendation.hpp"

namespace roofcast::cli {

// What the question was, in words: the model and its load, the budget, the conditions; then what nobody asked for and
// was assumed.
struct Heading {
  std::string title;
  std::vector<std::string> notes;
};

std::string recommend_text(const sim::Question& question, const Heading& heading,
                           const sim::Recommendation& recommendation);
nlohmann::ordered_json recommend_json(const sim::Question& question, const Heading& heading,
                                      const sim::Recommendation& recommendation);

// The rows of all scans that are legal, one after another, with the columns of a sweep.
void write_rows(const sim::Recommendation& recommendation, const std::string& file);

}  // namespace roofcast::cli
