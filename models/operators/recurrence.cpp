// SPDX-License-Identifier: Apache-2.0
#include "models/operators/recurrence.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/integers.hpp"
#include "models/operators/anatomy.hpp"
#include "models/operators/elementwise.hpp"
#include "models/work.hpp"

namespace roofcast::models {

using workloads::Recurrence;

namespace {

constexpr double kStateBytesPerClock = 20.0;  // of an SM that updates states in the L2
constexpr double kFlopPerDecay = 8.0;  // of a selective scan: one exponential (models/work.hpp)

// Tokens of a block: a selective scan of few tokens has smaller ones.
std::int64_t block_of(const workloads::StateScan& op) {
  constexpr std::uint64_t kSmallest = 128;
  return op.heads.kind != Recurrence::selective
             ? op.chunk
             : std::min(op.chunk, static_cast<std::int64_t>(std::bit_ceil(
                                      std::max(kSmallest, static_cast<std::uint64_t>(op.tokens)))));
}

// Share of its bytes that an update finds in the L2. States that are written in place are the same bytes twice.
double share_in_l2(const workloads::StateUpdate& op, base::Bytes moved, const Machine& machine) {
  const auto& h = op.heads;
  const auto elements = static_cast<double>(op.sequences * h.heads * h.key_dim * h.value_dim);
  const base::Bytes twice = op.copied ? base::Bytes{} : base::bytes_of(elements, h.state);
  return op.repeated ? repeated_share(moved - twice, machine) : 0.0;
}

}  // namespace

// padded    the same scan with its last chunk full
// lanes  –  (sequence, head) pairs
Cost state_scan_cost(const workloads::StateScan& op, const Machine& machine, Anatomy* anatomy) {
  const Work work = state_scan_work(op);
  const hardware::Calibration& c = machine.calibration;
  const bool ssm = op.heads.kind == Recurrence::ssm;
  const bool delta = op.heads.kind == Recurrence::delta;
  const std::int64_t block = block_of(op);
  const std::int64_t chunks = base::ceil_div(op.tokens, block);
  workloads::StateScan padded = op;
  padded.tokens = chunks * block;
  const auto lanes = static_cast<double>(op.sequences * op.heads.heads);
  const double ctas = ssm ? lanes * static_cast<double>(chunks) : lanes;
  // A head of the delta rule runs through its chunks in one CTA, so waves are whole.
  const double waves = delta ? std::ceil(ctas / machine.sms) : std::max(1.0, ctas / machine.sms);
  const double kernels = ssm ? c.ssm_scan_kernels : delta ? c.delta_scan_kernels : 1.0;
  const base::FlopsPerSecond vector = machine.peak[static_cast<std::size_t>(base::MathType::fp32)];
  const base::MathType math = machine.attention_math(base::NumberFormat::bf16);
  const base::FlopsPerSecond products =
      base::min((ssm     ? c.ssm_scan_rate
                 : delta ? c.delta_scan_rate
                         : c.selective_scan_rate) *
                    vector,
                ssm || delta ? machine.tensor_rate(math) : kFlopPerDecay * machine.exponential);
  const base::FlopsPerSecond rate = ctas / (waves * machine.sms) * products;
  Cost cost;
  cost.launch = kernels * c.launch;
  cost.fill =
      (delta ? c.delta_scan_fill_trips : kernels * c.elementwise_fill_trips) * machine.dram_latency;
  cost.compute = state_scan_work(padded).flop / rate;
  cost.dram = work.bytes / machine.dram_rate(ctas);
  cost.flop = work.flop;
  cost.dram_bytes = work.bytes;
  combine(cost, c.overlap_exponent);
  if (anatomy != nullptr) {
    Anatomy& a = *anatomy;
    const base::Flops all = state_scan_work(padded).flop;
    a.kernels = kernels;
    a.blocks = ctas;
    a.loading = ctas;
    a.waves = waves;
    a.busy = ctas / (waves * machine.sms);
    if (!ssm && !delta) {
      const bool decays = kFlopPerDecay * machine.exponential < c.selective_scan_rate * vector;
      a.add(&Cost::compute, decays ? Cause::exponential : Cause::vector,
            decays ? "decays, one exponential each" : "decays and states, on the vector units",
            work.flop / products);
    } else if (products < machine.tensor_rate(math)) {
      a.add(&Cost::compute, Cause::vector, "products of chunks, at the pace of the vector units",
            work.flop / products);
    } else {
      a.add_products(work.flop, machine.peak[static_cast<std::size_t>(math)], products);
    }
    a.add(&Cost::compute, Cause::padding, "padding of the last chunk",
          (all - work.flop) / products);
    a.add_idle(&Cost::compute, cost.compute - all / products, machine);
    a.add(&Cost::fill, Cause::fill, "kernels that start and end", cost.fill);
    a.add_dram(cost, work.bytes, machine);
  }
  return cost;
}

Cost state_update_cost(const workloads::StateUpdate& op, const Machine& machine, Anatomy* anatomy) {
  const Work work = state_update_work(op);
  const hardware::Calibration& c = machine.calibration;
  Cost cost;
  cost.launch = c.launch;
  cost.fill = c.update_fill_trips * machine.dram_latency;
  cost.compute = work.flop / machine.peak[static_cast<std::size_t>(base::MathType::fp32)];
  const auto lanes = static_cast<double>(op.sequences * op.heads.heads);
  const double found = share_in_l2(op, work.bytes, machine);
  if (found > 0.0) {
    cost.l2 = found * work.bytes /
              base::min(machine.l2, kStateBytesPerClock * machine.sms * base::byte * machine.clock);
  }
  cost.dram_bytes = (1.0 - found) * work.bytes;
  cost.dram = cost.dram_bytes / machine.dram_rate(lanes);
  cost.flop = work.flop;
  combine(cost, c.overlap_exponent);
  if (anatomy != nullptr) {
    anatomy->blocks = anatomy->loading = lanes;
    anatomy->add(&Cost::fill, Cause::fill, "kernel that starts and ends", cost.fill);
    anatomy->add(&Cost::compute, Cause::vector, "FLOP", cost.compute);
    anatomy->add(&Cost::l2, Cause::l2, "bytes that the run before left in the L2", cost.l2);
    anatomy->add_dram(cost, cost.dram_bytes, machine);
  }
  return cost;
}

}  // namespace roofcast::models
