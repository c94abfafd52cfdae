// SPDX-License-Identifier: Apache-2.0
//
// How many thread blocks of a kernel an SM has room for.
//
//   sums      B  what a thread block adds up, in fp32: in registers, or in the tensor memory of chips that have one
//   buffers   B  operands on their way, in the shared memory that thread blocks may have. Of a GEMM the stages of its main
//                loop (models/tile_room.hpp); of attention and grouped kernels without stages of their own two steps, or as
//                many as the bytes that an SM keeps in flight (Little's law), of which thread blocks that run at once keep a
//                part each, at least a step. A step of attention is the queries of a thread block and a block of keys and
//                values
//   room      –  the least of registers / sums and shared memory / buffers; 0 where one thread block does not fit
//
// Addresses and barriers need room too. Attention can do with smaller blocks of keys than these
// (models/operators/attention.hpp), so `room` is what the steps that are shown need, and no bound of the model. A GEMM takes no
// tile that does not fit. How many thread blocks the models run at once is theirs.
#pragma once

#include <optional>
#include <string_view>

#include "hardware/chip.hpp"
#include "models/machine.hpp"
#include "models/operators/anatomy.hpp"

namespace roofcast::cli {

struct Occupancy {
  double room = 0.0;     // thread blocks
  double at_once = 1.0;  // that the model runs, whatever the room
  std::string_view
      limiter;  // "registers", "tensor memory", "shared memory"; "thread blocks" where there are fewer
  std::string_view sums_in;           // "registers", "tensor memory"
  base::Bytes sums, sums_room;        // of a thread block, of an SM
  base::Bytes buffers, buffers_room;  // of shared memory
};

// Nothing where the chip's registers or shared memory are not known, or the kernel has no tiles.
std::optional<Occupancy> occupancy_of(const models::Anatomy& anatomy, const hardware::Chip& chip,
                                      const models::Machine& machine);

}  // namespace roofcast::cli
