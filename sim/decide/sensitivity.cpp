// SPDX-License-Identifier: Apache-2.0
#include "sim/decide/sensitivity.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/no_number.hpp"

namespace roofcast::sim {
namespace {

using base::kNoNumber;
constexpr double kFree = 1e9;

// A knob at one of its places, and the logarithm of its change.
struct Place {
  Settings settings;
  double log = 0.0;
};

Place place_of(const QuantityKnob& knob, double factor) {
  if (!knob.whole) {
    return {{knob.times(factor)}, std::log(factor)};
  }
  const double moved = std::round(knob.number * factor);
  const double value =
      factor > 1.0 ? std::max(knob.number + 1.0, moved) : std::min(knob.number - 1.0, moved);
  return {{knob.at(value)}, value > 0.0 ? std::log(value / knob.number) : kNoNumber};
}

// The sentence of a message, without the lines that show where.
std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

double value_of(const Metric& metric, const OverriddenEstimate& t) {
  return t.refusal.empty() && t.estimate.fits() ? metric.value(t.estimate) : kNoNumber;
}

// From both sides, or from one and the middle.
double slope(double low, double middle, double high, double log_low, double log_high) {
  if (std::isnan(low)) {
    return std::log(high / middle) / log_high;
  }
  if (std::isnan(high)) {
    return std::log(low / middle) / log_low;
  }
  return std::log(high / low) / (log_high - log_low);
}

enum At : std::size_t { kLow, kHigh, kHalfLow, kHalfHigh, kImproved, kPlaces };

std::string note_of(std::span<const OverriddenEstimate> places) {
  const auto missing = [](const OverriddenEstimate& t) {
    return !t.refusal.empty() || !t.estimate.fits();
  };
  const auto why = [](const OverriddenEstimate& t) {
    return t.refusal.empty() ? reason(t.estimate) : first_line(t.refusal);
  };
  if (missing(places[kLow]) && missing(places[kHigh])) {
    return why(places[kHigh]);
  }
  return missing(places[kLow]) || missing(places[kHigh]) ? "one-sided" : "";
}

}  // namespace

std::vector<KnobElasticities> elasticities(const OverriddenScenario& scenario,
                                           std::span<const QuantityKnob> knobs,
                                           std::span<const Metric* const> metrics,
                                           StepAndGain options) {
  std::vector<Settings> all = {{}};
  std::vector<std::array<double, kPlaces>> logs;
  for (const QuantityKnob& knob : knobs) {
    const double better = knob.less_is_better() ? 1.0 / options.gain : options.gain;
    const double factors[kPlaces] = {1.0 / options.step, options.step,
                                     1.0 / std::sqrt(options.step), std::sqrt(options.step),
                                     better};
    auto& of_knob = logs.emplace_back();
    for (std::size_t i = 0; i < kPlaces; ++i) {
      const Place place = place_of(knob, factors[i]);
      of_knob[i] = place.log;
      all.push_back(place.settings);
    }
  }
  const std::vector<OverriddenEstimate> estimates = scenario.estimates(all);
  std::vector<KnobElasticities> out;
  for (std::size_t k = 0; k < knobs.size(); ++k) {
    const std::span<const OverriddenEstimate> places(estimates.data() + 1 + k * kPlaces, kPlaces);
    KnobElasticities& row = out.emplace_back();
    row.knob = knobs[k];
    row.note = note_of(places);
    for (const Metric* metric : metrics) {
      const double middle = value_of(*metric, estimates.front());
      double values[kPlaces];
      for (std::size_t i = 0; i < kPlaces; ++i) {
        values[i] = std::isnan(logs[k][i]) ? kNoNumber : value_of(*metric, places[i]);
      }
      const double half =
          slope(values[kHalfLow], middle, values[kHalfHigh], logs[k][kHalfLow], logs[k][kHalfHigh]);
      row.of.push_back({slope(values[kLow], middle, values[kHigh], logs[k][kLow], logs[k][kHigh]),
                        knobs[k].whole ? kNoNumber : half, values[kImproved]});
    }
  }
  return out;
}

double sum_over_rates(std::span<const KnobElasticities> all, std::size_t metric) {
  double sum = 0.0;
  for (const KnobElasticities& each : all) {
    const double value = each.of[metric].value;
    sum -= each.knob.resource && !std::isnan(value) ? each.knob.time * value : 0.0;
  }
  return sum;
}

Waterfall waterfall(const OverriddenScenario& scenario, std::span<const QuantityKnob> knobs,
                    const Metric& metric) {
  std::map<unsigned, double> known;
  const auto with = [&](unsigned freed) {
    const auto [at, added] = known.emplace(freed, 0.0);
    if (added) {
      Settings settings;
      for (const QuantityKnob& knob : knobs) {
        // The power of the parent is that of its energies, no limit.
        const bool limits = knob.resource != Resource::power || !knob.is_of_the_parent();
        if (knob.resource && limits && knob.time != 0 &&
            (freed >> static_cast<unsigned>(*knob.resource) & 1U) != 0) {
          settings.push_back(knob.times(knob.time < 0 ? kFree : 1.0 / kFree));
        }
      }
      at->second = value_of(metric, scenario.estimate(settings));
    }
    return at->second;
  };
  Waterfall out;
  out.now = with(0);
  unsigned freed = 0;
  std::vector<Resource> left;
  for (std::size_t i = 0; i < kResources; ++i) {
    const auto resource = static_cast<Resource>(i);
    if (std::any_of(knobs.begin(), knobs.end(),
                    [&](const QuantityKnob& knob) { return knob.resource == resource; })) {
      left.push_back(resource);
    }
  }
  const auto bit = [](Resource resource) { return 1U << static_cast<unsigned>(resource); };
  while (!left.empty()) {
    const auto best = std::min_element(left.begin(), left.end(), [&](Resource a, Resource b) {
      return with(freed | bit(a)) < with(freed | bit(b));
    });
    freed |= bit(*best);
    out.steps.push_back({*best, with(bit(*best)), with(freed)});
    left.erase(best);
  }
  return out;
}

}  // namespace roofcast::sim
