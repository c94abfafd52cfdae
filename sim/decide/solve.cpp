// SPDX-License-Identifier: Apache-2.0
#include "sim/decide/solve.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>

#include "sim/decide/sweep_run.hpp"
#include "sim/result/metrics.hpp"
#include "sim/scenario/knob.hpp"
#include "sim/scenario/sections.hpp"
#include "sim/scenario/written_number.hpp"

namespace roofcast::sim {
namespace {

constexpr int kLooks = 33;
constexpr double kExact = 1e-7;         // of a knob that is no whole number
constexpr double kReach = 1024.0;       // of a knob without a range, each way
constexpr double kMostWhole = 1048576;  // of one without a range

// Whether the knob takes whole numbers alone: the scenario cannot be read with half a one more.
bool is_count(const base::Node& document, const KnobRange& range, double number) {
  base::Node between = document;
  base::Problems problems;
  set_knob(between,
           {range.origin, fmt::format("{}={:.1f}", range.path, std::floor(number) + 0.5), {}},
           problems);
  try {
    problems.throw_if_any();
    read_scenario(between);
  } catch (const base::InputError&) {
    return true;
  }
  return false;
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

// Looks between the neighbours of the place that misses by least, until one meets the conditions or none is left.
class Narrowing {
 public:
  Narrowing(const KnobRange& range, std::function<double(double place)> misses_at)
      : range_(range), misses_at_(std::move(misses_at)) {}

  struct Place {
    double number = 0.0;
    double misses = 0.0;
  };
  // low and high: the neighbours, or at an end of the range the place itself.
  Place least(double low, Place at, double high) const {
    while (at.misses > 0.0 &&
           !(adjacent(range_, low, at.number) && adjacent(range_, at.number, high))) {
      const bool below = width(low, at.number) > width(at.number, high);
      const double number =
          below ? middle(range_, low, at.number) : middle(range_, at.number, high);
      if (number == low || number == high || number == at.number) {
        break;
      }
      const Place look{number, misses_at_(number)};
      const bool nearer = look.misses < at.misses;
      if (below) {
        (nearer ? high : low) = nearer ? at.number : number;
      } else {
        (nearer ? low : high) = nearer ? at.number : number;
      }
      at = nearer ? look : at;
    }
    return at;
  }

 private:
  double width(double a, double b) const { return range_.low > 0.0 ? std::log(b / a) : b - a; }

  const KnobRange& range_;
  std::function<double(double place)> misses_at_;
};

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
    const WrittenNumber now = written_number(node->text);
    if (!now.ok || now.value <= 0.0) {
      return problem(fmt::format("\"{}\" is {}, no number to start from; give a range or a list",
                                 range.path, node->text));
    }
    range.whole = now.whole && is_count(document, range, now.value);
    range.after = now.after;
    range.low = range.whole ? 1.0 : now.value / kReach;
    range.high = range.whole ? kMostWhole : now.value * kReach;
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
    if (const auto twice = same_twice(range.listed, range.path == "serving.version")) {
      return problem(twice->first == twice->second
                         ? fmt::format("has {} twice", twice->first)
                         : fmt::format("has {} twice, as {} too", twice->first, twice->second));
    }
    return range;
  }
  const WrittenNumber low = written_number(values.substr(0, dots));
  const WrittenNumber high = written_number(values.substr(dots + 2));
  if (!low.ok || !high.ok) {
    return problem("expects a number at both ends of the range: 1..64, \"1 /s..50 /s\", x0.5..x8");
  }
  if (low.before != high.before || (!low.after.empty() && low.after != high.after)) {
    return problem("expects both ends of the range in the same unit");
  }
  if (low.value >= high.value) {
    return problem("expects the low end of the range first");
  }
  bool is_broken = false;  // now, a number that is not whole
  if (const base::Node* now = document.find_path(range.path);
      high.after.empty() && high.before.empty() && now != nullptr && now->is_scalar()) {
    const WrittenNumber n = written_number(now->text);
    is_broken = n.ok && !n.whole;
    if (n.ok && !n.after.empty()) {
      return problem(fmt::format(
          "\"{}\" has a unit: {}; give one, for example '{}={:g}..{:g}{}', or factors: x0.5..x8",
          range.path, now->text, range.path, n.value, 2.0 * n.value, n.after));
    }
  }
  range.before = high.before;
  range.after = high.after;
  range.low = low.value;
  range.high = high.value;
  range.whole = low.whole && high.whole && !is_broken && is_count(document, range, low.value);
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

namespace {

double least_slack(const std::vector<Condition>& conditions, const ServingEstimate& e) {
  double least = std::numeric_limits<double>::infinity();
  for (const Condition& c : conditions) {
    least = std::fmin(least, slack(c, e));
  }
  return least;
}

}  // namespace

Boundary boundary_of(const KnobRange& range, const std::vector<Condition>& conditions,
                     const EstimateAt& estimate_at) {
  const auto at = [&](double number) { return estimate_at(range.text(number)); };
  Boundary b;
  std::vector<double> places;
  std::vector<bool> met;
  std::size_t nearest = 0;
  double least = std::numeric_limits<double>::infinity();
  const auto is_nearer = [&](double place, const ServingEstimate& e) {
    const double misses = shortfall(conditions, e);
    const bool nearer = b.value.empty() || misses < least;
    if (nearer) {
      least = misses;
      b.number = place;
      b.value = range.text(place);
      b.estimate = e;
    }
    return nearer;
  };
  for (int i = 0; i < kLooks; ++i) {
    const double share = static_cast<double>(i) / (kLooks - 1);
    double place = range.low > 0.0 ? range.low * std::pow(range.high / range.low, share)
                                   : range.low + share * (range.high - range.low);
    place = i + 1 == kLooks ? range.high : range.whole ? std::round(place) : place;
    if (!places.empty() && place <= places.back()) {
      continue;
    }
    const ServingEstimate e = at(place);
    nearest = is_nearer(place, e) ? places.size() : nearest;
    places.push_back(place);
    met.push_back(meets(conditions, e));
  }
  b.looks = places.size();
  b.every = range.whole && static_cast<double>(places.size()) > range.high - range.low;
  if (std::none_of(met.begin(), met.end(), [](bool m) { return m; }) && std::isfinite(least)) {
    const Narrowing between(range, [&](double place) {
      const ServingEstimate e = at(place);
      ++b.looks;
      is_nearer(place, e);
      return shortfall(conditions, e);
    });
    const auto found =
        between.least(places[nearest == 0 ? 0 : nearest - 1], {places[nearest], least},
                      places[std::min(nearest + 1, places.size() - 1)]);
    if (meets(conditions, b.estimate)) {
      const auto after = std::upper_bound(places.begin(), places.end(), found.number);
      met.insert(met.begin() + (after - places.begin()), true);
      places.insert(after, found.number);
    }
  }
  for (std::size_t i = 1; i < met.size(); ++i) {
    b.changes += met[i - 1] != met[i] ? 1 : 0;
  }
  b.upwards = !met.front();
  const auto change = std::adjacent_find(met.begin(), met.end(), std::not_equal_to<>());
  if (change == met.end()) {
    b.found = b.everywhere = met.front();
    if (b.everywhere) {
      const ServingEstimate low = at(range.low);
      const ServingEstimate high = at(range.high);
      b.upwards = least_slack(conditions, low) < least_slack(conditions, high);
      b.number = b.upwards ? range.low : range.high;
      b.value = range.text(b.number);
      b.estimate = b.upwards ? low : high;
    }
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
