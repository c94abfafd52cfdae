// SPDX-License-Identifier: Apache-2.0
#include "models/operators/recurrence.hpp"

#include <algorithm>
#include <cmath>

#include "base/integers.hpp"
#include "models/work.hpp"

namespace roofcast::models {

using workloads::Recurrence;

// padded    the same scan with its last chunk full
// lanes  –  (sequence, head) pairs
Cost state_scan_cost(const workloads::StateScan& op, const Machine& machine) {
  const Work work = state_scan_work(op);
  const hardware::Calibration& c = machine.calibration;
  const bool ssm = op.heads.kind == Recurrence::ssm;
  const std::int64_t chunks = base::ceil_div(op.tokens, op.chunk);
  workloads::StateScan padded = op;
  padded.tokens = chunks * op.chunk;
  const auto lanes = static_cast<double>(op.sequences * op.heads.heads);
  const double ctas = ssm ? lanes * static_cast<double>(chunks) : lanes;
  // A head of the delta rule runs through its chunks in one CTA, so waves are whole.
  const double waves = ssm ? std::max(1.0, ctas / machine.sms) : std::ceil(ctas / machine.sms);
  const double kernels = ssm ? c.ssm_scan_kernels : c.delta_scan_kernels;
  const base::FlopsPerSecond vector = machine.peak[static_cast<std::size_t>(base::MathType::fp32)];
  const base::FlopsPerSecond products =
      base::min((ssm ? c.ssm_scan_rate : c.delta_scan_rate) * vector,
                machine.tensor_rate(machine.attention_math(base::NumberFormat::bf16)));
  const base::FlopsPerSecond rate = ctas / (waves * machine.sms) * products;
  Cost cost;
  cost.launch = kernels * c.launch;
  cost.fill =
      (ssm ? kernels * c.elementwise_fill_trips : c.delta_scan_fill_trips) * machine.dram_latency;
  cost.compute = state_scan_work(padded).flop / rate;
  cost.dram = work.bytes / machine.dram_rate(ctas);
  cost.flop = work.flop;
  cost.dram_bytes = work.bytes;
  combine(cost, c.overlap_exponent);
  return cost;
}

Cost state_update_cost(const workloads::StateUpdate& op, const Machine& machine) {
  const Work work = state_update_work(op);
  const hardware::Calibration& c = machine.calibration;
  Cost cost;
  cost.launch = c.launch;
  cost.fill = c.update_fill_trips * machine.dram_latency;
  cost.compute = work.flop / machine.peak[static_cast<std::size_t>(base::MathType::fp32)];
  cost.dram = work.bytes / machine.dram_rate(static_cast<double>(op.sequences * op.heads.heads));
  cost.flop = work.flop;
  cost.dram_bytes = work.bytes;
  combine(cost, c.overlap_exponent);
  return cost;
}

}  // namespace roofcast::models
