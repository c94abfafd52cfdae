// SPDX-License-Identifier: Apache-2.0
#include "cli/text/cost_text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdlib>

#include <utility>

#include "cli/tables/text_table.hpp"
#include "sim/recommend/scan.hpp"
#include "sim/result/costs.hpp"
#include "sim/result/parent_figures.hpp"
#include "sim/scenario/references.hpp"
#include "sim/scenario/sections.hpp"

namespace roofcast::cli {

std::string cost_text(const sim::Scenario& s, const sim::ServingEstimate& e) {
  const sim::ScenarioView view = sim::view(s);
  std::string note;
  add_parents(view, note);
  if (const std::string missing = sim::missing_power(view); !missing.empty()) {
    note += fmt::format("Nothing under the power budget: {} is not known\n", missing);
  }
  if (e.economics.gpus_in_budget < static_cast<double>(e.gpus)) {
    note +=
        fmt::format("The power budget feeds {:g} GPUs of such a deployment, and this one has {}\n",
                    e.economics.gpus_in_budget, e.gpus);
  }
  note = note.empty() ? "" : "\n" + note;
  if (const std::string missing = sim::missing_price(view, e); !missing.empty()) {
    return fmt::format("\nNo cost: {} is not known\n{}", missing, note);
  }
  if (s.prices.pay == hardware::Pay::rental) {
    return note;
  }
  const sim::CostParts parts = sim::cost_parts(view, e);
  TextTable table({"cost", "USD per GPU-hour", "USD per Mtok", "share"});
  for (const auto& [name, usd] :
       {std::pair{"capital", parts.capital}, std::pair{"upkeep", parts.upkeep},
        std::pair{"hosting", parts.hosting}, std::pair{"electricity", parts.electricity},
        std::pair{"all", parts.total()}}) {
    table.add({name, fmt::format("{:.3f}", usd * base::hour.si() / static_cast<double>(e.gpus)),
               fmt::format("{:.4g}", usd / e.output_rate * base::mega),
               fmt::format("{:.1f}%", 100.0 * usd / parts.total())});
  }
  return fmt::format("\n{}{}", table.text(), note);
}

std::string price_text(base::Node document) {
  base::Problems problems;
  sim::load_references(document, problems);
  const base::Node* prices = document.find("prices");
  const base::Node* pay = document.find_path("prices.pay");
  if (prices != nullptr && !prices->is_null() && (pay == nullptr || pay->text != "rental")) {
    const base::Node* name = prices->find("name");
    return fmt::format("prices: {}\n", name == nullptr ? "those of the scenario" : name->text);
  }
  const base::Node* price = document.find_path("system.price");
  if (price == nullptr || !price->is_map()) {
    return "";
  }
  const auto text_of = [&](const char* key) {
    const base::Node* node = price->find(key);
    return node == nullptr ? std::string("not said") : node->text;
  };
  return fmt::format("GPU price of {}: {} ({}; {})\n", sim::label_of(*document.find("system")),
                     text_of("per_gpu_hour"), text_of("date"), text_of("source"));
}

void add_parents(const sim::ScenarioView& scenario, std::string& text) {
  for (const std::string& sentence : sim::parent_sentences(scenario)) {
    if (text.find(sentence) == std::string::npos) {
      text += sentence + "\n";
    }
  }
}

std::string parents_text(const sim::ScenarioView& scenario) {
  std::string text;
  add_parents(scenario, text);
  return text.empty() ? text : "\n" + text;
}

void add_parents(const sim::ScenarioView& scenario, nlohmann::ordered_json& json) {
  if (const auto figures = sim::parent_figures_of(scenario)) {
    json["parent_figures"] = *figures;
  }
}

std::string scaled_text(std::string_view quantities, double factor) {
  const std::size_t end = std::min(quantities.find(", "), quantities.size());
  const std::string first(quantities.substr(0, end));
  const std::size_t unit = std::min(first.find(' '), first.size());
  return fmt::format(
      "{:.4g}{}{}", factor * std::strtod(first.c_str(), nullptr), first.substr(unit),
      end == quantities.size() ? "" : ", " + scaled_text(quantities.substr(end + 2), factor));
}

}  // namespace roofcast::cli
