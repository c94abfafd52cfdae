// SPDX-License-Identifier: Apache-2.0
#include "models/elementwise.hpp"

#include "models/work.hpp"

namespace roofcast::models {
namespace {

constexpr double kResidentShare = 0.5;  // of the L2, see the header
constexpr double kBytesPerCta = 65536.0;

Cost streaming_cost(const Work& work, double kernels, const Machine& machine) {
  Cost cost;
  cost.flop = work.flop;
  cost.dram_bytes = work.bytes;
  cost.launch = kernels * machine.calibration.launch;
  cost.fill = kernels * machine.calibration.elementwise_fill_trips * machine.dram_latency;
  if (work.bytes <= kResidentShare * machine.l2_capacity) {
    cost.l2 = work.bytes / machine.l2;
    cost.dram_bytes = {};
  } else {
    cost.dram = work.bytes / machine.dram_rate(work.bytes.si() / kBytesPerCta);
  }
  combine(cost, machine.calibration.overlap_exponent);
  return cost;
}

}  // namespace

Cost elementwise_cost(const workloads::Elementwise& op, const Machine& machine) {
  return streaming_cost(elementwise_work(op), 1.0, machine);
}

Cost expert_routing_cost(const workloads::ExpertRouting& op, const Machine& machine) {
  return streaming_cost(expert_routing_work(op), machine.calibration.moe_kernels, machine);
}

}  // namespace roofcast::models
