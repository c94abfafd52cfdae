// SPDX-License-Identifier: Apache-2.0
#include "sim/decide/solve.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>

#include "sim/decide/sweep_run.hpp"
#include "sim/result/metrics.hpp"

namespace roofcast::sim {
namespace {

constexpr int kLooks = 33;
constexpr double kExact = 1e-7;         // of a knob that is no whole number
constexpr double kReach = 1024.0;       // of a knob without a range, each way
constexpr double kMostWhole = 1048576;  // of one without a range

struct Number {
  std::string before;
  double value = 0.0;
  std::string after;
  bool whole = false;
  bool ok = false;
};

// "x1.5", "3.5 /s", "64".
Number number_of(std::string_view text) {
  Number n;
  const auto trim = [](std::string_view s) {
    const auto first = s.find_first_not_of(' ');
    return first == std::string_view::npos ? std::string_view()
                                           : s.substr(first, s.find_last_not_of(' ') - first + 1);
  };
  text = trim(text);
  if (text.starts_with('x')) {
    n.before.push_back('x');
    text = trim(text.substr(1));
  }
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), n.value);
  n.ok = parsed.ec == std::errc() && std::isfinite(n.value);
  const auto digits = static_cast<std::size_t>(parsed.ptr - text.data());
  n.after = text.substr(digits);
  n.whole = n.ok && n.before.empty() && n.after.empty() &&
            text.substr(0, digits).find_first_of(".eE") == std::string::npos;
  return n;
}

bool meets(const std::vector<Condition>& conditions, const ServingEstimate& e) {
  return e.fits() && std::all_of(conditions.begin(), conditions.end(),
                                 [&](const Condition& c) { return holds(c, e); });
}

double middle(const KnobRange& range, double a, double b) {
  if (range.whole) {
    return std::floor(0.5 * (a + b));
  }
  return a > 0.0 ? std::sqrt(a * b) : 0.5 * (a + b);
}

bool adjacent(const KnobRange& range, double a, double b) {
  return range.whole ? b - a <= 1.0 : b - a <= kExact * std::max(std::abs(a), std::abs(b));
}

}  // namespace

std::string KnobRange::text(double number) const {
  return fmt::format("{}{}{}", before,
                     whole ? fmt::format("{:.0f}", number) : fmt::format("{:.9g}", number), after);
}

KnobRange parse_knob_range(const base::Source& written, const base::Node& document,
                           base::Problems& problems) {
  const auto source = std::make_shared<const base::Source>(written);
  const std::string& text = source->text;
  const base::Place place{source, {}};
  const auto equals = text.find('=');
  KnobRange range;
  range.path = text.substr(0, equals);
  range.origin = written.name;
  const auto problem = [&](const std::string& message) {
    problems.add(place, "", message);
    return range;
  };
  if (equals == std::string::npos) {
    const base::Node* node = document.find_path(range.path);
    if (node == nullptr || !node->is_scalar()) {
      return problem(
          fmt::format("\"{}\" has no value to start from; give a range, for example "
                      "{}=1..64",
                      range.path, range.path));
    }
    const Number now = number_of(node->text);
    if (!now.ok || now.value <= 0.0) {
      return problem(fmt::format("\"{}\" is {}, no number to start from; give a range or a list",
                                 range.path, node->text));
    }
    range.whole = now.whole;
    range.after = now.after;
    range.low = now.whole ? 1.0 : now.value / kReach;
    range.high = now.whole ? kMostWhole : now.value * kReach;
    return range;
  }
  const std::string values = text.substr(equals + 1);
  const auto dots = values.find("..");
  if (dots == std::string::npos) {
    std::size_t from = 0;
    while (from <= values.size()) {
      const std::size_t to = std::min(values.find(',', from), values.size());
      range.listed.push_back(values.substr(from, to - from));
      from = to + 1;
    }
    if (std::any_of(range.listed.begin(), range.listed.end(),
                    [](const std::string& value) { return value.empty(); })) {
      return problem("expects a range such as 1..64, \"1 /s..50 /s\" or x0.5..x8, or a list a,b");
    }
    return range;
  }
  const Number low = number_of(values.substr(0, dots));
  const Number high = number_of(values.substr(dots + 2));
  if (!low.ok || !high.ok) {
    return problem("expects a number at both ends of the range: 1..64, \"1 /s..50 /s\", x0.5..x8");
  }
  if (low.before != high.before || (!low.after.empty() && low.after != high.after)) {
    return problem("expects both ends of the range in the same unit");
  }
  if (low.value >= high.value) {
    return problem("expects the low end of the range first");
  }
  if (const base::Node* now = document.find_path(range.path);
      high.after.empty() && high.before.empty() && now != nullptr && now->is_scalar()) {
    if (const Number n = number_of(now->text); n.ok && !n.after.empty()) {
      return problem(fmt::format(
          "\"{}\" has a unit: {}; give one, for example '{}={:g}..{:g}{}', or factors: x0.5..x8",
          range.path, now->text, range.path, n.value, 2.0 * n.value, n.after));
    }
  }
  range.before = high.before;
  range.after = high.after;
  range.low = low.value;
  range.high = high.value;
  range.whole = low.whole && high.whole;
  return range;
}

