// SPDX-License-Identifier: Apache-2.0
#include "models/tile_room.hpp"

#include "tests/catch.hpp"

namespace roofcast::unit_models_tile_room {
namespace {

constexpr double kKib = 1024.0;

// Three stages of 128 bytes, 228 KiB of shared memory, 256 KiB of registers: an SM of Hopper.
models::TileRoom hopper() {
  models::TileRoom room;
  room.pipeline = 3.0 * 128.0;
  room.shared = 228.0 * kKib;
  room.sums = 256.0 * kKib;
  return room;
}

hardware::Chip chip(const char* architecture, double shared_kib) {
  hardware::Chip c;
  c.architecture = architecture;
  c.shared_memory_per_sm = base::Bytes::from_si(shared_kib * kKib);
  c.registers_per_sm = base::Bytes::from_si(256.0 * kKib);
  return c;
}

}  // namespace

TEST_CASE("A tile needs its rows and columns of each stage, and its sums in fp32", "[unit]") {
  const models::TileRoom room = hopper();
  CHECK(room.buffers(128, 256, 2.0, 2.0) == 144.0 * kKib);
  CHECK(room.buffers(128, 256, 1.0, 1.0) == 144.0 * kKib);  // twice the elements of half the width
  CHECK(room.buffers(128, 256, 2.0, 0.5) == 72.0 * kKib);
  CHECK(room.holds(256, 256, 2.0, 2.0));
  CHECK_FALSE(room.holds(256, 320, 2.0, 2.0));  // sums of 320 KiB
  models::TileRoom half = room;
  half.shared = 0.5 * room.shared;
  CHECK_FALSE(half.holds(128, 256, 2.0, 2.0));
  CHECK(half.holds(128, 128, 2.0, 2.0));
}

TEST_CASE("What is not known of a chip bounds no tile", "[unit]") {
  CHECK(models::TileRoom{}.holds(1e6, 1e6, 4.0, 4.0));
  CHECK_FALSE(models::tile_room_of(chip("an architecture of nobody", 1.0)).binds);
  CHECK_FALSE(models::tile_room_of(chip("hopper", 256.0)).binds);
  CHECK(models::tile_room_of(chip("hopper", 128.0)).binds);
}

TEST_CASE("Bytes in flight go with the shared memory of a changed chip", "[unit]") {
  hardware::Chip c = chip("hopper", 128.0);
  CHECK(models::relative_shared_memory(c) == 1.0);
  c.parent.emplace();
  CHECK(models::relative_shared_memory(c) == 1.0);
  c.parent->shared_memory_per_sm = base::Bytes::from_si(256.0 * kKib);
  CHECK(models::relative_shared_memory(c) == 0.5);
}

}  // namespace roofcast::unit_models_tile_room
