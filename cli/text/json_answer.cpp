// SPDX-License-Identifier: Apache-2.0
#include "cli/text/json_answer.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "cli/provenance/made_by.hpp"
#include "cli/provenance/version.hpp"
#include "cli/tables/say.hpp"
#include "cli/tables/text_table.hpp"
#include "sim/result/metrics.hpp"

namespace roofcast::cli {

nlohmann::ordered_json json_answer() {
  return {{"roofcast", version()}, {"units", "SI; the end of a key's name is its unit"}};
}

nlohmann::ordered_json metric_units() {
  nlohmann::ordered_json units = nlohmann::ordered_json::object();
  for (const sim::Metric& metric : sim::metrics()) {
    if (!metric.unit.empty()) {
      units[std::string(metric.name)] = metric.unit;
    }
  }
  return units;
}

nlohmann::ordered_json json_rows(const TextTable& table) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (std::size_t r = 1; r < table.rows().size(); ++r) {
    nlohmann::ordered_json row = nlohmann::ordered_json::object();
    for (std::size_t c = 0; c < table.rows()[r].size(); ++c) {
      row[table.rows().front()[c]] = table.rows()[r][c];
    }
    all.push_back(std::move(row));
  }
  return all;
}

nlohmann::ordered_json json_number(double value) {
  return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json();
}

void print_json(const nlohmann::ordered_json& answer) {
  nlohmann::ordered_json whole = json_answer();
  whole.update(answer);
  if (is_asked()) {
    whole["made_by"] = {{"file", "-"}};
    whole["made_by"].update(made_by());
  }
  say("{}\n", json_text(whole, 2));
}

}  // namespace roofcast::cli
