// SPDX-License-Identifier: Apache-2.0
#include "models/tile_room.hpp"

#include <algorithm>

#include "hardware/chip_architecture.hpp"

namespace roofcast::models {
namespace {

double known(const std::optional<base::Bytes>& bytes) {
  return bytes ? bytes->si() : std::numeric_limits<double>::infinity();
}

}  // namespace

double TileRoom::buffers(double rows, double columns, double a_bytes, double w_bytes) const {
  return (rows * a_bytes + columns * w_bytes) / std::max(a_bytes, w_bytes) * pipeline;
}

bool TileRoom::holds(double rows, double columns, double a_bytes, double w_bytes) const {
  return kSumBytes * rows * columns <= sums && buffers(rows, columns, a_bytes, w_bytes) <= shared;
}

TileRoom tile_room_of(const hardware::Chip& chip) {
  TileRoom room;
  room.sums = known(chip.tensor_memory_per_sm ? chip.tensor_memory_per_sm : chip.registers_per_sm);
  if (const hardware::MainLoop* loop = hardware::main_loop_of(chip)) {
    room.pipeline = loop->depth.si() * loop->stages;
    room.shared = hardware::usable_shared_memory(chip) * known(chip.shared_memory_per_sm);
  }
  room.feeds_instructions =
      chip.tensor_instruction == "wgmma" || chip.tensor_instruction == "tcgen05";
  room.binds =
      !room.holds(kLargestTile, kLargestTile, 1.0, 1.0);  // operands of one width need most
  return room;
}

double relative_shared_memory(const hardware::Chip& chip) {
  return chip.parent && chip.parent->shared_memory_per_sm && chip.shared_memory_per_sm
             ? *chip.shared_memory_per_sm / *chip.parent->shared_memory_per_sm
             : 1.0;
}

}  // namespace roofcast::models
