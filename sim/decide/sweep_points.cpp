// SPDX-License-Identifier: Apache-2.0
#include "sim/decide/sweep_points.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

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
    const std::size_t earlier = problems.size();
    for (std::size_t i = 0; i < count && problems.size() < earlier + kEnough; ++i) {
      const std::size_t before = problems.size();
      const Node document = combined(sweep, i, problems);
      values_.push_back(problems.size() == before ? section_.read(document, problems) : T{});
    }
  }

  const T& at(const SweepPoints& points, std::size_t point) const {
    std::size_t index = 0;
    for (std::size_t i = 0; i < axes_.size(); ++i) {
      index = index * sizes_[i] + points.value_index(point, axes_[i]);
    }
    return values_[index];
  }

 private:
  bool touches(const Sweep& sweep, const Axis& axis) const {
    return std::any_of(axis.values.begin(), axis.values.end(), [&](const AxisValue& value) {
      return std::any_of(value.set.begin(), value.set.end(), [&](const Assignment& a) {
        return decides(sweep.base, a.path, section_.name);
      });
    });
  }

  // The section with the knobs of one combination set, references loaded.
  Node combined(const Sweep& sweep, std::size_t index, Problems& problems) const {
    std::vector<const Assignment*> assignments;
    for (std::size_t i = axes_.size(); i-- > 0;) {
      const AxisValue& value = sweep.axes[axes_[i]].values[index % sizes_[i]];
      index /= sizes_[i];
      for (const Assignment& a : value.set) {
        if (decides(sweep.base, a.path, section_.name)) {
          assignments.push_back(&a);
        }
      }
    }
    std::reverse(assignments.begin(), assignments.end());
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

auto all_sections() {
  return std::apply(
      []<class... T>(const Section<T>&... section) {
        return std::tuple<SectionValues<T>...>(SectionValues<T>(section)...);
      },
      kSections);
}

}  // namespace

struct SweepPoints::Whole {
  Sweep sweep;
  std::vector<std::size_t> stride;  // of each axis in a point's index
  decltype(all_sections()) sections = all_sections();
};

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
  whole_ = std::move(whole);
}

SweepPoints SweepPoints::part(std::size_t first, std::size_t count) const {
  SweepPoints some = *this;
  some.first_ = first_ + first;
  some.size_ = count;
  return some;
}

const Sweep& SweepPoints::sweep() const { return whole_->sweep; }

std::size_t SweepPoints::value_index(std::size_t point, std::size_t axis) const {
  return (first_ + point) / whole_->stride[axis] % sweep().axes[axis].values.size();
}

const std::string& SweepPoints::label(std::size_t point, std::size_t axis) const {
  return sweep().axes[axis].values[value_index(point, axis)].label;
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
  view.formulas_only = formulas_only_;
  return view;
}

}  // namespace roofcast::sim
