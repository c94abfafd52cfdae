// SPDX-License-Identifier: Apache-2.0
#include "sim/roadmap/roadmap_result.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <string_view>

#include "base/no_number.hpp"
#include "base/statistics/shapley.hpp"

namespace roofcast::sim {
namespace {

using base::kNoNumber;

models::Spread spread_of(const Outcome& o) {
  const models::UncertainSum::HalfWidths half = o.operators.half_widths(o.uncertainty);
  return {half.below / o.iteration, half.above / o.iteration};
}

// What servers do beside their operators does not cancel. In 1,060 pairs of measured servers
// (calibrate/measurements/e2e/serving_silicon) that differ in their layout or in their chip alone, and whose forecast gain
// of TPOT is over 5 %, these are the 5 % and 95 % quantiles of ln(measured gain) / ln(forecast gain) − 1.
constexpr double kLessOfGain = 0.55;
constexpr double kMoreOfGain = 0.50;

constexpr double kNoLoss = 1e-9;  // of ln of a gain: less is an error of rounding
constexpr double kFewLost =
    0.01;  // of the largest share: less of the other sign leaves shares what they are

double gain_in(const Metric& metric, const Outcome& with, const Outcome& without) {
  const double ratio = metric.value(with.estimate) / metric.value(without.estimate);
  if (!std::isfinite(std::log(ratio))) {  // none of one, and so no gain
    return kNoNumber;
  }
  return metric.better == Better::lower ? 1.0 / ratio : ratio;
}

// Prices are certain: a gain of a cost errs as its throughput does. `beyond`: ln of the gain over the estimated one.
models::Spread server_spread(const Metric& metric, const Outcome& with, const Outcome& without,
                             double beyond) {
  const bool priced = metric.unit.find("USD") != std::string_view::npos;
  const Metric& timed = priced ? *find_metric("throughput_tok_per_s_per_gpu") : metric;
  const double logarithm = std::log(gain_in(timed, with, without)) + beyond;
  const double smaller = kLessOfGain * std::abs(logarithm);
  const double larger = kMoreOfGain * std::abs(logarithm);
  const bool loss = logarithm < 0.0;
  return {1.0 - std::exp(-(loss ? larger : smaller)), std::exp(loss ? smaller : larger) - 1.0};
}

bool has_prefix(const Metric& metric, std::string_view prefix) {
  return metric.name.starts_with(prefix);
}

// Gains of rates, costs and energies where both are open loops: arrivals set the rate, so that only a server that may
// saturate errs. Nothing of other metrics.
std::optional<models::Spread> open_spread(const Metric& metric, const Outcome& with,
                                          const Outcome& without, double beyond) {
  const bool energy = has_prefix(metric, "energy_") || has_prefix(metric, "tok_per_j");
  const bool rate = has_prefix(metric, "throughput_") || has_prefix(metric, "requests_per_s") ||
                    metric.unit.find("USD") != std::string_view::npos;
  if (!is_open(with.estimate.steady) || !is_open(without.estimate.steady) || !(rate || energy)) {
    return std::nullopt;
  }
  const models::Spread rates =
      models::together(with.estimate.spreads.rate, models::inverse(without.estimate.spreads.rate));
  return energy ? models::together(rates, server_spread(metric, with, without, beyond)) : rates;
}

// Both are found.
Gain gain_of(const Metric& metric, const Outcome& with, const Outcome& without, double value) {
  Gain gain{value, {kNoNumber, kNoNumber}};
  const double beyond = std::log(value / gain_in(metric, with, without));
  if (const auto spread = open_spread(metric, with, without, beyond)) {
    gain.interval = {gain.value * (1.0 - spread->below), gain.value * (1.0 + spread->above)};
    return gain;
  }
  if (with.iteration > base::Seconds{} && without.iteration > base::Seconds{}) {
    const models::Spread operators =
        with.calibration == without.calibration
            ? models::ratio_spread(without.operators, without.iteration, without.uncertainty,
                                   with.operators, with.iteration, with.uncertainty)
            : models::together(spread_of(without), models::inverse(spread_of(with)));
    const models::Spread spread =
        models::together(operators, server_spread(metric, with, without, beyond));
    gain.interval = {gain.value * (1.0 - spread.below), gain.value * (1.0 + spread.above)};
  }
  return gain;
}

// Weighted geometric mean over the workloads that the base can run.
template <class GainOf>
double mean_gain(const Roadmap& roadmap, const std::vector<Outcome>& base, GainOf gain) {
  double sum = 0.0;
  double weights = 0.0;
  for (std::size_t w = 0; w < roadmap.workloads.size(); ++w) {
    if (base[w].found) {
      sum += roadmap.workloads[w].weight * std::log(gain(w));
      weights += roadmap.workloads[w].weight;
    }
  }
  return weights > 0.0 ? std::exp(sum / weights) : kNoNumber;
}

OptionResult judged(const Roadmap& roadmap, std::string name, std::vector<Outcome> outcomes,
                    const std::vector<Outcome>& base) {
  OptionResult result;
  result.name = std::move(name);
  for (std::size_t w = 0; w < outcomes.size(); ++w) {
    result.gains.push_back(
        gain_of(*find_metric(roadmap.workloads[w].metric), outcomes[w], base[w]));
  }
  const auto over_all = [&](auto of) {
    return mean_gain(roadmap, base, [&](std::size_t w) { return of(result.gains[w]); });
  };
  const auto gain_of_all = [&](const char* metric) {
    return mean_gain(roadmap, base, [&](std::size_t w) {
      return gain_of(*find_metric(metric), outcomes[w], base[w]).value;
    });
  };
  // Workloads err together at most: their intervals are not narrowed by their number.
  result.portfolio = {over_all([](const Gain& g) { return g.value; }),
                      {over_all([](const Gain& g) { return g.interval.low; }),
                       over_all([](const Gain& g) { return g.interval.high; })}};
  result.tok_per_j = gain_of_all("tok_per_j");
  result.tok_per_usd = gain_of_all("cost_usd_per_mtok");
  for (std::size_t w = 0; w < outcomes.size(); ++w) {
    const Metric& metric = *find_metric(roadmap.workloads[w].metric);
    const double ratio = outcomes[w].replayed / base[w].replayed;
    result.replayed_gains.push_back(metric.better == Better::lower ? 1.0 / ratio : ratio);
  }
  result.replayed =
      mean_gain(roadmap, base, [&](std::size_t w) { return result.replayed_gains[w]; });
  result.outcomes = std::move(outcomes);
  return result;
}

std::vector<OptionResult> compared(const Roadmap& roadmap, const ReplayedRowsOptions& options) {
  Axis axis{"option", {{"", {}}}};
  axis.values.insert(axis.values.end(), roadmap.options.begin(), roadmap.options.end());
  std::vector<std::size_t> all(axis.values.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  std::vector<std::vector<Outcome>> by_option(axis.values.size());
  for (const PortfolioWorkload& workload : roadmap.workloads) {
    Choices choices(workload, roadmap.set, {axis});
    if (options.replay) {
      choices.replay(all, options);
    }
    for (std::size_t o = 0; o < all.size(); ++o) {
      by_option[o].push_back(choices.explained(o));
    }
  }
  const std::vector<Outcome> base = by_option.front();
  std::vector<OptionResult> results;
  for (std::size_t o = 0; o < by_option.size(); ++o) {
    results.push_back(judged(roadmap, axis.values[o].label, std::move(by_option[o]), base));
  }
  return results;
}

std::string names_of(const Roadmap& roadmap, std::size_t subset) {
  std::string names;
  for (std::size_t i = 0; i < roadmap.features.size(); ++i) {
    if ((subset >> i & 1U) != 0) {
      names += fmt::format("{}{}", names.empty() ? "" : " + ", roadmap.features[i].label);
    }
  }
  return names;
}

std::vector<Outcome> outcomes_of(const std::vector<Choices>& workloads, std::size_t choice) {
  std::vector<Outcome> outcomes;
  for (const Choices& workload : workloads) {
    outcomes.push_back(workload.explained(choice));
  }
  return outcomes;
}

// Of each subset of features, ln of the portfolio's gain. Empty, with `no_features`, where a workload cannot run one.
std::vector<double> values_of(const Roadmap& roadmap, const std::vector<Choices>& workloads,
                              RoadmapResult& result) {
  std::vector<double> values;
  result.subsets.assign(roadmap.workloads.size(), {});
  for (std::size_t subset = 0; subset < std::size_t{1} << roadmap.features.size(); ++subset) {
    std::vector<double> gains;
    for (std::size_t w = 0; w < workloads.size(); ++w) {
      const Outcome& outcome = workloads[w].outcomes()[subset];
      if (!outcome.found && result.base.outcomes[w].found) {
        result.no_features = fmt::format("{} with {}: {}", roadmap.workloads[w].name,
                                         names_of(roadmap, subset), outcome.reason);
        return {};
      }
      gains.push_back(gain_of(*find_metric(roadmap.workloads[w].metric), outcome,
                              workloads[w].outcomes().front())
                          .value);
      if (result.base.outcomes[w].found && std::isnan(gains.back())) {
        const std::string with = names_of(roadmap, subset);
        result.no_features =
            fmt::format("{}: no gain can be told, {} is {:g} {}", roadmap.workloads[w].name,
                        roadmap.workloads[w].metric,
                        find_metric(roadmap.workloads[w].metric)->value(outcome.estimate),
                        with.empty() ? "without any feature" : "with " + with);
        return {};
      }
      if (result.base.outcomes[w].found) {
        result.subsets[w].push_back(std::log(gains.back()));
      }
    }
    values.push_back(std::log(
        mean_gain(roadmap, result.base.outcomes, [&](std::size_t w) { return gains[w]; })));
  }
  return values;
}

// No features, then those of the order, one more each time.
std::vector<std::size_t> prefixes(const std::vector<std::size_t>& order) {
  std::vector<std::size_t> subsets = {0};
  for (const std::size_t i : order) {
    subsets.push_back(subsets.back() | std::size_t{1} << i);
  }
  return subsets;
}

// Up to where the next one gains nothing.
std::vector<std::size_t> gaining(std::vector<std::size_t> subsets,
                                 const std::vector<double>& values) {
  const auto end =
      std::adjacent_find(subsets.begin(), subsets.end(), [&](std::size_t before, std::size_t with) {
        return !(values[with] - values[before] > kNoLoss);
      });
  subsets.resize(end == subsets.end() ? subsets.size()
                                      : static_cast<std::size_t>(end - subsets.begin()) + 1);
  return subsets;
}

void add_edges(std::vector<ListEdge>& edges, std::size_t workload, const Outcome& outcome,
               const std::string& with) {
  for (const std::string& at : outcome.edges) {
    auto edge = std::find_if(edges.begin(), edges.end(), [&](const ListEdge& known) {
      return known.workload == workload && known.at == at;
    });
    if (edge == edges.end()) {
      edge = edges.insert(edges.end(), {workload, at, {}});
    }
    if (edge->with.empty() || edge->with.back() != with) {
      edge->with.push_back(with);
    }
  }
}

void combine(const Roadmap& roadmap, const ReplayedRowsOptions& options, RoadmapResult& result) {
  const std::size_t n = roadmap.features.size();
  std::vector<Axis> axes;
  for (std::size_t i = n; i-- > 0;) {  // the last axis is fastest: the first feature is bit 0
    axes.push_back({"feature", {{"", {}}, roadmap.features[i]}});
  }
  std::vector<Choices> workloads;
  for (const PortfolioWorkload& workload : roadmap.workloads) {
    workloads.emplace_back(workload, roadmap.set, axes);
  }
  std::vector<double> takes;
  for (std::size_t i = 0; i < n && roadmap.by != FundBy::gain; ++i) {
    takes.push_back(taken(roadmap.takes[i], roadmap.by));
  }
  std::vector<double> values;
  std::vector<std::size_t> joined;  // what is funded, one feature more each time
  for (bool changed = true; changed;) {
    values = values_of(roadmap, workloads, result);
    if (values.empty()) {
      result.order.clear();
      return;
    }
    result.order = base::greedy_order(values, takes);
    joined = gaining(prefixes(result.order), values);
    changed = false;
    for (Choices& workload : workloads) {
      changed = (options.replay && workload.replay(joined, options)) || changed;
    }
  }
  std::vector<double> shares = base::shapley_shares(values);
  const std::size_t all = values.size() - 1;
  const auto [least, most] = std::minmax_element(shares.begin(), shares.end());
  const bool of_one_sign = *least >= -kFewLost * *most || *most <= -kFewLost * *least;
  for (double& share : shares) {
    share = of_one_sign && std::abs(values[all]) > kNoLoss ? share / values[all] : kNoNumber;
  }
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t bit = std::size_t{1} << i;
    result.features.push_back({roadmap.features[i].label, std::exp(values[bit]),
                               std::exp(values[all] - values[all ^ bit]), shares[i],
                               taken(roadmap.takes[i], roadmap.by)});
    for (std::size_t j = i + 1; j < n; ++j) {
      result.pairs.push_back({i, j, std::exp(base::interaction(values, i, j))});
    }
  }
  for (std::size_t w = 0; w < workloads.size(); ++w) {
    for (std::size_t subset = 1; subset <= all; ++subset) {
      add_edges(result.edges, w, workloads[w].outcomes()[subset], "features");
    }
  }
  for (std::size_t place = 1; place < joined.size(); ++place) {
    result.funded.push_back(judged(roadmap, names_of(roadmap, joined[place]),
                                   outcomes_of(workloads, joined[place]),
                                   outcomes_of(workloads, 0)));
  }
  std::stable_sort(result.pairs.begin(), result.pairs.end(),
                   [](const FeaturePair& a, const FeaturePair& b) {
                     return std::abs(std::log(a.gain)) > std::abs(std::log(b.gain));
                   });
}

}  // namespace

Gain gain_of(const Metric& metric, const Outcome& with, const Outcome& without) {
  return with.found && without.found
             ? gain_of(metric, with, without, gain_in(metric, with, without))
             : Gain{kNoNumber, {kNoNumber, kNoNumber}};
}

Gain replayed_gain_of(const Metric& metric, const Outcome& with, const Outcome& without) {
  const double ratio = with.replayed / without.replayed;
  return with.found && without.found && std::isfinite(std::log(ratio))
             ? gain_of(metric, with, without, metric.better == Better::lower ? 1.0 / ratio : ratio)
             : gain_of(metric, with, without);
}

RoadmapResult run_roadmap(const Roadmap& roadmap, const ReplayedRowsOptions& options) {
  RoadmapResult result;
  result.options = compared(roadmap, options);
  result.base = std::move(result.options.front());
  result.options.erase(result.options.begin());
  std::stable_sort(result.options.begin(), result.options.end(),
                   [](const OptionResult& a, const OptionResult& b) {
                     const auto rank = [](const OptionResult& o) {
                       return std::isnan(o.portfolio.value) ? 0.0 : o.portfolio.value;
                     };
                     return rank(a) > rank(b);
                   });
  for (std::size_t w = 0; w < roadmap.workloads.size(); ++w) {
    add_edges(result.edges, w, result.base.outcomes[w], "no option");
    for (const OptionResult& option : result.options) {
      add_edges(result.edges, w, option.outcomes[w], option.name);
    }
  }
  if (!roadmap.features.empty()) {
    combine(roadmap, options, result);
  }
  return result;
}

}  // namespace roofcast::sim
