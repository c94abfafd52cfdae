// SPDX-License-Identifier: Apache-2.0
#include "models/operators/tiling.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <vector>

#include "models/operators/anatomy.hpp"

namespace roofcast::models {

std::string tile_fault(const Tiling& tile, double a_bytes, double w_bytes, const Machine& machine) {
  const auto has = [](const auto& all, auto value) {
    return std::find(all.begin(), all.end(), value) != all.end();
  };
  if (!has(kTokenTiles, tile.rows) || !has(kWeightTiles, tile.columns)) {
    return fmt::format("a tile has {} rows and {} columns", fmt::join(kTokenTiles, ", "),
                       fmt::join(kWeightTiles, ", "));
  }
  constexpr double kKib = 1024.0;
  const TileRoom& room = machine.tile_room;
  const auto rows = static_cast<double>(tile.rows);
  const auto columns = static_cast<double>(tile.columns);
  const double sums = kSumBytes * rows * columns;
  const double buffers = room.buffers(rows, columns, a_bytes, w_bytes);
  std::vector<std::string> faults;
  if (sums > room.sums) {
    faults.push_back(fmt::format("its sums take {:.4g} KiB, and an SM has {:.4g}", sums / kKib,
                                 room.sums / kKib));
  }
  if (buffers > room.shared) {
    faults.push_back(
        fmt::format("its operands take {:.4g} KiB, and shared memory has {:.4g} for them",
                    buffers / kKib, room.shared / kKib));
  }
  return faults.empty() ? "" : fmt::format("it does not fit: {}", fmt::join(faults, "; "));
}

Cost tiled_cost(const Terms& terms, const Work& work, const Machine& machine) {
  const hardware::Calibration& c = machine.calibration;
  Cost cost;
  cost.launch = c.launch;
  cost.fill = c.gemm_fill_trips * machine.dram_latency + terms.added;
  cost.compute = terms.compute;
  cost.dram = terms.dram;
  cost.l2 = terms.l2;
  cost.flop = work.flop;
  cost.dram_bytes = work.bytes;
  combine(cost, c.overlap_exponent);
  return cost;
}

void explain_tiles(Anatomy& a, const Tiling& tiling, const Work& work, const Machine& machine,
                   base::FlopsPerSecond peak, base::FlopsPerSecond rate, base::Flops padded,
                   base::Seconds l2, Cause products_by) {
  using base::Seconds;
  a.tile_rows = static_cast<double>(tiling.rows);
  a.tile_columns = static_cast<double>(tiling.columns);
  a.split = tiling.parts;
  a.blocks = tiling.tiles * tiling.parts;
  a.waves = a.blocks / machine.sms;
  const double taken = waves_of(a.blocks, machine);  // with the lost part of the tail
  a.busy = a.waves / taken;
  a.sums_bytes = 4.0 * a.tile_rows * a.tile_columns;
  a.add_products(work.flop, peak, rate, products_by);
  const Seconds products = padded / rate;
  a.add(&Cost::compute, Cause::padding, "padding of tiles", products - work.flop / rate);
  a.add_idle(&Cost::compute, (taken / a.waves - 1.0) * products, machine);
  a.add(&Cost::l2, Cause::l2, "operands of tiles", a.blocks * l2);
  a.add_idle(&Cost::l2, (taken * l2_sharers(a.blocks, machine) - a.blocks) * l2, machine);
}

}  // namespace roofcast::models
