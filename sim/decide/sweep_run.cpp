// SPDX-License-Identifier: Apache-2.0
#include "sim/decide/sweep_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/threads.hpp"
#include "sim/decide/pareto.hpp"
#include "sim/result/metrics.hpp"
#include "sim/result/score.hpp"
#include "sim/scenario/accuracy.hpp"

namespace roofcast::sim {
namespace {

using base::Node;
using base::Problems;

constexpr std::size_t kChunk = 256;  // points a thread takes at once

// The combinations of the axes that touch one section.
struct Combinations {
  std::vector<std::size_t> axes;  // in the sweep's order
  std::vector<std::size_t> sizes;
  std::size_t count = 1;
};

std::string_view section_of(std::string_view path) { return path.substr(0, path.find('.')); }

// Whether a setting decides a section: its own settings do, a model decides the precision it was
// published in where the sweep's base names none, and the serving stack decides which calibration a
// system takes that names none.
bool decides(const Sweep& sweep, const Assignment& a, std::string_view section) {
  const std::string_view own = section_of(a.path);
  return own == section ||
         (section == "precision" && own == "model" && sweep.base.find("precision") == nullptr) ||
         (section == "system" && (a.path == "serving" || a.path.starts_with("serving.stack")));
}

bool touches(const Sweep& sweep, const Axis& axis, std::string_view section) {
  return std::any_of(axis.values.begin(), axis.values.end(), [&](const AxisValue& value) {
    return std::any_of(value.set.begin(), value.set.end(),
                       [&](const Assignment& a) { return decides(sweep, a, section); });
  });
}

Combinations combinations_of(const Sweep& sweep, std::string_view section) {
  Combinations c;
  for (std::size_t i = 0; i < sweep.axes.size(); ++i) {
    if (touches(sweep, sweep.axes[i], section)) {
      c.axes.push_back(i);
      c.sizes.push_back(sweep.axes[i].values.size());
      c.count *= sweep.axes[i].values.size();
    }
  }
  return c;
}

void set_outer_first(Node& document, std::vector<const Assignment*> assignments,
                     Problems& problems) {
  std::stable_sort(assignments.begin(), assignments.end(),
                   [](const Assignment* a, const Assignment* b) {
                     return std::count(a->path.begin(), a->path.end(), '.') <
                            std::count(b->path.begin(), b->path.end(), '.');
                   });
  for (const Assignment* a : assignments) {
    set_knob(document, a->path, a->path_place, a->value, problems);
  }
}

// The base document with one combination's knobs of one section turned, references loaded.
Node combine(const Sweep& sweep, const Combinations& c, std::size_t index, std::string_view section,
             Problems& problems) {
  std::vector<const Assignment*> assignments;
  for (std::size_t i = c.axes.size(); i-- > 0;) {
    const AxisValue& value = sweep.axes[c.axes[i]].values[index % c.sizes[i]];
    index /= c.sizes[i];
    for (const Assignment& a : value.set) {
      if (decides(sweep, a, section)) {
        assignments.push_back(&a);
      }
    }
  }
  std::reverse(assignments.begin(), assignments.end());
  Node document;
  document.kind = Node::Kind::map;
  document.place = sweep.base.place;
  if (const Node* node = sweep.base.find(section)) {
    document[section] = *node;
  } else if (const Node* model = section == "precision" ? sweep.base.find("model") : nullptr) {
    document["model"] = *model;
  }
  if (const Node* serving = section == "system" ? sweep.base.find("serving") : nullptr) {
    document["serving"] = *serving;
  }
  // A base that trains may leave out what serves.
  for (const char* key : {"training", "rl"}) {
    const Node* trains = sweep.base.find(key);
    if (trains != nullptr && (section == "serving" || section == "traffic" || section == "rl") &&
        section != key) {
      document[key] = *trains;
    }
  }
  set_outer_first(document, std::move(assignments), problems);
  load_references(document, problems);
  return document;
}

template <class T, class ReadFunction>
std::vector<T> read_all(const Sweep& sweep, const Combinations& c, std::string_view section,
                        Problems& problems, ReadFunction read) {
  constexpr std::size_t kMost = 1'000'000;  // combinations, each kept in memory
  constexpr std::size_t kEnough = 20;       // problems of a section; more of the same help nobody
  std::vector<T> values;
  if (c.count > kMost) {
    problems.add(
        sweep.base.place, "axes",
        fmt::format("make {} different \"{}\" sections; at most {}", c.count, section, kMost));
    return values;
  }
  values.reserve(c.count);
  const std::size_t earlier = problems.size();
  for (std::size_t i = 0; i < c.count && problems.size() < earlier + kEnough; ++i) {
    const std::size_t before = problems.size();
    const Node document = combine(sweep, c, i, section, problems);
    values.push_back(problems.size() == before ? read(document, problems) : T{});
  }
  return values;
}

}  // namespace

struct SweepPoints::Sections {
  std::vector<std::size_t> stride;  // of each axis in a point's index
  Combinations combinations[std::size(kSections)];
  std::vector<Platform> platforms;
  std::vector<workloads::Architecture> models;
  std::vector<workloads::Precision> precisions;
  std::vector<workloads::Deployment> deployments;
  std::vector<workloads::Serving> servings;
  std::vector<workloads::Traffic> traffics;
  std::vector<workloads::Accuracy> accuracies;
  std::vector<workloads::Training> trainings;
  std::vector<workloads::PostTraining> post_trainings;
  std::vector<hardware::Prices> prices;
};

SweepPoints::SweepPoints(Sweep sweep)
    : sweep_(std::move(sweep)), sections_(std::make_unique<Sections>()) {
  size_ = sweep_.points();
  Sections& s = *sections_;
  s.stride.resize(sweep_.axes.size());
  std::size_t stride = 1;
  for (std::size_t i = sweep_.axes.size(); i-- > 0;) {
    s.stride[i] = stride;
    stride *= sweep_.axes[i].values.size();
  }
  Problems problems;
  check_sections(sweep_.base, problems);
  for (std::size_t i = 0; i < std::size(kSections); ++i) {
    s.combinations[i] = combinations_of(sweep_, kSections[i]);
  }
  const auto all = [&]<class T>(std::vector<T>& target, std::size_t i, auto read) {
    target = read_all<T>(sweep_, s.combinations[i], kSections[i], problems, read);
  };
  all(s.platforms, 0, read_platform);
  all(s.models, 1, read_model);
  all(s.precisions, 2, read_precision);
  all(s.deployments, 3, read_deployment);
  all(s.servings, 4, read_serving);
  all(s.traffics, 5, read_traffic);
  all(s.accuracies, 6, read_accuracy);
  all(s.trainings, 7, read_training);
  all(s.post_trainings, 8, read_post_training);
  all(s.prices, 9, read_prices);
  problems.throw_if_any();
}

SweepPoints::~SweepPoints() = default;

std::size_t SweepPoints::value_index(std::size_t point, std::size_t axis) const {
  return point / sections_->stride[axis] % sweep_.axes[axis].values.size();
}

const std::string& SweepPoints::label(std::size_t point, std::size_t axis) const {
  return sweep_.axes[axis].values[value_index(point, axis)].label;
}

base::Node SweepPoints::document(std::size_t point) const {
  std::vector<const Assignment*> assignments;
  for (std::size_t axis = 0; axis < sweep_.axes.size(); ++axis) {
    for (const Assignment& a : sweep_.axes[axis].values[value_index(point, axis)].set) {
      assignments.push_back(&a);
    }
  }
  base::Node document = sweep_.base;
  Problems problems;
  set_outer_first(document, std::move(assignments), problems);
  problems.throw_if_any();
  return document;
}

ScenarioView SweepPoints::scenario(std::size_t point) const {
  const Sections& s = *sections_;
  const auto index = [&](std::size_t section) {
    const Combinations& c = s.combinations[section];
    std::size_t at = 0;
    for (std::size_t i = 0; i < c.axes.size(); ++i) {
      at = at * c.sizes[i] + value_index(point, c.axes[i]);
    }
    return at;
  };
  const workloads::Deployment& deployment = s.deployments[index(3)];
  const workloads::Training& training = s.trainings[index(7)];
  const workloads::PostTraining& rl = s.post_trainings[index(8)];
  return {&s.platforms[index(0)],
          &s.models[index(1)],
          &s.precisions[index(2)],
          &deployment.mapping,
          &s.servings[index(4)],
          &s.traffics[index(5)],
          &s.accuracies[index(6)],
          deployment.pools ? &*deployment.pools : nullptr,
          training.trains() ? &training : nullptr,
          rl.asked() ? &rl : nullptr,
          &s.prices[index(9)]};
}

namespace {

void rank(const SweepPoints& points, SweepResult& result) {
  const Sweep& sweep = points.sweep();
  std::vector<Direction> directions;
  std::vector<const Metric*> columns;
  for (const std::string& name : sweep.pareto.maximize) {
    columns.push_back(find_metric(name));
    directions.push_back(Direction::maximize);
  }
  for (const std::string& name : sweep.pareto.minimize) {
    columns.push_back(find_metric(name));
    directions.push_back(Direction::minimize);
  }
  if (columns.empty()) {
    return;
  }
  std::vector<double> values;
  values.reserve(points.size() * columns.size());
  for (std::size_t i = 0; i < points.size(); ++i) {
    for (const Metric* metric : columns) {
      values.push_back(result.meets[i] != 0 ? metric->value(result.estimates[i])
                                            : std::numeric_limits<double>::quiet_NaN());
    }
  }
  std::vector<std::uint32_t> groups;
  for (std::size_t axis = 0; axis < sweep.axes.size(); ++axis) {
    const auto& by = sweep.pareto.by;
    if (std::find(by.begin(), by.end(), sweep.axes[axis].name) != by.end()) {
      groups.resize(points.size());
      const std::size_t count = sweep.axes[axis].values.size();
      for (std::size_t i = 0; i < points.size(); ++i) {
        groups[i] = static_cast<std::uint32_t>(groups[i] * count + points.value_index(i, axis));
      }
    }
  }
  result.pareto_rank = pareto_rank(values, directions, {.groups = groups});
}

}  // namespace

SweepResult run_sweep(const SweepPoints& points, unsigned threads, std::atomic<std::size_t>* done) {
  SweepResult result;
  result.estimates.resize(points.size());
  result.meets.resize(points.size());
  std::atomic<std::size_t> next{0};
  const auto work = [&](unsigned) {
    Workspace workspace;
    workspace.costs.emplace();
    for (std::size_t begin = next.fetch_add(kChunk); begin < points.size();
         begin = next.fetch_add(kChunk)) {
      const std::size_t end = std::min(begin + kChunk, points.size());
      for (std::size_t i = begin; i < end; ++i) {
        ServingEstimate& e = result.estimates[i];
        e = estimate(points.scenario(i), workspace);
        result.meets[i] =
            e.fits() && std::all_of(points.sweep().where.begin(), points.sweep().where.end(),
                                    [&](const Condition& c) { return holds(c, e); });
      }
      if (done != nullptr) {
        *done += end - begin;
      }
    }
  };
  base::on_threads(base::thread_count(threads), work);
  result.feasible = static_cast<std::size_t>(
      std::count(result.meets.begin(), result.meets.end(), std::uint8_t{1}));
  rank(points, result);
  return result;
}

}  // namespace roofcast::sim
