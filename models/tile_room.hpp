// SPDX-License-Identifier: Apache-2.0
//
// Which tiles of a matrix product an SM has room for.
//
//   buffers = (rows · a + columns · w) · depth / max(a, w) · stages   ≤ shared
//   sums    = 4 · rows · columns                                      ≤ registers, or tensor memory
//
//   a, w       B  one element of each operand
//   depth      B  of one step of the main loop, in the wider operand
//   stages     –  steps on their way or in use: with fewer, products wait for operands
//   shared     B  shared memory that a thread block may have: usable_shared_memory of that of the SM
//   registers  B  of the SM; sums are fp32
//
// depth and stages are those of the libraries' kernels for the architecture, usable_shared_memory is its own
// (hardware/architectures, with sources, or as assumptions). A figure that is not known bounds nothing.
//
// Every chip of the catalog has room for every tile that the models try, so that fits do not rest on this: it acts where a
// chip was changed. More room gives no larger tiles: libraries have none.
//
// Libraries take as many stages as fit. So the bytes that an SM keeps in flight go with its shared memory: those of a changed
// chip are in_flight_bytes_per_sm of the calibration times its shared memory over its parent's.
#pragma once

#include <limits>

#include "hardware/chip.hpp"

namespace roofcast::models {

inline constexpr double kSumBytes = 4.0;
inline constexpr double kLargestTile = 256.0;  // rows, and columns, of all that are tried

struct TileRoom {
  double shared = std::numeric_limits<double>::infinity();  // B; infinite where it is not known
  double sums = std::numeric_limits<double>::infinity();    // B, the same
  double pipeline = 0.0;                                    // B, depth · stages
  bool binds = false;                                       // whether it has no room for some tile
  bool feeds_instructions =
      false;  // whether tensor instructions read operands from shared memory: wgmma, tcgen05 (PTX ISA)
  double buffers(double rows, double columns, double a_bytes, double w_bytes) const;
  bool holds(double rows, double columns, double a_bytes, double w_bytes) const;
};

TileRoom tile_room_of(const hardware::Chip& chip);

// Shared memory over that of the parent; 1 of a chip that was not changed.
double relative_shared_memory(const hardware::Chip& chip);

}  // namespace roofcast::models
