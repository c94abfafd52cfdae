// SPDX-License-Identifier: Apache-2.0
#include "models/operators/explained_cost.hpp"

#include <algorithm>

#include "base/overloaded.hpp"
#include "models/operators/collective.hpp"
#include "models/operators/correction.hpp"
#include "models/operators/gemm.hpp"
#include "models/operators/grouped_gemm.hpp"
#include "models/operators/operator_cost.hpp"
#include "models/work.hpp"

namespace roofcast::models {
namespace {

using base::Seconds;

bool multiplies(const workloads::Operator& op) {
  return std::visit(base::overloaded{
                        [](const workloads::Gemm&) { return true; },
                        [](const workloads::GroupedGemm&) { return true; },
                        [](const workloads::PrefillAttention&) { return true; },
                        [](const workloads::DecodeAttention&) { return true; },
                        [](const workloads::IndexScores&) { return true; },
                        [](const workloads::StateScan&) { return true; },
                        [](const auto&) { return false; },
                    },
                    op);
}

// Corrects the parts of a physical cost, which then takes `time`. Products at the peak take what they take: a kernel that
// is faster than the model saves the rest of its compute term.
void correct_parts(Anatomy& anatomy, Seconds time) {
  const double factor = anatomy.correction;
  if (factor < 1.0) {
    Seconds compute;
    Seconds products;
    for (const Part& part : anatomy.parts) {
      compute += part.term == &Cost::compute ? part.time : Seconds{};
      products += part.cause == Cause::tensor ? part.time : Seconds{};
    }
    const Seconds left = factor * compute;
    const bool at_peak = left <= products;  // nothing else is left of the term
    for (Part& part : anatomy.parts) {
      if (part.term != &Cost::compute) {
        part.time *= factor;
      } else if (part.cause == Cause::tensor) {
        part.time *= at_peak ? left / products : 1.0;
      } else {
        part.time *= at_peak ? 0.0 : (left - products) / (compute - products);
      }
    }
  }
  if (factor > 1.0) {
    anatomy.add(&Cost::time, Cause::unexplained, "measured beyond the model",
                (1.0 - 1.0 / factor) * time);
  }
}

}  // namespace

Cost cost_of(const workloads::Operator& op, const Machine& m, Anatomy& anatomy) {
  anatomy = {};
  Cost cost = physical_cost_of(op, m, &anatomy);
  Seconds told;
  for (const Part& part : anatomy.parts) {
    told += part.term == &Cost::launch ? part.time : Seconds{};
  }
  anatomy.add(&Cost::launch, Cause::launch, "kernels", cost.launch - told);
  const Seconds physical = cost.time;
  correct(op, m, cost);
  if (physical.si() > 0.0) {
    anatomy.correction = cost.time / physical;
  }
  correct_parts(anatomy, cost.time);
  return cost;
}

void force(Cost& cost, Anatomy& anatomy, const Plan& plan, const Machine& machine) {
  const Seconds launch = machine.calibration.launch;
  const double factor = anatomy.correction;
  if (plan.algorithm == cost.algorithm) {
    return;
  }
  anatomy.parts.clear();
  anatomy.add(&Cost::launch, Cause::launch, "kernels", launch);
  anatomy.add_plan(plan);
  cost.runner_up = cost.algorithm;
  cost.runner_up_time = cost.time;
  cost.algorithm = plan.algorithm;
  cost.launch = factor * (launch + plan.overhead);
  cost.fill = factor * plan.hops;
  cost.network = factor * plan.transfer;
  combine(cost, machine.calibration.overlap_exponent);
  correct_parts(anatomy, cost.time);
}

std::string fault_of(const workloads::Operator& op, const Tiling& cut, const Machine& machine) {
  if (const auto* gemm = std::get_if<workloads::Gemm>(&op)) {
    return fault_of(*gemm, cut, machine);
  }
  if (const auto* grouped = std::get_if<workloads::GroupedGemm>(&op)) {
    return fault_of(*grouped, cut, machine);
  }
  return "only matrix products have tiles to choose from";
}

void force(Cost& cost, Anatomy& anatomy, const workloads::Operator& op, const Tiling& cut,
           const Machine& machine) {
  const double factor = anatomy.correction;
  anatomy = {};
  const auto* gemm = std::get_if<workloads::Gemm>(&op);
  cost = gemm != nullptr
             ? gemm_cost(*gemm, machine, &anatomy, &cut)
             : grouped_gemm_cost(std::get<workloads::GroupedGemm>(op), machine, &anatomy, &cut);
  anatomy.add(&Cost::launch, Cause::launch, "kernels", cost.launch);
  anatomy.correction = factor;
  for (Seconds Cost::*term : {&Cost::launch, &Cost::fill, &Cost::compute, &Cost::dram, &Cost::l2}) {
    cost.*term *= factor;
  }
  combine(cost, machine.calibration.overlap_exponent);
  correct_parts(anatomy, cost.time);
}

double share_of_peak(const workloads::Operator& op, const Cost& cost, const Machine& m) {
  const base::FlopsPerSecond peak = m.peak[static_cast<std::size_t>(math_of(op, m))];
  return multiplies(op) && cost.time.si() > 0.0 && peak.si() > 0.0 ? cost.flop / cost.time / peak
                                                                   : 0.0;
}

std::vector<Roof> roofs_of(const workloads::Operator& op, const Cost& cost, const Machine& m) {
  std::vector<Roof> roofs;
  const double time = cost.time.si();
  const auto add = [&](std::string_view name, double amount, double rate) {
    if (amount > 0.0 && rate > 0.0) {
      roofs.push_back({name, amount, rate, time / (amount / rate)});
    }
  };
  const hardware::Calibration& c = m.calibration;
  const bool products = multiplies(op);
  const auto math = static_cast<std::size_t>(products ? math_of(op, m) : base::MathType::fp32);
  add(products ? "tensor" : "vector", cost.flop.si(), m.peak[math].si());
  add("HBM", cost.dram_bytes.si(), m.dram.si() / c.dram_efficiency);
  if (cost.dram_bytes.si() == 0.0) {
    add("L2", work_of(op).bytes.si(), m.l2.si() / c.l2_efficiency);
  }
  if (const auto* collective = std::get_if<workloads::Collective>(&op)) {
    const PortBytes least = least_port_bytes(*collective, m);
    add("link", least.link.si(), m.scale_up.bandwidth.si() / c.link_efficiency);
    add(m.scale_out_by, least.nic.si(), m.scale_out.bandwidth.si() / c.nic_efficiency);
  }
  return roofs;
}

}  // namespace roofcast::models
