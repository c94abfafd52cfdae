// SPDX-License-Identifier: Apache-2.0
#include "sim/decide/sweep_points.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>
#include <type_traits>

#include "sim/result/parent_figures.hpp"
#include "sim/scenario/knob.hpp"
#include "sim/scenario/references.hpp"
#include "sim/scenario/sections.hpp"

namespace roofcast::sim {
namespace {

using base::Node;
using base::Problems;

void set_outer_first(Node& document, std::vector<const Assignment*> assignments,
                     Problems& problems) {
  std::stable_sort(
      assignments.begin(), assignments.end(),
      [](const Assignment* a, const Assignment* b) { return is_set_before(a->path, b->path); });
  for (const Assignment* a : assignments) {
    set_knob(document, a->path, a->path_place, a->value, problems);
  }
}

// The problems of the combinations of some axes, and the values of each axis at which they occur.
class PlacedProblems {
 public:
  PlacedProblems(const Sweep& sweep, const std::vector<std::size_t>& axes)
      : sweep_(sweep), axes_(axes), tried_(axes.size()) {}

  std::size_t size() const { return found_.size(); }

  // `values`: of the axes.
  void add(const Problems& problems, const std::vector<std::size_t>& values) {
    include(tried_, values);
    try {
      problems.throw_if_any();
    } catch (const base::InputError& error) {
      for (const base::Problem& problem : error.problems()) {
        const auto known = std::find_if(found_.begin(), found_.end(), [&](const Found& f) {
          return f.problem.text == problem.text;
        });
        Found& found = known != found_.end() ? *known : found_.emplace_back(Found{problem, {}});
        found.values.resize(axes_.size());
        include(found.values, values);
      }
    }
  }

  void report(Problems& problems) const {
    for (const Found& found : found_) {
      problems.add(at_values(found.problem, values_of(found)));
    }
  }

 private:
  using Values = std::vector<std::set<std::size_t>>;  // by axis
  struct Found {
    base::Problem problem;
    Values values;
  };

  static void include(Values& in, const std::vector<std::size_t>& values) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      in[i].insert(values[i]);
    }
  }

  // "system: hgx_h100", of axes some values of which are free of the problem, unless it is shown at the value.
  std::string values_of(const Found& found) const {
    constexpr std::size_t kMostNamed = 3;
    std::vector<std::string> parts;
    for (std::size_t i = 0; i < axes_.size(); ++i) {
      const Axis& axis = sweep_.axes[axes_[i]];
      std::vector<std::string> labels;
      bool is_visible = false;
      for (const std::size_t value : found.values[i]) {
        labels.push_back(axis.values[value].label);
        is_visible = is_visible || is_at(found.problem, axis, axis.values[value]);
      }
      if (is_visible || labels.size() == tried_[i].size()) {
        continue;
      }
      const std::size_t more = labels.size() - std::min(labels.size(), kMostNamed);
      labels.resize(labels.size() - more);
      parts.push_back(fmt::format("{}: {}{}", axis.name, fmt::join(labels, ", "),
                                  more > 0 ? fmt::format(" and {} more", more) : ""));
    }
    return fmt::format("{}", fmt::join(parts, "; "));
  }

  static bool is_at(const base::Problem& problem, const Axis& axis, const AxisValue& value) {
    const auto is_here = [&](const base::Place& place) {
      if (place.source && problem.line != static_cast<std::size_t>(place.mark.line) + 1) {
        return false;
      }
      Problems here;
      here.add(place, problem.path, problem.message);
      return here.text() == problem.text;
    };
    return std::any_of(value.set.begin(), value.set.end(), [&](const Assignment& a) {
      return is_here(a.value.place) || (a.path != axis.name && is_here(a.path_place));
    });
  }

  const Sweep& sweep_;
  const std::vector<std::size_t>& axes_;
  Values tried_;
  std::vector<Found> found_;
};

}  // namespace

// What texts and tables of a section's value take beside it, about: 10,000 systems took 4.4 kB each.
template <class T>
constexpr std::size_t kBeside = std::is_same_v<T, Platform> ? 4500 : 0;

// One section, as every combination of the axes that touch it makes it.
template <class T>
class SectionValues {
 public:
  explicit SectionValues(const Section<T>& section) : section_(section) {}

