// SPDX-License-Identifier: Apache-2.0
#include "models/operators/elementwise.hpp"

#include "models/operators/anatomy.hpp"
#include "models/work.hpp"

namespace roofcast::models {
namespace {

constexpr std::int64_t kMostChoices = 16;  // the most experts a token that one kernel chooses
constexpr double kSortKernels = 6.0;
constexpr double kSortClocks = 11.0;  // clocks of an SM for one score

// `kernels` kernels in a row that together do `work` and find the share `resident` of its bytes in the L2.
Cost streaming_cost(const Work& work, double kernels, double resident, const Machine& machine,
                    Anatomy* anatomy) {
  Cost cost;
  cost.flop = work.flop;
  cost.dram_bytes = work.bytes;
  cost.launch = kernels * machine.calibration.launch;
  cost.fill = kernels * machine.calibration.elementwise_fill_trips * machine.dram_latency;
  if (resident > 0.0) {
    cost.l2 = resident * work.bytes / machine.l2;
    cost.dram_bytes = (1.0 - resident) * work.bytes;
  }
  if (resident < 1.0) {
    cost.dram = cost.dram_bytes / machine.dram_rate(work.bytes.si() / kBytesPerCta);
  }
  const base::FlopsPerSecond vector = machine.peak[static_cast<std::size_t>(base::MathType::fp32)];
  if (work.flop.si() > 0.0 && vector.si() > 0.0) {
    cost.compute = work.flop / (machine.calibration.vector_efficiency * vector);
  }
  combine(cost, machine.calibration.overlap_exponent);
  if (anatomy != nullptr) {
    anatomy->kernels = kernels;
    anatomy->blocks = std::ceil(work.bytes.si() / kBytesPerCta);
    anatomy->loading = cost.dram.si() > 0.0 ? anatomy->blocks : 0.0;
    anatomy->add(&Cost::fill, Cause::fill, "kernels that start and end", cost.fill);
    anatomy->add(&Cost::l2, Cause::l2, "bytes that the kernel before left in the L2", cost.l2);
    anatomy->add_dram(cost, cost.dram_bytes, machine);
  }
  return cost;
}

}  // namespace

double resident_share(base::Bytes bytes, const Machine& machine) {
  return machine.l2_capacity.si() > 0.0
             ? std::clamp(2.0 - 2.0 * (bytes / machine.l2_capacity), 0.0, 1.0)
             : 0.0;
}

double repeated_share(base::Bytes touched, const Machine& machine) {
  return machine.l2_capacity.si() > 0.0
             ? std::clamp(2.0 - 1.5 * (touched / machine.l2_capacity), 0.0, 1.0)
             : 0.0;
}

Cost elementwise_cost(const workloads::Elementwise& op, const Machine& machine, Anatomy* anatomy) {
  const Work work = elementwise_work(op);
  const double resident = op.repeated_bytes > 0.0
                              ? repeated_share(op.repeated_bytes * base::byte, machine)
                              : resident_share(work.bytes, machine);
  const Cost cost = streaming_cost(work, 1.0, resident, machine, anatomy);
  if (anatomy != nullptr) {
    anatomy->add(&Cost::compute, Cause::vector, "FLOP", cost.compute);
    anatomy->sectors = sectors_of_request(op);
    anatomy->needed_sectors = static_cast<double>(op.element_bytes) * kWarpThreads / kSectorBytes;
  }
  return cost;
}

Cost expert_routing_cost(const workloads::ExpertRouting& op, const Machine& machine,
                         Anatomy* anatomy) {
  const hardware::Calibration& c = machine.calibration;
  const bool sorts = op.top_k > kMostChoices;
  const double kernels = op.alternative_kernel ? c.alternative_moe_kernels : c.moe_kernels;
  const double row_clocks = op.alternative_kernel ? c.alternative_row_clocks : c.row_clocks;
  const bool blocks = op.activations == base::NumberFormat::fp8_block;
  const Work work = expert_routing_work(op);
  Cost cost = streaming_cost(work, kernels + (sorts ? kSortKernels : 0.0),
                             resident_share(work.bytes, machine), machine, anatomy);
  if (op.searched_experts > 0) {
    const double clocks = blocks ? c.block_expert_clocks
                          : base::facts(op.activations).math == base::MathType::fp4
                              ? c.fp4_expert_clocks
                              : c.expert_clocks;
    const base::Seconds search = static_cast<double>(op.searched_experts) * clocks / machine.clock;
    cost.fill += search;
    if (anatomy != nullptr) {
      anatomy->add(&Cost::fill, Cause::fill, "experts passed over, one after another", search);
    }
  }
  const auto tokens = static_cast<double>(op.tokens);
  const double moved = (4.0 * op.pairs + 2.0 * tokens) * static_cast<double>(op.hidden);
  const double scores = sorts ? tokens * static_cast<double>(op.experts) : 0.0;
  const double choices = tokens * static_cast<double>(op.top_k);
  const double scaled = blocks ? tokens * static_cast<double>(op.hidden) : 0.0;
  const double clocks = moved * row_clocks + choices * c.choice_clocks + scaled * c.block_clocks +
                        scores * kSortClocks;
  cost.compute =
      base::max(cost.compute, base::Seconds::from_si(clocks / (machine.sms * machine.clock.si())));
  combine(cost, c.overlap_exponent);
  if (anatomy != nullptr) {
    anatomy->add(&Cost::compute, Cause::vector, "addresses of rows, and their sort", cost.compute);
  }
  return cost;
}

}  // namespace roofcast::models
