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

// What a row is on each axis but the clients: "gb200_nvl72", "fp8", "8 x TP4".
std::vector<std::string> labels_of(const sim::SweepPoints& points, std::size_t row);

// The scenario of an answer.
base::Node scenario_of(const sim::Recommendation& recommendation, const sim::RankedRow& row);

}  // namespace roofcast::cli
