// SPDX-License-Identifier: Apache-2.0
#include "sim/decide/roadmap.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/statistics/shapley.hpp"
#include "sim/decide/sweep_run.hpp"
#include "sim/iteration/iteration.hpp"
#include "sim/result/costs.hpp"

namespace roofcast::sim {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t kMostPoints = 1'000'000;  // of one workload

void read_metric(base::Fields& f, std::string& metric) {
  f.text("metric", metric, base::optional);
  const Metric* known = find_metric(metric);
  if (metric.empty()) {
    return;
  }
  if (known == nullptr) {
    f.problem("metric", unknown_metric(metric));
  } else if (known->better == Better::none) {
    f.problem("metric", fmt::format("{} is neither better when higher nor when lower", metric));
  }
}

std::vector<AxisValue> read_bundles(base::Fields& f, const char* key, base::Problems& problems) {
  std::vector<AxisValue> bundles;
  if (const base::Node* node = f.take(key)) {
    for (const base::Entry& entry : node->entries) {
      bundles.push_back(read_bundle(entry, key, problems));
    }
    if (bundles.empty()) {
      problems.add(node->place, key, "expects names and their settings");
    }
  }
  return bundles;
}

double taken(const FeatureTakes& takes, FundBy by) {
  switch (by) {
    case FundBy::cost:
      return takes.cost ? takes.cost->si() : kNone;
    case FundBy::area:
      return takes.area_mm2.value_or(kNone);
    case FundBy::power:
      return takes.power ? takes.power->si() : kNone;
    case FundBy::gain:
      break;
  }
  return kNone;
}

void read(base::Fields& f, FeatureTakes& takes) {
  double area = 0.0;
  f.quantity("cost", takes.cost);
  f.number("area_mm2", area, base::positive, base::optional);
  f.quantity("power", takes.power);
  if (area > 0.0) {
    takes.area_mm2 = area;
  }
}

// What the features take, and the figure that the order is by.
void read_takes(base::Fields& f, Roadmap& roadmap) {
  roadmap.takes.resize(roadmap.features.size());
  f.group(
      "takes",
      [&](base::Fields& g) {
        for (std::size_t i = 0; i < roadmap.features.size(); ++i) {
          g.group(
              roadmap.features[i].label, [&](base::Fields& h) { read(h, roadmap.takes[i]); },
              base::optional);
        }
      },
      base::optional);
  f.choice<FundBy>("by", roadmap.by,
                   {{"gain", FundBy::gain},
                    {"cost", FundBy::cost},
                    {"area", FundBy::area},
                    {"power", FundBy::power}},
                   base::optional);
  for (std::size_t i = 0; roadmap.by != FundBy::gain && i < roadmap.features.size(); ++i) {
    if (std::isnan(taken(roadmap.takes[i], roadmap.by))) {
      f.problem("by", fmt::format("needs what each feature takes: takes.{} does not say it",
                                  roadmap.features[i].label));
      return;
    }
  }
}

void read_workloads(base::Fields& f, Roadmap& roadmap, base::Problems& problems) {
  const base::Node* workloads = f.take("workloads", base::required);
  if (workloads == nullptr) {
    return;
  }
  for (const base::Entry& entry : workloads->entries) {
    PortfolioWorkload workload;
    workload.name = entry.key;
    base::Fields w(entry.value, fmt::format("workloads.{}", entry.key), problems);
    read(w, workload, problems);
    w.end();
    if (workload.metric.empty()) {
      workload.metric = roadmap.metric;
    }
    roadmap.workloads.push_back(std::move(workload));
  }
  if (roadmap.workloads.empty()) {
    problems.add(workloads->place, "workloads", "expects at least one workload");
  }
}

models::Spread spread_of(const Outcome& o) {
  const models::UncertainSum::HalfWidths half = o.operators.half_widths(o.uncertainty);
  return {half.below / o.iteration, half.above / o.iteration};
}

// What servers do beside their operators does not cancel. In 1,060 pairs of measured servers
// (calibrate/measurements/e2e/serving_silicon) that differ in their layout or in their chip alone, and whose forecast gain
// of TPOT is over 5 %, these are the 5 % and 95 % quantiles of ln(measured gain) / ln(forecast gain) − 1.
constexpr double kLessOfGain = 0.55;
constexpr double kMoreOfGain = 0.50;

double gain_in(const Metric& metric, const Outcome& with, const Outcome& without) {
  const double ratio = metric.value(with.estimate) / metric.value(without.estimate);
  return metric.better == Better::lower ? 1.0 / ratio : ratio;
}

// Prices are certain: a gain of a cost errs as its throughput does.
models::Spread server_spread(const Metric& metric, const Outcome& with, const Outcome& without) {
  const bool priced = metric.unit.find("USD") != std::string_view::npos;
  const Metric& timed = priced ? *find_metric("throughput_tok_per_s_per_gpu") : metric;
  const double logarithm = std::log(gain_in(timed, with, without));
  const double smaller = kLessOfGain * std::abs(logarithm);
  const double larger = kMoreOfGain * std::abs(logarithm);
  const bool loss = logarithm < 0.0;
  return {1.0 - std::exp(-(loss ? larger : smaller)), std::exp(loss ? smaller : larger) - 1.0};
}

// What the interval of a gain is made of.
void weigh(Outcome& outcome, const ScenarioView& scenario, Workspace& workspace) {
  const SteadyState& steady = outcome.estimate.steady;
  outcome.uncertainty = scenario.platform->machine.uncertainty;
  outcome.calibration = scenario.platform->system.calibration.name;
  outcome.priced_with = priced_with(scenario);
  for (const auto& [batch, share] : {std::pair{steady.decode_iteration, 1.0 - steady.prefill_share},
                                     std::pair{steady.prefill_iteration, steady.prefill_share}}) {
    if (share > 0.0) {
      const IterationCost cost = iteration_cost(scenario, batch, workspace);
      outcome.operators.add(cost.operators, share);
      outcome.iteration += cost.latency * share;
    }
  }
}

// The settings that `axes` choose before the workload's own axes, the last fastest.
SweepPoints points_of(const PortfolioWorkload& workload, const AxisValue& set,
                      const std::vector<Axis>& axes) {
  Sweep sweep = workload.load;
  sweep.pareto = default_goal();
  sweep.axes.insert(sweep.axes.begin(), axes.begin(), axes.end());
  sweep.axes.insert(sweep.axes.begin(), {"set", {set}});
  if (sweep.points() > kMostPoints) {
    throw base::InputError(fmt::format("error: workloads.{}: {} points; at most {} are compared\n",
                                       workload.name, sweep.points(), kMostPoints));
  }
  return SweepPoints(std::move(sweep));
}

// The best outcome for every combination of the settings that `axes` choose.
std::vector<Outcome> outcomes_of(const PortfolioWorkload& workload, const AxisValue& set,
                                 const std::vector<Axis>& axes) {
  const SweepPoints points = points_of(workload, set, axes);
  const std::vector<ServingEstimate> estimates = sweep_estimates(points, 0);
  const Metric& metric = *find_metric(workload.metric);
  const double sign = metric.better == Better::lower ? -1.0 : 1.0;
  const std::size_t block = workload.load.points();
  std::vector<Outcome> outcomes;
  Workspace workspace;
  for (std::size_t start = 0; start < points.size(); start += block) {
    Outcome outcome;
    std::size_t best = start;
    for (std::size_t i = start; i < start + block; ++i) {
      const double value = metric.value(estimates[i]);
      if (missed(workload.load.where, estimates[i]).empty() && !std::isnan(value) &&
          (!outcome.found || sign * value > sign * metric.value(estimates[best]))) {
        outcome.found = true;
        best = i;
      }
    }
    if (outcome.found) {
      outcome = outcome_of(points.scenario(best), estimates[best], workspace);
      const std::size_t own = axes.size() + 1;
      for (std::size_t a = own; a < points.sweep().axes.size(); ++a) {
        const std::string& name = points.sweep().axes[a].name;
        outcome.place +=
            fmt::format("{}{} {}", a == own ? "" : ", ", name.substr(name.find_last_of('.') + 1),
                        points.label(best, a));
      }
    } else {
      outcome.estimate = estimates[best];
      outcome.reason = missed(workload.load.where, outcome.estimate);
    }
    outcomes.push_back(std::move(outcome));
  }
  return outcomes;
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
  return weights > 0.0 ? std::exp(sum / weights) : kNone;
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
  result.outcomes = std::move(outcomes);
  return result;
}

std::vector<OptionResult> compared(const Roadmap& roadmap) {
  Axis axis{"option", {{"", {}}}};
  axis.values.insert(axis.values.end(), roadmap.options.begin(), roadmap.options.end());
  std::vector<std::vector<Outcome>> by_option(axis.values.size());
  for (const PortfolioWorkload& workload : roadmap.workloads) {
    std::vector<Outcome> outcomes = outcomes_of(workload, roadmap.set, {axis});
    for (std::size_t o = 0; o < outcomes.size(); ++o) {
      by_option[o].push_back(std::move(outcomes[o]));
    }
  }
  const std::vector<Outcome> base = by_option.front();
  std::vector<OptionResult> results;
  for (std::size_t o = 0; o < by_option.size(); ++o) {
    results.push_back(judged(roadmap, axis.values[o].label, std::move(by_option[o]), base));
  }
  return results;
}

void combine(const Roadmap& roadmap, RoadmapResult& result) {
  const std::size_t n = roadmap.features.size();
  std::vector<Axis> axes;
  for (std::size_t i = n; i-- > 0;) {  // the last axis is fastest: the first feature is bit 0
    axes.push_back({"feature", {{"", {}}, roadmap.features[i]}});
  }
  std::vector<std::vector<Outcome>> by_workload;
  for (const PortfolioWorkload& workload : roadmap.workloads) {
    by_workload.push_back(outcomes_of(workload, roadmap.set, axes));
  }
  std::vector<double> values;  // ln of the portfolio's gain
  result.subsets.resize(roadmap.workloads.size());
  for (std::size_t subset = 0; subset < std::size_t{1} << n; ++subset) {
    for (std::size_t w = 0; w < by_workload.size(); ++w) {
      const Outcome& outcome = by_workload[w][subset];
      if (!outcome.found && result.base.outcomes[w].found) {
        std::string names;
        for (std::size_t i = 0; i < n; ++i) {
          if ((subset >> i & 1U) != 0) {
            names += fmt::format("{}{}", names.empty() ? "" : " + ", roadmap.features[i].label);
          }
        }
        result.no_features =
            fmt::format("{} with {}: {}", roadmap.workloads[w].name, names, outcome.reason);
        return;
      }
    }
    std::vector<double> gains;
    for (std::size_t w = 0; w < by_workload.size(); ++w) {
      gains.push_back(gain_of(*find_metric(roadmap.workloads[w].metric), by_workload[w][subset],
                              by_workload[w].front())
                          .value);
      if (result.base.outcomes[w].found) {
        result.subsets[w].push_back(std::log(gains.back()));
      }
    }
    values.push_back(std::log(
        mean_gain(roadmap, result.base.outcomes, [&](std::size_t w) { return gains[w]; })));
  }
  const std::vector<double> shares = base::shapley_shares(values);
  const std::size_t all = values.size() - 1;
  std::vector<double> takes;
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t bit = std::size_t{1} << i;
    result.features.push_back({roadmap.features[i].label, std::exp(values[bit]),
                               std::exp(values[all] - values[all ^ bit]), shares[i] / values[all],
                               taken(roadmap.takes[i], roadmap.by)});
    if (roadmap.by != FundBy::gain) {
      takes.push_back(result.features.back().takes);
    }
    for (std::size_t j = i + 1; j < n; ++j) {
      result.pairs.push_back({i, j, std::exp(base::interaction(values, i, j))});
    }
  }
  result.order = base::greedy_order(values, takes);
  std::size_t joined = 0;
  for (const std::size_t i : result.order) {
    joined |= std::size_t{1} << i;
    result.together.push_back(std::exp(values[joined]));
  }
  std::stable_sort(result.pairs.begin(), result.pairs.end(),
                   [](const FeaturePair& a, const FeaturePair& b) {
                     return std::abs(std::log(a.gain)) > std::abs(std::log(b.gain));
                   });
}

}  // namespace

