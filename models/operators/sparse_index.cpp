// SPDX-License-Identifier: Apache-2.0
#include "models/operators/sparse_index.hpp"

#include <algorithm>

#include "models/operators/anatomy.hpp"
#include "models/work.hpp"

namespace roofcast::models {

Cost index_scores_cost(const workloads::IndexScores& op, const Machine& machine, Anatomy* anatomy) {
  constexpr double kRowTile = 64.0;
  constexpr double kKeysPerCta = 256.0;
  const Work work = index_scores_work(op);
  const hardware::Calibration& c = machine.calibration;
  const auto heads = static_cast<double>(op.heads);
  const double padding = std::max(1.0, kRowTile / heads);
  const auto type = static_cast<std::size_t>(machine.attention_math(op.keys));
  const double ctas = static_cast<double>(op.sequences) *
                      std::max(1.0, static_cast<double>(op.cached + op.queries) / kKeysPerCta);
  Cost cost;
  cost.launch = 2.0 * c.launch;
  cost.fill = 2.0 * c.elementwise_fill_trips * machine.dram_latency;
  const base::FlopsPerSecond rate = c.attention_tensor_efficiency * machine.peak[type];
  cost.compute = padding * work.flop / rate;
  const double loading = ctas * static_cast<double>(op.queries);
  cost.dram = work.bytes / machine.dram_rate(loading);
  cost.flop = work.flop;
  cost.dram_bytes = work.bytes;
  combine(cost, c.overlap_exponent);
  if (anatomy != nullptr) {
    anatomy->kernels = 2.0;
    anatomy->blocks = anatomy->loading = loading;
    anatomy->add_products(work.flop, machine.peak[type], rate);
    anatomy->add(&Cost::compute, Cause::padding, "heads that only fill up tiles",
                 (padding - 1.0) * work.flop / rate);
    anatomy->add(&Cost::fill, Cause::fill, "kernels that start and end", cost.fill);
    anatomy->add_dram(cost, work.bytes, machine);
  }
  return cost;
}

}  // namespace roofcast::models
