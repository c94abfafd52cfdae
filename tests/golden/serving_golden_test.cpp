// SPDX-License-Identifier: Apache-2.0
//
// tests/golden/serving.csv: a line a scenario. A column is a metric, "reason", or a dotted path
// into the scenario; a new line or column needs no edit here.
#include "sim/estimate.hpp"
#include "sim/result/causes.hpp"
#include "sim/result/metrics.hpp"
#include "sim/scenario/knob.hpp"
#include "sim/scenario/sections.hpp"
#include "tests/catch.hpp"
#include "tests/golden/golden_file.hpp"

namespace roofcast::golden::golden_serving_golden {
namespace {

bool is_result(std::string_view column) {
  return column == "reason" || sim::find_metric(column) != nullptr ||
         sim::find_text(column) != nullptr;
}

std::string value_of(std::string_view column, const sim::ServingEstimate& e) {
  if (column == "reason") {
    return sim::reason(e);
  }
  if (!e.fits()) {
    return {};
  }
  const sim::Metric* metric = sim::find_metric(column);
  return metric != nullptr ? number(metric->value(e))
                           : std::string(sim::find_text(column)->value(e));
}

// The scenario of a row: every input column is a knob; an empty cell leaves it alone.
sim::Scenario scenario_of(const Row& row) {
  base::Node document;
  document.kind = base::Node::Kind::map;
  base::Problems problems;
  for (std::size_t c = 0; c < row.columns().size(); ++c) {
    if (!is_result(row.columns()[c]) && !row.cell(c).empty()) {
      const std::string assignment = row.columns()[c] + "=" + std::string(row.cell(c));
      sim::set_knob(document, {"--set", assignment, {}}, problems);
    }
  }
  problems.throw_if_any();
  return sim::read_scenario(std::move(document));
}

}  // namespace

TEST_CASE("Forecasts of serving change only on purpose", "[golden]") {
  std::vector<std::string> results;
  for (const std::string& column : golden_columns("serving.csv")) {
    if (is_result(column)) {
      results.push_back(column);
    }
  }
  sim::Workspace workspace;
  check_golden("serving.csv", results, [&](const Row& row) {
    const sim::Scenario scenario = scenario_of(row);
    sim::ServingEstimate e = sim::estimate(sim::view(scenario), workspace);
    sim::tell_causes(sim::view(scenario), e);
    std::vector<std::string> values;
    for (const std::string& column : results) {
      values.push_back(value_of(column, e));
    }
    return values;
  });
}

}  // namespace roofcast::golden::golden_serving_golden
