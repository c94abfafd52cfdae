// SPDX-License-Identifier: Apache-2.0
#include "models/operators/tiling.hpp"

namespace roofcast::models {

Cost tiled_cost(const Terms& terms, const Work& work, const Machine& machine) {
  using base::Seconds;
  const hardware::Calibration& c = machine.calibration;
  Cost cost;
  cost.launch = c.launch;
  cost.fill = c.gemm_fill_trips * machine.dram_latency + Seconds::from_si(terms.added);
  cost.compute = Seconds::from_si(terms.compute);
  cost.dram = Seconds::from_si(terms.dram);
  cost.l2 = Seconds::from_si(terms.l2);
  cost.flop = work.flop;
  cost.dram_bytes = work.bytes;
  combine(cost, c.overlap_exponent);
  return cost;
}

}  // namespace roofcast::models
