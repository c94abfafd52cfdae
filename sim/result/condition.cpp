// SPDX-License-Identifier: Apache-2.0
#include "sim/result/condition.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "base/document/renamed.hpp"
#include "base/nearest.hpp"
#include "base/units/unit_text.hpp"
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

// "500ms" as 500 and "ms"; without a number the first is NaN.
std::pair<double, std::string_view> number_and_unit(std::string_view text) {
  double number = std::numeric_limits<double>::quiet_NaN();
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  if (parsed.ec != std::errc() || !std::isfinite(number)) {
    return {std::numeric_limits<double>::quiet_NaN(), text};
  }
  std::string_view unit = text.substr(static_cast<std::size_t>(parsed.ptr - text.data()));
  unit.remove_prefix(std::min(unit.find_first_not_of(' '), unit.size()));
  return {number, unit};
}

// The metrics that a name without its unit could mean: "ttft_p95" is ttft_p95_s.
std::vector<std::string> begun_by(std::string_view name) {
  std::vector<std::string> names;
  for (const Metric& metric : metrics()) {
    if (metric.bounds.empty() && !name.empty() && metric.name.starts_with(name) &&
        metric.name.substr(name.size()).starts_with('_')) {
      names.emplace_back(metric.name);
    }
  }
  return names;
}

// "USD/Mtok" of "USD/Mtok output".
std::string_view first_word(std::string_view unit) { return unit.substr(0, unit.find(' ')); }

// Sets the bound in SI units. Returns what is wrong with it, or nothing.
std::string set_bound(Condition& condition, double number, std::string_view unit) {
  if (std::isnan(number)) {
    return "is not a number";
  }
  condition.bound = number;
  const Metric* metric = find_metric(condition.metric);
  if (unit.empty() || (metric != nullptr && !metric->unit.empty() &&
                       (unit == metric->unit || unit == first_word(metric->unit)))) {
    return {};
  }
  if (metric->unit.empty() || metric->unit == "%") {
    condition.bound = metric->unit.empty() && unit == "%" ? number / 100.0 : number;
    return unit == "%" ? "" : fmt::format("has a unit; {} has none", metric->name);
  }
  const std::pair<std::string_view, base::Dimension> kDimensions[] = {
      {"s", base::dimension_of(base::Seconds())},
      {"B", base::dimension_of(base::Bytes())},
      {"W", base::dimension_of(base::Watts())},
      {"FLOP/s", base::dimension_of(base::FlopsPerSecond())},
      {"1/s", base::dimension_of(base::Hertz())}};
  for (const auto& [si, dimension] : kDimensions) {
    if (metric->unit == si) {
      const auto parsed = base::parse_quantity(fmt::format("{} {}", number, unit), dimension);
      condition.bound = parsed.si;
      return parsed.ok() ? "" : "is no value of " + std::string(metric->name) + ": " + parsed.error;
    }
  }
  return fmt::format("is not in {}, the unit of {}", metric->unit, metric->name);
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
    condition.metric = base::noted_name(place, trim(std::string_view(text).substr(0, at)));
    condition.relation = relation;
    const std::string_view bound = trim(std::string_view(text).substr(at + symbol.size()));
    const auto [number, unit] = number_and_unit(bound);
    if (!unit.empty() && find_metric(condition.metric) == nullptr) {
      condition.metric = with_unit(condition.metric);
    }
    if (!unit.empty() && !std::isnan(number) && find_metric(condition.metric) == nullptr) {
      problems.add(place, key, unknown_metric(condition.metric));
      return std::nullopt;
    }
    const std::string wrong = set_bound(condition, number, unit);
    if (!wrong.empty()) {
      problems.add(place, key, fmt::format("\"{}\" {}", bound, wrong));
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

std::string without_value(const Metric& metric, std::string_view consequence, bool trains) {
  const char* why = metric.of_run && trains ? "it needs the section run"
                    : metric.of_training    ? "it is of training, and the scenario serves"
                    : trains                ? "it is of serving, and the scenario trains"
                    : metric.of_answers     ? "it needs the section accuracy"
                    : metric.of_agents      ? "it needs traffic.agents"
                    : metric.of_objectives  ? "it needs traffic.objectives"
                    : metric.of_arrivals    ? "it needs traffic.arrivals"
                    : metric.of_causes      ? "it is told of estimates and of the rows of a sweep"
                    : metric.of_clocks      ? "the TDP is not known"
                    : metric.of_prices || metric.unit.starts_with("USD")
                        ? "it needs prices"
                        : "the closed form of this traffic and deployment has none";
  return fmt::format("no point has a value of {}, so {}: {}", metric.name, consequence, why);
}

std::string without_value(const Condition& condition, bool trains) {
  return without_value(*find_metric(condition.metric),
                       fmt::format("\"{}\" cannot hold", condition.text), trains);
}

std::string with_unit(const std::string& name) {
  const std::vector<std::string> names = begun_by(name);
  return names.size() == 1 ? names.front() : name;
}

std::string unknown_metric(const std::string& name) {
  const auto names = metric_names();
  std::vector<std::string> meant = begun_by(name);
  if (const auto near = base::nearest_name(name, names); near && meant.empty()) {
    meant = {*near};
  }
  if (meant.empty()) {  // the first word of metrics, mistyped
    std::vector<std::string> words;
    for (const std::string& each : names) {
      words.push_back(each.substr(0, each.find('_')));
    }
    if (const auto near = base::nearest_name(name, words)) {
      meant = begun_by(*near);
    }
  }
  return fmt::format("there is no metric \"{}\"{} (see `roofcast list metrics`)", name,
                     base::did_you_mean(meant));
}

std::optional<Condition> parse_condition(const std::string& text, const base::Place& place,
                                         base::Problems& problems, std::string_view key) {
  auto condition = parse_comparison(text, place, problems, key);
  if (condition && !condition->metric.empty() && find_metric(condition->metric) == nullptr) {
    if (const std::string full = with_unit(condition->metric); full != condition->metric) {
      problems.add(place, key,
                   fmt::format("{0} has no unit, and its bound has none: write {1}, or the bound "
                               "with its unit, {2}",
                               condition->metric, full, find_metric(full)->unit));
      return std::nullopt;
    }
    problems.add(place, key, unknown_metric(condition->metric));
    return std::nullopt;
  }
  return condition;
}

}  // namespace roofcast::sim