  void read(const Sweep& sweep, Problems& problems) {
    constexpr std::size_t kMost = 1'000'000;  // combinations, each kept in memory
    constexpr std::size_t kEnough = 20;       // problems of a section; more of the same help nobody
    std::size_t count = 1;
    for (std::size_t i = 0; i < sweep.axes.size(); ++i) {
      if (touches(sweep, sweep.axes[i])) {
        axes_.push_back(i);
        sizes_.push_back(sweep.axes[i].values.size());
        count *= sizes_.back();
      }
    }
    if (count > kMost) {
      problems.add(sweep.base.place, "axes",
                   fmt::format("make {} different \"{}\" sections; at most {}", count,
                               section_.name, kMost));
      return;
    }
    values_.reserve(count);
    PlacedProblems found(sweep, axes_);
    for (std::size_t i = 0; i < count && found.size() < kEnough; ++i) {
      Problems here;
      const std::vector<std::size_t> chosen = values_at(i);
      const Node document = combined(sweep, chosen, here);
      values_.push_back(here.empty() ? section_.read(document, here) : T{});
      found.add(here, chosen);
    }
    found.report(problems);
  }

  const T& at(const SweepPoints& points, std::size_t point) const {
    std::size_t index = 0;
    for (std::size_t i = 0; i < axes_.size(); ++i) {
      index = index * sizes_[i] + points.value_index(point, axes_[i]);
    }
    return values_[index];
  }

  const std::vector<T>& all() const { return values_; }

 private:
  bool touches(const Sweep& sweep, const Axis& axis) const {
    return std::any_of(axis.values.begin(), axis.values.end(), [&](const AxisValue& value) {
      return std::any_of(value.set.begin(), value.set.end(), [&](const Assignment& a) {
        return decides(sweep.base, a.path, section_.name);
      });
    });
  }

  // Of each axis, in one combination.
  std::vector<std::size_t> values_at(std::size_t index) const {
    std::vector<std::size_t> values(axes_.size());
    for (std::size_t i = axes_.size(); i-- > 0;) {
      values[i] = index % sizes_[i];
      index /= sizes_[i];
    }
    return values;
  }

  // The section with the knobs of one combination set, references loaded.
  Node combined(const Sweep& sweep, const std::vector<std::size_t>& values,
                Problems& problems) const {
    std::vector<const Assignment*> assignments;
    for (std::size_t i = 0; i < axes_.size(); ++i) {
      for (const Assignment& a : sweep.axes[axes_[i]].values[values[i]].set) {
        if (decides(sweep.base, a.path, section_.name)) {
          assignments.push_back(&a);
        }
      }
    }
    Node document = section_alone(sweep.base, section_.name);
    set_outer_first(document, std::move(assignments), problems);
    load_references(document, problems);
    return document;
  }

  const Section<T>& section_;
  std::vector<std::size_t> axes_;  // in the sweep's order
  std::vector<std::size_t> sizes_;
  std::vector<T> values_;
};

static auto all_sections() {
  return std::apply(
      []<class... T>(const Section<T>&... section) {
        return std::tuple<SectionValues<T>...>(SectionValues<T>(section)...);
      },
      kSections);
}

base::InputError at_values(base::Problem problem, const std::string& values) {
  const std::string where = values.empty() ? "" : fmt::format(" ({})", values);
  problem.message += where;
  problem.text.insert(problem.text.size() - problem.excerpt.size() - 1, where);
  return {problem.text, {problem}};
}

struct SweepPoints::Whole {
  Sweep sweep;
  std::vector<std::size_t> stride;  // of each axis in a point's index
  decltype(all_sections()) sections = all_sections();
  bool parents = false;  // some point has figures of the chip before

  template <class T>
  const std::vector<T>& all() const {
    return std::get<SectionValues<T>>(sections).all();
  }
  bool find_parents() const;
};

bool SweepPoints::Whole::find_parents() const {
  const auto& prices = all<hardware::Prices>();
  const auto has_some = [&](const Platform* platform) {
    return platform != nullptr &&
           std::any_of(prices.begin(), prices.end(), [&](const hardware::Prices& each) {
             return !parent_figures(platform->system, each).empty();
           });
  };
  return std::any_of(all<Platform>().begin(), all<Platform>().end(),
                     [&](const Platform& each) { return has_some(&each); }) ||
         std::any_of(all<Deployment>().begin(), all<Deployment>().end(),
                     [&](const Deployment& each) {
                       return has_some(each.platforms.prefill.get()) ||
                              has_some(each.platforms.decode.get());
                     });
}

