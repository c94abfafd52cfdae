// SPDX-License-Identifier: Apache-2.0
//
// Conditions on an estimate or on a row of results: "fits", or a name, a relation and a bound.
//
//   ttft_p95_s <= 0.5        the name has the unit, so the bound needs none
//   ttft_p95 <= 500ms        the bound has the unit, so the name needs none: "cost <= 2 USD/Mtok"
//   attainment >= 95%        a share
//
// A unit is any that base/units/unit_text.hpp has for a time, bytes, power or FLOP/s; else that of the metric.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/document/node.hpp"
#include "base/document/problems.hpp"
#include "sim/result/serving_estimate.hpp"

namespace roofcast::sim {

struct Metric;

struct Condition {
  enum class Relation { less, less_equal, greater, greater_equal, equal };
  std::string text;
  std::string metric;  // metric or column; empty for "fits"
  Relation relation = Relation::less_equal;
  double bound = 0.0;  // SI
};

// A condition on any name. Problems are reported at `place`, with the key path `key`.
std::optional<Condition> parse_comparison(const std::string& text, const base::Place& place,
                                          base::Problems& problems, std::string_view key);
// A condition on a metric: its name must be known.
std::optional<Condition> parse_condition(const std::string& text, const base::Place& place,
                                         base::Problems& problems, std::string_view key = "where");

// Whether a value or an estimate meets the condition. False for NaN. The first one is not for "fits".
bool holds(const Condition& condition, double value);
bool holds(const Condition& condition, const ServingEstimate& estimate);

// Why the estimate does not fit, or the first condition that it misses. Empty if it meets all.
std::string missed(std::span<const Condition> conditions, const ServingEstimate& estimate);

// The message that no estimate has a value of the metric of a condition, and why. `trains`: the scenarios train.
std::string without_value(const Condition& condition, bool trains);
// The same of a metric that is asked for otherwise; `consequence` is a clause.
std::string without_value(const Metric& metric, std::string_view consequence, bool trains);

// The metric that alone begins with the words of `name`: "ttft_p95" is ttft_p95_s. Else the name as it is.
std::string with_unit(const std::string& name);

// The message that there is no such metric, with the nearest name.
std::string unknown_metric(const std::string& name);

}  // namespace roofcast::sim
