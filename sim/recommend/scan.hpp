// SPDX-License-Identifier: Apache-2.0
//
// All deployments of a budget of GPUs, estimated: sweeps that are made from a question.
//
//   axes   system, precision, serving.stack   as far as the question lists them
//          deployment                         shapes (sim/recommend/shapes.hpp) of all the systems
//          traffic.concurrency                with a free load: 1 to 512 clients a GPU, 8 to an octave
//
// One pool and two pools are a sweep each. Of two pools with a free load, all shapes are estimated with few numbers of
// clients. The best of each system are then estimated with all.
//
// A power budget leaves out what has more GPUs than it feeds.
//
// A system with fewer GPUs than the budget is joined with its like over its NICs, where they are described. Mappings
// whose weights do not fit are left out, unless there is no other. So is what a stack cannot start.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/document/node.hpp"
#include "sim/decide/choice.hpp"
#include "sim/decide/result_table.hpp"
#include "sim/decide/sweep_points.hpp"
#include "sim/recommend/shapes.hpp"

namespace roofcast::sim {

// What stays of the scenario's `deployment:`.
inline constexpr const char* kKeptOfDeployment[] = {"expert_balancing", "redundant_experts",
                                                    "sequence_parallel"};

// What an axis or a table calls a system, a precision or a stack.
std::string label_of(const base::Node& node);

// A system, joined with its like where it has fewer GPUs than the budget and NICs are described.
struct JoinedSystem {
  JoinedSystem(base::Node document, const base::Node& system, std::int64_t gpus);

  Scenario scenario;  // of `document` on the system as it is
  bool has_nics = false;
  base::Node node;    // what a scenario names to have so many GPUs
  std::string label;  // label_of, and its chip where it is not the one that belongs there
};

struct Question {
  base::Node base;  // a scenario; its deployment is replaced
  std::vector<base::Node>
      systems;  // ids, paths or descriptions; the scenario's where there is none
  std::vector<base::Node> precisions;
  std::vector<base::Node> stacks;
  std::int64_t gpus = 1;
  Load load = Load::free;  // of a fixed one, the scenario says clients, arrivals, trace or agents
  bool one_pool = true;
  bool two_pools = true;
  std::vector<Condition> where;
  Objective objective;
};

struct Scan {
  std::unique_ptr<SweepPoints> points;
  ResultTable table;
  std::vector<Shape> shapes;  // by value of the axis "deployment"
  // The sweep has every combination; these have those of the question. By system and shape: it divides the model and
  // is within the budget. By stack and shape: it can be started.
  std::vector<std::vector<bool>> legal;
  std::vector<std::vector<bool>> startable;
  std::size_t shape_axis = 0;
  bool of_two_pools = false;

  std::size_t systems() const { return legal.size(); }
  std::size_t system_of(std::size_t row) const { return points->value_index(row, 0); }
  std::size_t shape_of(std::size_t row) const { return points->value_index(row, shape_axis); }
  std::size_t stack_of(std::size_t row) const {  // the axis before, where there are several
    return startable.size() == 1 ? 0 : points->value_index(row, shape_axis - 1);
  }
  bool is_legal(std::size_t row) const {
    return legal[system_of(row)][shape_of(row)] && startable[stack_of(row)][shape_of(row)];
  }
  std::size_t clients() const;  // numbers of them, the last axis; 1 of a fixed load
  // The number of what a row shares with those that differ in clients alone.
  std::size_t choice_of(std::size_t row) const;
};

// By how much a row misses its worst condition, relative to the bound. Infinity where it does not fit.
double shortfall(const std::vector<Condition>& where, const ResultTable& table, std::size_t row);

// One pool, two pools; without those that the question or the model leaves out. Throws InputError.
std::vector<Scan> scan_deployments(const Question& question, unsigned threads);

}  // namespace roofcast::sim