SweepPoints::SweepPoints(Sweep sweep) : size_(sweep.points()) {
  auto whole = std::make_shared<Whole>();
  whole->sweep = std::move(sweep);
  const std::vector<Axis>& axes = whole->sweep.axes;
  whole->stride.resize(axes.size());
  std::size_t stride = 1;
  for (std::size_t i = axes.size(); i-- > 0;) {
    whole->stride[i] = stride;
    stride *= axes[i].values.size();
  }
  Problems problems;
  check_sections(whole->sweep.base, problems);
  std::apply([&](auto&... section) { (section.read(whole->sweep, problems), ...); },
             whole->sections);
  problems.throw_if_any();
  whole->parents = whole->find_parents();
  if (ParetoGoal& goal = whole->sweep.pareto; goal.usual) {
    const auto& trainings = whole->all<workloads::Training>();
    const bool trains = std::all_of(trainings.begin(), trainings.end(),
                                    [](const auto& each) { return each.trains(); });
    goal.maximize = default_goal(trains).maximize;
    goal.minimize = default_goal(trains).minimize;
  }
  whole_ = std::move(whole);
}

SweepPoints SweepPoints::part(std::size_t first, std::size_t count) const {
  SweepPoints some = *this;
  some.first_ = first_ + first;
  some.size_ = count;
  return some;
}

const Sweep& SweepPoints::sweep() const { return whole_->sweep; }

std::size_t SweepPoints::bytes() const {
  std::size_t bytes = 0;
  for (const Axis& axis : sweep().axes) {
    for (const AxisValue& value : axis.values) {
      bytes += sizeof(AxisValue) + value.set.size() * sizeof(Assignment);
    }
  }
  std::apply(
      [&]<class... T>(const SectionValues<T>&... section) {
        ((bytes += section.all().size() * (sizeof(T) + kBeside<T>)), ...);
      },
      whole_->sections);
  return bytes;
}

bool SweepPoints::has_parent_figures() const { return whole_->parents; }

std::size_t SweepPoints::value_index(std::size_t point, std::size_t axis) const {
  return (first_ + point) / whole_->stride[axis] % sweep().axes[axis].values.size();
}

const std::string& SweepPoints::label(std::size_t point, std::size_t axis) const {
  return sweep().axes[axis].values[value_index(point, axis)].label;
}

PointGroups::PointGroups(const SweepPoints& points)
    : points_(points), axes_(points.sweep().group_axes()) {
  for (const std::size_t axis : axes_) {
    count_ *= points.sweep().axes[axis].values.size();
  }
}

std::size_t PointGroups::of(std::size_t point) const {
  std::size_t group = 0;
  for (const std::size_t axis : axes_) {
    group = group * points_.sweep().axes[axis].values.size() + points_.value_index(point, axis);
  }
  return group;
}

workloads::RequestStream SweepPoints::stream(std::size_t point) const {
  constexpr std::string_view kTraffic = "traffic";
  std::vector<const Assignment*> assignments;
  for (std::size_t axis = 0; axis < sweep().axes.size(); ++axis) {
    for (const Assignment& a : sweep().axes[axis].values[value_index(point, axis)].set) {
      if (decides(sweep().base, a.path, kTraffic)) {
        assignments.push_back(&a);
      }
    }
  }
  base::Node document = section_alone(sweep().base, kTraffic);
  Problems problems;
  set_outer_first(document, std::move(assignments), problems);
  load_references(document, problems);
  workloads::RequestStream stream = read_stream(document, problems);
  problems.throw_if_any();
  return stream;
}

base::Node SweepPoints::document(std::size_t point) const {
  std::vector<const Assignment*> assignments;
  for (std::size_t axis = 0; axis < sweep().axes.size(); ++axis) {
    for (const Assignment& a : sweep().axes[axis].values[value_index(point, axis)].set) {
      assignments.push_back(&a);
    }
  }
  base::Node document = sweep().base;
  Problems problems;
  set_outer_first(document, std::move(assignments), problems);
  problems.throw_if_any();
  return document;
}

ScenarioView SweepPoints::scenario(std::size_t point) const {
  ScenarioView view;
  std::apply([&](const auto&... section) { (view.set(section.at(*this, point)), ...); },
             whole_->sections);
  view.scans = scans_;
  return view;
}

}  // namespace roofcast::sim
