// SPDX-License-Identifier: Apache-2.0
//
// The groups of a sweep in their order by a metric: what a brief of a sweep tells of.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "base/no_number.hpp"
#include "cli/tables/text_table.hpp"
#include "sim/decide/sweep_run.hpp"
#include "sim/roadmap/choices.hpp"

namespace roofcast::cli {

inline constexpr std::size_t kNoPoint = std::numeric_limits<std::size_t>::max();

struct SweepGroup {
  std::string name;                 // "hgx_h100, rented"
  std::size_t best = kNoPoint;      // point
  std::size_t any = kNoPoint;       // one of its points: the nearest to the conditions
  double misses = base::kInfinity;  // sim::shortfall of that
  std::string place;                // of the best, or of that, on the other axes
};

struct SweepContest {
  const sim::SweepPoints& points;
  const sim::ResultTable& result;
  const sim::Metric& metric;
  const sim::ResultColumn& values;  // of the metric
  const sim::PointGroups by;
  // The best first, then those that have none. By the replay where each best has been replayed.
  std::vector<SweepGroup> groups;

  const sim::Sweep& sweep() const { return points.sweep(); }
  double value(std::size_t point) const { return values.number(point); }
  bool is_better(double a, double b) const {
    return metric.better == sim::Better::lower ? a < b : a > b;
  }
  bool before(std::size_t a, std::size_t b) const { return is_better(value(a), value(b)); }
  const char* superlative() const {
    return metric.better == sim::Better::lower ? "lowest" : "highest";
  }
  std::string value_text(std::size_t point) const { return display(value(point), metric.unit); }
  // The whole estimate of a point that the page cites.
  sim::ServingEstimate at(std::size_t point) const;
  sim::Outcome outcome(std::size_t point) const;
};

SweepContest contest_of(const sim::SweepPoints& points, const sim::ResultTable& result,
                        const sim::Metric& metric);

// "concurrency" of "traffic.concurrency".
std::string last_part(const std::string& name);

// The value of the metric that is told, and its interval: of the estimate, or around the replayed value where that lies
// outside.
struct ShownValue {
  double value;
  sim::Interval90 interval;
};
ShownValue shown_value(const SweepContest& contest, std::size_t point,
                       const sim::ServingEstimate& estimate);

// Of the metric; NaN where the point has none.
double replayed_value(const SweepContest& contest, std::size_t point);

// "" if the result has no replays (sim/confirm/replayed_rows.hpp).
std::string replay_cell(const SweepContest& contest, std::size_t point,
                        std::string_view column = "replay");

}  // namespace roofcast::cli