void read(base::Fields& f, PortfolioWorkload& workload, base::Problems& problems) {
  f.number("weight", workload.weight, base::positive, base::optional);
  read_metric(f, workload.metric);
  read_points(f, workload.load, problems, base::optional);
}

void read(base::Fields& f, Roadmap& roadmap, base::Problems& problems) {
  f.text("question", roadmap.question, base::optional);
  read_metric(f, roadmap.metric);
  if (const base::Node* set = f.take("set")) {
    roadmap.set = read_bundle({"set", set->place, *set}, "", problems);
  }
  read_workloads(f, roadmap, problems);
  roadmap.options = read_bundles(f, "options", problems);
  roadmap.features = read_bundles(f, "features", problems);
  read_takes(f, roadmap);
  if (roadmap.options.empty() && roadmap.features.empty() && problems.empty()) {
    f.problem("options", "there are neither options nor features");
  }
  if (roadmap.features.size() > kMostFeatures) {
    f.problem("features", fmt::format("at most {} are combined", kMostFeatures));
  }
}

Roadmap read_roadmap(const base::Node& document) {
  base::Problems problems;
  Roadmap roadmap;
  base::Fields fields(document, "", problems);
  read(fields, roadmap, problems);
  fields.end();
  problems.throw_if_any();
  return roadmap;
}