double slack(const Condition& c, double value) {
  using Relation = Condition::Relation;
  const double over = (value - c.bound) / std::max(std::abs(c.bound), 1e-300);
  return c.relation == Relation::equal                                        ? -std::abs(over)
         : c.relation == Relation::less || c.relation == Relation::less_equal ? -over
                                                                              : over;
}

double slack(const Condition& c, const ServingEstimate& e) {
  return c.metric.empty() || !e.fits() ? std::nan("") : slack(c, find_metric(c.metric)->value(e));
}

Condition loosened(Condition c, double share) {
  using Relation = Condition::Relation;
  const bool at_most = c.relation == Relation::less || c.relation == Relation::less_equal;
  c.bound += c.relation == Relation::equal ? 0.0 : (at_most ? share : -share) * std::abs(c.bound);
  return c;
}

double shortfall(const std::vector<Condition>& conditions, const ServingEstimate& e) {
  if (!e.fits()) {
    return std::numeric_limits<double>::infinity();
  }
  double worst = 0.0;
  for (const Condition& c : conditions) {
    if (!holds(c, e)) {
      const double off = -slack(c, e);
      worst = std::isnan(off) ? std::numeric_limits<double>::infinity() : std::max(worst, off);
    }
  }
  return worst;
}

Boundary boundary_of(const KnobRange& range, const std::vector<Condition>& conditions,
                     const EstimateAt& estimate_at) {
  const auto at = [&](double number) { return estimate_at(range.text(number)); };
  Boundary b;
  std::vector<double> places;
  std::vector<bool> met;
  double nearest = std::numeric_limits<double>::infinity();
  for (int i = 0; i < kLooks; ++i) {
    const double share = static_cast<double>(i) / (kLooks - 1);
    double place = range.low > 0.0 ? range.low * std::pow(range.high / range.low, share)
                                   : range.low + share * (range.high - range.low);
    place = i + 1 == kLooks ? range.high : range.whole ? std::round(place) : place;
    if (!places.empty() && place <= places.back()) {
      continue;
    }
    const ServingEstimate e = at(place);
    const double misses = shortfall(conditions, e);
    if (i == 0 || misses < nearest) {
      nearest = misses;
      b.number = place;
      b.value = range.text(place);
      b.estimate = e;
    }
    places.push_back(place);
    met.push_back(meets(conditions, e));
    b.changes += met.size() > 1 && met[met.size() - 2] != met.back() ? 1 : 0;
  }
  b.upwards = !met.front();
  const auto change = std::adjacent_find(met.begin(), met.end(), std::not_equal_to<>());
  if (change == met.end()) {
    b.found = b.everywhere = met.front();
    return b;
  }
  const auto index = static_cast<std::size_t>(change - met.begin());
  double low = places[index];
  double high = places[index + 1];
  while (!adjacent(range, low, high)) {
    const double place = middle(range, low, high);
    if (!(place > low && place < high)) {
      break;
    }
    (meets(conditions, at(place)) == met.front() ? low : high) = place;
  }
  // Fewer digits, on the side that meets.
  double edge = b.upwards ? high : low;
  if (!range.whole) {
    const double unit = std::pow(10.0, std::floor(std::log10(std::abs(edge))) - 4.0);
    const double short_edge = (b.upwards ? std::ceil(edge / unit) : std::floor(edge / unit)) * unit;
    if (meets(conditions, at(short_edge))) {
      edge = short_edge;
    }
  }
  b.found = true;
  b.number = edge;
  b.value = range.text(edge);
  b.beyond = range.text(b.upwards ? low : high);
  b.estimate = at(edge);
  b.estimate_beyond = estimate_at(b.beyond);
  return b;
}

}  // namespace roofcast::sim
