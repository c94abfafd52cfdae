// SPDX-License-Identifier: Apache-2.0
#include "sim/result/condition.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <utility>
#include <vector>

#include "base/nearest.hpp"
#include "sim/result/metrics.hpp"

namespace roofcast::sim {

namespace {

std::vector<std::string> metric_names() {
  std::vector<std::string> names;
  for (const Metric& metric : metrics()) {
    names.emplace_back(metric.name);
  }
  return names;
}

}  // namespace

std::optional<Condition> parse_comparison(const std::string& text, const base::Place& place,
                                          base::Problems& problems, std::string_view key) {
  Condition condition;
  condition.text = text;
  if (text == "fits") {
    return condition;
  }
  using Relation = Condition::Relation;
  static constexpr std::pair<std::string_view, Relation> kRelations[] = {
      {"<=", Relation::less_equal},
      {">=", Relation::greater_equal},
      {"==", Relation::equal},
      {"<", Relation::less},
      {">", Relation::greater}};
  for (const auto& [symbol, relation] : kRelations) {
    const auto at = text.find(symbol);
    if (at == std::string::npos) {
      continue;
    }
    const auto trim = [](std::string_view s) {
      const auto first = s.find_first_not_of(' ');
      return first == std::string_view::npos ? std::string_view()
                                             : s.substr(first, s.find_last_not_of(' ') - first + 1);
    };
    condition.metric = trim(std::string_view(text).substr(0, at));
    condition.relation = relation;
    const std::string_view number = trim(std::string_view(text).substr(at + symbol.size()));
    const auto parsed =
        std::from_chars(number.data(), number.data() + number.size(), condition.bound);
    if (parsed.ec != std::errc() || parsed.ptr != number.data() + number.size() ||
        !std::isfinite(condition.bound)) {
      problems.add(
          place, key,
          fmt::format("\"{}\" is not a number; metrics are in SI units, without a suffix", number));
      return std::nullopt;
    }
    return condition;
  }
  problems.add(place, key, "expects \"fits\" or a comparison such as \"ttft_p50_s <= 2\"");
  return std::nullopt;
}

bool holds(const Condition& condition, double value) {
  using Relation = Condition::Relation;
  switch (condition.relation) {
    case Relation::less:
      return value < condition.bound;
    case Relation::less_equal:
      return value <= condition.bound;
    case Relation::greater:
      return value > condition.bound;
    case Relation::greater_equal:
      return value >= condition.bound;
    case Relation::equal:
      return value == condition.bound;
  }
  return false;
}

bool holds(const Condition& condition, const ServingEstimate& estimate) {
  if (!estimate.fits()) {
    return false;
  }
  if (condition.metric.empty()) {
    return true;
  }
  return holds(condition, find_metric(condition.metric)->value(estimate));
}

std::string missed(std::span<const Condition> conditions, const ServingEstimate& estimate) {
  if (!estimate.fits()) {
    return reason(estimate);
  }
  for (const Condition& condition : conditions) {
    if (!holds(condition, estimate)) {
      return fmt::format("misses {}: {:.4g}", condition.text,
                         find_metric(condition.metric)->value(estimate));
    }
  }
  return {};
}

std::string without_value(const Condition& condition, bool trains) {
  const Metric& metric = *find_metric(condition.metric);
  const char* why = metric.of_run && trains ? "it needs the section run"
                    : metric.of_training    ? "it is of training, and the scenario serves"
                    : trains                ? "it is of serving, and the scenario trains"
                    : metric.of_answers     ? "it needs the section accuracy"
                    : metric.of_agents      ? "it needs traffic.agents"
                    : metric.of_objectives  ? "it needs traffic.objectives"
                    : metric.of_prices || metric.unit.starts_with("USD")
                        ? "it needs prices"
                        : "the closed form of this traffic and deployment has none";
  return fmt::format("no point has a value of {}, so \"{}\" cannot hold: {}", metric.name,
                     condition.text, why);
}

std::string unknown_metric(const std::string& name) {
  std::string message = fmt::format("there is no metric \"{}\"", name);
  const auto names = metric_names();
  if (const auto near = base::nearest_name(name, names)) {
    message += fmt::format("; did you mean \"{}\"?", *near);
  }
  return message + fmt::format(" (metrics: {})", fmt::join(names, ", "));
}

std::optional<Condition> parse_condition(const std::string& text, const base::Place& place,
                                         base::Problems& problems, std::string_view key) {
  auto condition = parse_comparison(text, place, problems, key);
  if (condition && !condition->metric.empty() && find_metric(condition->metric) == nullptr) {
    problems.add(place, key, unknown_metric(condition->metric));
    return std::nullopt;
  }
  return condition;
}

}  // namespace roofcast::sim
