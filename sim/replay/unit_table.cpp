// SPDX-License-Identifier: Apache-2.0
#include "sim/replay/unit_table.hpp"

namespace roofcast::sim {
namespace {

constexpr int kFirstBits = 10;
constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15ULL;  // 2⁶⁴ over the golden ratio (Knuth)

}  // namespace

UnitTable::UnitTable() : shift_(64 - kFirstBits), slots_(std::size_t{1} << kFirstBits) {}

std::size_t UnitTable::home(std::uint64_t hash) const {
  return static_cast<std::size_t>((hash * kGolden) >> shift_);
}

std::size_t UnitTable::slot_of(std::uint64_t hash) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = home(hash);
  while (slots_[at].place != kNone && slots_[at].hash != hash) {
    at = (at + 1) & mask;
  }
  return at;
}

UnitTable::Place UnitTable::find(std::uint64_t hash) const { return slots_[slot_of(hash)].place; }

UnitTable::Place UnitTable::find_after(Place before, std::uint64_t hash) {
  if (before == kNone) {
    return find(hash);
  }
  const Place guess = units_[before].follower;
  if (guess != kNone && units_[guess].hash == hash && units_[guess].holders >= 0) {
    return guess;
  }
  const Place place = find(hash);
  if (place != kNone) {
    units_[before].follower = place;
  }
  return place;
}

std::pair<UnitTable::Place, bool> UnitTable::insert(std::uint64_t hash, std::int64_t bytes) {
  std::size_t at = slot_of(hash);
  if (slots_[at].place != kNone) {
    return {slots_[at].place, false};
  }
  if (2 * ++size_ > slots_.size()) {
    enlarge();
    at = slot_of(hash);
  }
  auto place = static_cast<Place>(units_.size());
  if (unused_.empty()) {
    units_.emplace_back();
  } else {
    place = unused_.back();
    unused_.pop_back();
  }
  units_[place] = {hash, bytes, 1, kNone, kNone, kNone};
  slots_[at] = {hash, place};
  return {place, true};
}

void UnitTable::enlarge() {
  std::vector<Slot> old(2 * slots_.size());
  old.swap(slots_);
  --shift_;
  for (const Slot& slot : old) {
    if (slot.place != kNone) {
      slots_[slot_of(slot.hash)] = slot;
    }
  }
}

void UnitTable::erase(Place place) {
  remove_idle(place);
  units_[place].holders = -1;
  unused_.push_back(place);
  --size_;
  // Those behind it move up, as far as that is not before their home (Knuth, volume 3, 6.4, algorithm R).
  const std::size_t mask = slots_.size() - 1;
  std::size_t hole = slot_of(units_[place].hash);
  for (std::size_t at = (hole + 1) & mask; slots_[at].place != kNone; at = (at + 1) & mask) {
    if (((at - home(slots_[at].hash)) & mask) >= ((at - hole) & mask)) {
      slots_[hole] = slots_[at];
      hole = at;
    }
  }
  slots_[hole].place = kNone;
}

void UnitTable::append_idle(Place place) {
  units_[place].before = last_;
  units_[place].after = kNone;
  (last_ == kNone ? first_ : units_[last_].after) = place;
  last_ = place;
}

void UnitTable::remove_idle(Place place) {
  const Unit& unit = units_[place];
  (unit.before == kNone ? first_ : units_[unit.before].after) = unit.after;
  (unit.after == kNone ? last_ : units_[unit.after].before) = unit.before;
}

}  // namespace roofcast::sim
