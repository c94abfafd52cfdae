// SPDX-License-Identifier: Apache-2.0
//
// Costs of operators. The costs of GEMMs and of collectives are cached.
//
// The search for a GEMM's fastest tiling takes most of the time of an estimate. Nineteen of twenty GEMMs that the
// points of a sweep ask for were asked for before, on the same machine. The cache has a table of fixed size for each kind: an
// operator replaces the one that stood in its place. Every answer equals models::cost_of, as long as a machine is not
// changed after its first use. A machine is recognised by its identity number, so a destroyed machine is never mistaken
// for another.
#pragma once

#include <cstdint>
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
  template <class Op>
  struct Entry {
    std::uint64_t machine = 0;  // identity number of the machine
    Op op;
    models::Cost cost;
  };
  template <class Op>
  static models::Cost kept(std::vector<Entry<Op>>& entries, std::size_t place, const Op& op,
                           const models::Machine& machine);

  std::vector<Entry<workloads::Gemm>> gemms_;
  std::vector<Entry<workloads::Collective>> collectives_;
};

}  // namespace roofcast::sim
