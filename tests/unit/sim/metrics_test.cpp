// SPDX-License-Identifier: Apache-2.0
#include "sim/result/metrics.hpp"

#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

#include "tests/catch.hpp"

namespace roofcast::unit_sim_metrics {

TEST_CASE("Every column of a result is named once and documented", "[unit]") {
  std::set<std::string_view> names;
  for (const sim::Metric& metric : sim::metrics()) {
    CHECK(names.insert(metric.name).second);
    CHECK_FALSE(metric.description.empty());
    CHECK_FALSE(metric.formula.empty());
    CHECK_FALSE(metric.validity.empty());
  }
  for (const sim::TextMetric& text : sim::text_metrics()) {
    CHECK(names.insert(text.name).second);
  }
  const char* root = std::getenv("ROOFCAST_SOURCE_DIR");
  if (root == nullptr) {
    WARN("ROOFCAST_SOURCE_DIR is not set; the documentation is not looked at");
    return;
  }
  std::ifstream file(std::string(root) + "/docs/scenarios/metrics.md");
  std::stringstream text;
  text << file.rdbuf();
  for (const std::string_view name : names) {
    INFO(name);
    CHECK(text.str().find("| `" + std::string(name) + "` |") != std::string::npos);
  }
}

TEST_CASE("A column's name ends in its SI unit", "[unit]") {
  for (const sim::Metric& metric : sim::metrics()) {
    INFO(metric.name);
    if (metric.unit == "s") {
      CHECK(metric.name.ends_with("_s"));
    }
    if (metric.unit == "B") {
      CHECK(metric.name.find("_b") != std::string_view::npos);
    }
    if (metric.unit.starts_with("tok/s")) {
      CHECK(metric.name.find("tok_per_s") != std::string_view::npos);
    }
  }
}

TEST_CASE("A metric is right where a page of the documentation says more", "[unit]") {
  const char* root = std::getenv("ROOFCAST_SOURCE_DIR");
  if (root == nullptr) {
    return;
  }
  for (const sim::Metric& metric : sim::metrics()) {
    INFO(metric.name << ": " << metric.validity);
    const auto at = metric.validity.find("docs/");
    if (at != std::string_view::npos) {
      const auto end = metric.validity.find(".md", at);
      REQUIRE(end != std::string_view::npos);
      CHECK(std::ifstream(std::string(root) + "/" +
                          std::string(metric.validity.substr(at, end + 3 - at)))
                .good());
    }
  }
}

}  // namespace roofcast::unit_sim_metrics