void check(const Roadmap& roadmap) {
  Axis axis{"option", {{"", {}}}};
  axis.values.insert(axis.values.end(), roadmap.options.begin(), roadmap.options.end());
  axis.values.insert(axis.values.end(), roadmap.features.begin(), roadmap.features.end());
  for (const PortfolioWorkload& workload : roadmap.workloads) {
    points_of(workload, roadmap.set, {axis});
  }
}

Outcome outcome_of(const ScenarioView& scenario, const ServingEstimate& estimate,
                   Workspace& workspace) {
  Outcome outcome;
  outcome.found = true;
  outcome.estimate = estimate;
  if (!estimate.workflow) {
    weigh(outcome, scenario, workspace);
  }
  return outcome;
}

Gain gain_of(const Metric& metric, const Outcome& with, const Outcome& without) {
  Gain gain{kNone, {kNone, kNone}};
  if (!with.found || !without.found) {
    return gain;
  }
  gain.value = gain_in(metric, with, without);
  if (with.iteration > base::Seconds{} && without.iteration > base::Seconds{}) {
    const models::Spread operators =
        with.calibration == without.calibration
            ? models::ratio_spread(without.operators, without.iteration, without.uncertainty,
                                   with.operators, with.iteration, with.uncertainty)
            : models::together(spread_of(without), models::inverse(spread_of(with)));
    const models::Spread spread = models::together(operators, server_spread(metric, with, without));
    gain.interval = {gain.value * (1.0 - spread.below), gain.value * (1.0 + spread.above)};
  }
  return gain;
}

RoadmapResult run_roadmap(const Roadmap& roadmap) {
  RoadmapResult result;
  result.options = compared(roadmap);
  result.base = std::move(result.options.front());
  result.options.erase(result.options.begin());
  std::stable_sort(result.options.begin(), result.options.end(),
                   [](const OptionResult& a, const OptionResult& b) {
                     const auto rank = [](const OptionResult& o) {
                       return std::isnan(o.portfolio.value) ? 0.0 : o.portfolio.value;
                     };
                     return rank(a) > rank(b);
                   });
  if (!roadmap.features.empty()) {
    combine(roadmap, result);
  }
  return result;
}

}  // namespace roofcast::sim
