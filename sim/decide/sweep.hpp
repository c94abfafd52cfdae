// SPDX-License-Identifier: Apache-2.0
//
// A sweep: a base scenario, axes of knobs, constraints, and what is best.
//
//   base: llama-70b.yaml                            # a path, or an inline scenario
//   axes:
//     system: [hgx_h100, hgx_h200]                  # a list
//     system.chip.hbm.bandwidth: [x1, x1.5, x2]     # factors of what is there
//     traffic.concurrency: {from: 1, to: 512, factor: 2}        # or step:
//     plan:                                         # a name of one's own: bundles of settings
//       latency:    {deployment.tensor_parallel: 8}
//       throughput: {deployment.tensor_parallel: 2, serving.max_sequences: 256}
//   where: [fits, 'ttft_p50_s <= 2']
//   pareto: {maximize: [throughput_tok_per_s_per_gpu], minimize: [ttft_p50_s], by: system}    # or by: [system, plan]
//   columns: all                                    # or a list; default: those that apply (shown_columns.hpp)
//
// Points are the Cartesian product, the last axis fastest; outer knobs (shorter paths) are set
// before inner ones. A point that does not fit or misses a constraint is a row with a reason.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/document/fields.hpp"
#include "base/document/node.hpp"
#include "base/document/problems.hpp"
#include "sim/result/condition.hpp"

namespace roofcast::sim {

struct Assignment {
  std::string path;
  base::Place path_place;
  base::Node value;
};

struct AxisValue {
  std::string label;  // what the CSV says
  std::vector<Assignment> set;
};

struct Axis {
  std::string name;  // the dotted path, or the bundle's name
  std::vector<AxisValue> values;
};

// {from, to, factor} or {from, to, step}, ends included, all in one unit.
struct AxisRange {
  double from = 0.0;
  double to = 0.0;
  double factor = 0.0;
  double step = 0.0;
  std::string unit;  // of the values; empty: none
};

struct ParetoGoal {
  std::vector<std::string> maximize;
  std::vector<std::string> minimize;
  std::vector<std::string> by;  // axes, a front for each of their combinations; none: one over all
  bool usual = false;           // nobody named an objective: default_goal()
};

// Throughput per GPU against interactivity: what serving is traded between. Of training, against the time of a step.
ParetoGoal default_goal(bool trains = false);

// A setting of one axis that never counts, because a later axis sets the same knob to a value. A factor would multiply it.
struct HiddenSetting {
  const Axis* axis;
  const AxisValue* value;
  const Assignment* setting;
  const Axis* by_axis;
  const AxisValue* by_value;
  const Assignment* by;
};
// The first one of each knob and later axis.
std::vector<HiddenSetting> hidden_settings(const std::vector<Axis>& axes);

struct Sweep {
  std::string question;  // optional, shown in the report
  base::Node base;       // a scenario, references not yet loaded
  std::vector<Axis> axes;
  std::vector<Condition> where;
  ParetoGoal pareto;
  std::vector<std::string> columns;  // that are written: "all", or metrics; none: those that apply

  std::size_t points() const;
  // Whose best points are reported side by side: the axes of `pareto.by`, or the first one.
  std::vector<std::size_t> group_axes() const;
};

void read(base::Fields& f, AxisRange& range);
// `base:`, `axes:` and `where:`.
void read_points(base::Fields& f, Sweep& sweep, base::Problems& problems, base::Need axes_are);
// A named set of settings, of the group at `path`.
AxisValue read_bundle(const base::Entry& bundle, const std::string& path, base::Problems& problems);
void read(base::Fields& f, Sweep& sweep, base::Problems& problems);
Sweep read_sweep(const base::Node& document);  // throws InputError with every problem

}  // namespace roofcast::sim
