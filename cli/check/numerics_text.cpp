// SPDX-License-Identifier: Apache-2.0
#include "cli/check/numerics_text.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace roofcast::cli {
namespace {

using sim::NumericRisk;

std::string value_text(double value, std::string_view unit) {
  if (unit == "share") {
    return fmt::format("{:.3g} %", 100.0 * value);
  }
  return unit.empty() ? fmt::format("{:.2g}", value) : fmt::format("{:.3g} billion", value / 1e9);
}

std::string figure_text(const NumericRisk& r) {
  return fmt::format("{} {}, line {}", r.quantity, value_text(r.figure, r.unit),
                     value_text(r.threshold, r.unit));
}

}  // namespace

std::string numerics_text(std::span<const NumericRisk> rules) {
  std::string out;
  for (const bool at_risk : {true, false}) {
    for (const NumericRisk& r : rules) {
      if (r.at_risk != at_risk) {
        continue;
      }
      out += fmt::format("{:<8} {}: {}\n         {}; {}\n", r.at_risk ? "at risk" : "fine", r.rule,
                         r.what, figure_text(r), r.reason);
      if (r.at_risk) {
        out += fmt::format("         remedy: {}\n         cost: {}\n", r.remedy, r.cost);
      }
      out += fmt::format("         source: {}\n", r.source);
    }
  }
  return out;
}

nlohmann::ordered_json numerics_json(std::span<const NumericRisk> rules) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const NumericRisk& r : rules) {
    json.push_back({{"rule", r.rule},
                    {"verdict", r.at_risk ? "at risk" : "fine"},
                    {"what", r.what},
                    {"quantity", r.quantity},
                    {"figure", r.figure},
                    {"line", r.threshold},
                    {"unit", r.unit},
                    {"reason", r.reason},
                    {"remedy", r.remedy},
                    {"cost", r.cost},
                    {"source", r.source}});
  }
  return json;
}

std::string numerics_note(std::span<const NumericRisk> rules) {
  std::string names;
  for (const NumericRisk& r : rules) {
    if (r.at_risk) {
      names += fmt::format("{}{} ({} {})", names.empty() ? "" : ", ", r.rule, r.quantity,
                           value_text(r.figure, r.unit));
    }
  }
  return names.empty()
             ? names
             : fmt::format("Number formats at risk: {}. roofcast check --numerics says why\n",
                           names);
}

}  // namespace roofcast::cli
