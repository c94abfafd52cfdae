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

// "the least Cost with prompts, 0.787 USD/Mtok output, prompts included"
std::string finding(const sim::Question& question, const sim::RankedRow& row);
// "confirmed: the conditions hold in a replay of 640 requests"
std::string verdict_text(const sim::RankedRow& row);
// "TPOT p95 is nearest to its limit: 29.1 ms, 3.1 % of 30 ms left"; empty where there is no limit.
std::string nearest_limit(const sim::Question& question, const sim::RankedRow& row);
// The groups without an answer, a line each, with the reason.
std::vector<std::string> missing_groups(const sim::Question& question,
                                        const sim::Recommendation& recommendation);

}  // namespace roofcast::cli
