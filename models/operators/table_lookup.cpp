// SPDX-License-Identifier: Apache-2.0
#include "models/operators/table_lookup.hpp"

#include <cmath>

#include "models/operators/anatomy.hpp"
#include "models/operators/elementwise.hpp"
#include "models/work.hpp"

namespace roofcast::models {

// row, sectors   B  one row, and what is read of memory for it
// distinct, all  B  the distinct rows and all rows, in sectors
// rest           B  indices, offsets and sums
Cost table_lookup_cost(const workloads::TableLookup& op, const Machine& machine, Anatomy* anatomy) {
  const hardware::Calibration& c = machine.calibration;
  const Work work = table_lookup_work(op);
  const double row = base::byte_count(static_cast<double>(op.width), op.format);
  const double sectors = std::ceil(row / kSectorBytes) * kSectorBytes;
  const base::Bytes rest = work.bytes - base::Bytes::from_si(op.distinct * row);
  const base::Bytes distinct = base::Bytes::from_si(op.distinct * sectors);
  const base::Bytes all = base::Bytes::from_si(op.rows * sectors);
  Cost cost;
  cost.flop = work.flop;
  cost.launch = c.launch;
  cost.fill = c.elementwise_fill_trips * machine.dram_latency;
  cost.dram_bytes = rest + distinct + (1.0 - resident_share(distinct, machine)) * (all - distinct);
  cost.dram = cost.dram_bytes /
              (c.lookup_efficiency * machine.dram_rate(cost.dram_bytes.si() / kBytesPerCta));
  cost.l2 = (rest + all) / machine.l2;
  combine(cost, c.overlap_exponent);
  if (anatomy != nullptr) {
    anatomy->blocks = anatomy->loading = cost.dram_bytes.si() / kBytesPerCta;
    anatomy->sectors = sectors / kSectorBytes;
    anatomy->needed_sectors = row / kSectorBytes;
    anatomy->add(&Cost::fill, Cause::fill, "kernel that starts and ends", cost.fill);
    anatomy->add(&Cost::l2, Cause::l2, "sectors of all rows", cost.l2);
    anatomy->add_dram(cost, cost.dram_bytes / c.lookup_efficiency, machine);
  }
  return cost;
}

}  // namespace roofcast::models
