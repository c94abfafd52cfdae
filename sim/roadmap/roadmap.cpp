// SPDX-License-Identifier: Apache-2.0
#include "sim/roadmap/roadmap.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "sim/result/metrics.hpp"

namespace roofcast::sim {
namespace {

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

// An option or a feature that a workload's axis hides would gain nothing.
void check_hidden(const Roadmap& roadmap, base::Problems& problems) {
  Axis each{"option", roadmap.options};
  each.values.insert(each.values.end(), roadmap.features.begin(), roadmap.features.end());
  for (const PortfolioWorkload& workload : roadmap.workloads) {
    std::vector<Axis> axes = {each};
    axes.insert(axes.end(), workload.load.axes.begin(), workload.load.axes.end());
    for (const HiddenSetting& hidden : hidden_settings(axes)) {
      if (hidden.axis == &axes.front()) {
        problems.add(
            hidden.setting->path_place, hidden.value->label,
            fmt::format("sets {}, which the axis {} of workloads.{} sets after it, so that "
                        "it would change nothing: let one of them set it, or make the "
                        "axis one of factors, such as x1.2",
                        hidden.by->path, hidden.by_axis->name, workload.name));
      }
    }
  }
}

}  // namespace

double taken(const FeatureTakes& takes, FundBy by) {
  switch (by) {
    case FundBy::cost:
      return takes.cost ? takes.cost->si() : std::numeric_limits<double>::quiet_NaN();
    case FundBy::area:
      return takes.area_mm2.value_or(std::numeric_limits<double>::quiet_NaN());
    case FundBy::power:
      return takes.power ? takes.power->si() : std::numeric_limits<double>::quiet_NaN();
    case FundBy::gain:
      break;
  }
  return std::numeric_limits<double>::quiet_NaN();
}

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
  check_hidden(roadmap, problems);
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

void check(const Roadmap& roadmap) {
  Axis axis{"option", {{"", {}}}};
  axis.values.insert(axis.values.end(), roadmap.options.begin(), roadmap.options.end());
  axis.values.insert(axis.values.end(), roadmap.features.begin(), roadmap.features.end());
  for (const PortfolioWorkload& workload : roadmap.workloads) {
    points_of(workload, roadmap.set, {axis});
  }
}

}  // namespace roofcast::sim
