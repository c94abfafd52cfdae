// SPDX-License-Identifier: Apache-2.0
//
// What tokens cost and what that rests on, for people.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "base/document/node.hpp"
#include "sim/estimate.hpp"

namespace roofcast::cli {

// The parts of the cost, or the key that keeps it unknown; empty for what is rented at a known price.
std::string cost_text(const sim::Scenario& scenario, const sim::ServingEstimate& estimate);

// "GPU price of hgx_h200: 3.59 USD/h (2026-05; …)": what a GPU of the scenario's system costs, and who says so. Empty if
// it is not known.
std::string price_text(base::Node document);

// Adds a line for each sentence of what is still that of the chip before (sim/result/parent_figures.hpp), once.
void add_parents(const sim::ScenarioView& scenario, std::string& text);
// The same below an answer; empty where there is none.
std::string parents_text(const sim::ScenarioView& scenario);
// The key `parent_figures`, where there are some.
void add_parents(const sim::ScenarioView& scenario, nlohmann::ordered_json& json);

// "4.8 TB/s" times 1.5: "7.2 TB/s". Of several, each: "1 TFLOPS, 2 TFLOPS" becomes "1.5 TFLOPS, 3 TFLOPS".
std::string scaled_text(std::string_view quantities, double factor);

}  // namespace roofcast::cli
