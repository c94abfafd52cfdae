// SPDX-License-Identifier: Apache-2.0
//
// The published units of a KV cache, found by hash, and the order in which idle ones are evicted.
//
// A hash table of open addressing, and nodes in one array that name each other by their place: a session of 40,000
// tokens looks up thousands of units for each request, so a lookup must not follow pointers through the heap. Places
// stay the same until their unit is erased. Each unit remembers which one was looked up after it: a sequence that is
// read again is followed without the hash table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace roofcast::sim {

class UnitTable {
 public:
  using Place = std::uint32_t;
  static constexpr Place kNone = 0xffffffff;

  struct Unit {
    std::uint64_t hash = 0;
    std::int64_t bytes = 0;
    std::int32_t holders = 0;  // -1: the place is free
    Place follower = kNone;    // where the unit was that was looked up after this one
    Place before = kNone;      // of the idle ones
    Place after = kNone;
  };

  UnitTable();

  Place find(std::uint64_t hash) const;  // kNone if there is none
  // The same, of a unit that is looked up after the one at `before`: a place in use, or kNone.
  Place find_after(Place before, std::uint64_t hash);
  // The unit with this hash, and whether it is new. A new one has one holder.
  std::pair<Place, bool> insert(std::uint64_t hash, std::int64_t bytes);
  void erase(Place place);  // an idle unit

  Unit& operator[](Place place) { return units_[place]; }
  const Unit& operator[](Place place) const { return units_[place]; }

  // The idle units, the next one to be evicted first.
  Place first_idle() const { return first_; }
  void append_idle(Place place);
  void remove_idle(Place place);

 private:
  struct Slot {
    std::uint64_t hash = 0;
    Place place = kNone;  // kNone: the slot is free
  };

  std::size_t home(std::uint64_t hash) const;
  std::size_t slot_of(std::uint64_t hash) const;  // of the unit, or the free one where it would be
  void enlarge();

  int shift_;  // 64 less the bits of a slot's number
  std::vector<Slot> slots_;
  std::vector<Unit> units_;
  std::vector<Place> unused_;  // places of erased units
  std::size_t size_ = 0;
  Place first_ = kNone;
  Place last_ = kNone;
};

}  // namespace roofcast::sim
