// SPDX-License-Identifier: Apache-2.0
#include "models/operators/sparse_index.hpp"

#include <algorithm>

#include "models/work.hpp"

namespace roofcast::models {

Cost index_scores_cost(const workloads::IndexScores& op, const Machine& machine) {
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
  cost.compute = padding * work.flop / (c.attention_tensor_efficiency * machine.peak[type]);
  cost.dram = work.bytes / machine.dram_rate(ctas * static_cast<double>(op.queries));
  cost.flop = work.flop;
  cost.dram_bytes = work.bytes;
  combine(cost, c.overlap_exponent);
  return cost;
}

}  // namespace roofcast::models
