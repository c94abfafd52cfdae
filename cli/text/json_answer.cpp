// SPDX-License-Identifier: Apache-2.0
#include "cli/text/json_answer.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/provenance/version.hpp"
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

void print_json(const nlohmann::ordered_json& answer) { fmt::print("{}\n", answer.dump(2)); }

}  // namespace roofcast::cli
