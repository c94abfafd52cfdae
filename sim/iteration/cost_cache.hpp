// SPDX-License-Identifier: Apache-2.0
//
// Costs of operators, of which those that a search finds are remembered.
//
// The search for a GEMM's fastest tiling is most of what an estimate takes, and nineteen of twenty
// GEMMs that the points of a sweep ask for were asked for before, on the same machine. A GEMM replaces
// the one that stood in its place of a table of fixed size. Every answer is that of models::cost_of, as
// long as no machine that was seen is changed or destroyed.
#pragma once

#include <vector>

#include "models/cost.hpp"
#include "models/machine.hpp"
#include "workloads/graph/operator.hpp"

namespace roofcast::sim {

class CostCache {
 public:
  CostCache();
  models::Cost of(const workloads::Operator& op, const models::Machine& machine);

 private:
  struct Entry {
    const models::Machine* machine = nullptr;
    workloads::Gemm op;
    models::Cost cost;
  };
  std::vector<Entry> entries_;
};

}  // namespace roofcast::sim
