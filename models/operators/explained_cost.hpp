// SPDX-License-Identifier: Apache-2.0
//
// The cost of an operator with its anatomy, and how far it is from each roof of the chip.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "models/operators/anatomy.hpp"
#include "workloads/graph/operator.hpp"

namespace roofcast::models {

// The cost of an operator as in an estimate (models/operators/operator_cost.hpp), with its anatomy.
Cost cost_of(const workloads::Operator& op, const Machine& machine, Anatomy& anatomy);
// Makes it the cost of a collective that takes another of its plans.
void force(Cost& cost, Anatomy& anatomy, const Plan& plan, const Machine& machine);
// Makes it the cost of a GEMM or a grouped GEMM with this tiling; the correction stays, which was measured with the library's own choice.
struct Tiling;
void force(Cost& cost, Anatomy& anatomy, const workloads::Operator& op, const Tiling& cut,
           const Machine& machine);
// Why no kernel cuts it so; empty where one does.
std::string fault_of(const workloads::Operator& op, const Tiling& cut, const Machine& machine);

// The share of the dense peak of the datasheet that the FLOP of the operator reach; 0 where its tensor cores do nothing.
double share_of_peak(const workloads::Operator& op, const Cost& cost, const Machine& machine);

// A resource that the operator uses, and the least time that it needs at the rate of the datasheet.
struct Roof {
  std::string_view name;  // "tensor bf16"
  double amount = 0.0;    // FLOP, or B
  double rate = 0.0;      // a second
  double distance = 0.0;  // time / least time, at least 1
};
// A collective has a roof for each port of a rank: its link in the domain, and its NIC.
std::vector<Roof> roofs_of(const workloads::Operator& op, const Cost& cost, const Machine& machine);

}  // namespace roofcast::models
