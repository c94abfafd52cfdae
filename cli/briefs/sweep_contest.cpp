// SPDX-License-Identifier: Apache-2.0
#include "cli/briefs/sweep_contest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/tables/result_csv.hpp"
#include "sim/confirm/believed.hpp"
#include "sim/decide/solve.hpp"
#include "sim/estimate.hpp"
#include "sim/recommend/scan.hpp"
#include "sim/result/causes.hpp"

namespace roofcast::cli {

using base::kInfinity;

std::string last_part(const std::string& name) { return name.substr(name.rfind('.') + 1); }

sim::ServingEstimate SweepContest::at(std::size_t point) const {
  sim::Workspace workspace;
  sim::ServingEstimate e = sim::estimate(points.scenario(point), workspace);
  sim::tell_causes(points.scenario(point), e);
  return e;
}

sim::Outcome SweepContest::outcome(std::size_t point) const {
  sim::Workspace workspace;
  sim::Outcome outcome = sim::outcome_of(points.scenario(point), at(point), workspace);
  outcome.replayed = replayed_value(*this, point);
  return outcome;
}

namespace {

bool is_of_groups(const sim::Sweep& sweep, std::size_t axis) {
  const auto own = sweep.group_axes();
  return std::find(own.begin(), own.end(), axis) != own.end();
}

SweepGroup described(const sim::SweepPoints& points, SweepGroup group) {
  for (const std::size_t axis : points.sweep().group_axes()) {
    group.name +=
        fmt::format("{}{}", group.name.empty() ? "" : ", ", points.label(group.any, axis));
  }
  const std::size_t point = group.best == kNoPoint ? group.any : group.best;
  for (std::size_t axis = 0; axis < points.sweep().axes.size(); ++axis) {
    if (!is_of_groups(points.sweep(), axis)) {
      group.place +=
          fmt::format("{}{} {}", group.place.empty() ? "" : ", ",
                      last_part(points.sweep().axes[axis].name), points.label(point, axis));
    }
  }
  return group;
}

}  // namespace

SweepContest contest_of(const sim::SweepPoints& points, const sim::ResultTable& result,
                        const sim::Metric& metric) {
  SweepContest c{points, result, metric, result.column(metric.name), sim::PointGroups(points), {}};
  c.groups.resize(c.by.count());
  const auto& where = points.sweep().where;
  for (std::size_t i = 0; i < points.size(); ++i) {
    SweepGroup& group = c.groups[c.by.of(i)];
    const bool meets = result.meets(i);
    // A broken replay comes after a row that meets.
    const double misses = meets                ? 0.0
                          : group.misses > 0.0 ? std::max(1e-9, sim::shortfall(where, result, i))
                                               : kInfinity;
    if (group.any == kNoPoint || misses < group.misses) {
      group.any = i;
      group.misses = misses;
    }
    if (meets && std::isfinite(c.value(i)) && (group.best == kNoPoint || c.before(i, group.best))) {
      group.best = i;
    }
  }
  for (SweepGroup& group : c.groups) {
    group = described(points, std::move(group));
  }
  const bool all_replayed =
      std::all_of(c.groups.begin(), c.groups.end(), [&](const SweepGroup& group) {
        return group.best == kNoPoint || std::isfinite(replayed_value(c, group.best));
      });
  const auto before = [&](std::size_t a, std::size_t b) {
    return all_replayed ? c.is_better(replayed_value(c, a), replayed_value(c, b)) : c.before(a, b);
  };
  std::stable_sort(c.groups.begin(), c.groups.end(), [&](const SweepGroup& a, const SweepGroup& b) {
    return a.best != kNoPoint && (b.best == kNoPoint || before(a.best, b.best));
  });
  return c;
}

ShownValue shown_value(const SweepContest& c, std::size_t point, const sim::ServingEstimate& e) {
  const double estimated = c.value(point);
  const double replayed = replayed_value(c, point);
  const sim::Interval90 interval = sim::interval90(c.metric, e);
  return std::isnan(replayed) || sim::holds(interval, replayed)
             ? ShownValue{estimated, interval}
             : ShownValue{replayed, sim::moved(interval, estimated, replayed)};
}

double replayed_value(const SweepContest& c, std::size_t point) {
  const sim::ResultColumn* of = c.result.find(fmt::format("replayed_{}", c.metric.name));
  return of == nullptr ? base::kNoNumber : of->number(point);
}

std::string replay_cell(const SweepContest& c, std::size_t point, std::string_view column) {
  const sim::ResultColumn* of = c.result.find(column);
  return of == nullptr ? "" : of->cell(point);
}

}  // namespace roofcast::cli
