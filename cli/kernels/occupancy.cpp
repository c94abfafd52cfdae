// SPDX-License-Identifier: Apache-2.0
#include "cli/kernels/occupancy.hpp"

#include <algorithm>
#include <cmath>

namespace roofcast::cli {

std::optional<Occupancy> occupancy_of(const models::Anatomy& a, const hardware::Chip& chip,
                                      const models::Machine& machine) {
  const auto& sums_room =
      chip.tensor_memory_per_sm ? chip.tensor_memory_per_sm : chip.registers_per_sm;
  if (!sums_room || !chip.shared_memory_per_sm || a.sums_bytes == 0.0 || a.step_bytes == 0.0) {
    return std::nullopt;
  }
  const double steps = std::ceil(
      std::max(2.0, machine.calibration.in_flight_bytes_per_sm / a.step_bytes) / a.blocks_per_sm);
  Occupancy o;
  o.sums_in = chip.tensor_memory_per_sm ? "tensor memory" : "registers";
  o.sums = base::Bytes::from_si(a.sums_bytes);
  o.sums_room = *sums_room;
  o.buffers = base::Bytes::from_si(a.buffer_bytes > 0.0 ? a.buffer_bytes : steps * a.step_bytes);
  o.buffers_room =
      base::min(*chip.shared_memory_per_sm, base::Bytes::from_si(machine.tile_room.shared));
  const double by_sums = std::floor(o.sums_room / o.sums);
  const double by_buffers = std::floor(o.buffers_room / o.buffers);
  o.room = std::min(by_sums, by_buffers);
  o.at_once = a.blocks_per_sm;
  o.limiter = a.blocks < o.room * machine.sms ? "thread blocks"
              : by_sums <= by_buffers         ? o.sums_in
                                              : "shared memory";
  return o;
}

}  // namespace roofcast::cli
