// SPDX-License-Identifier: Apache-2.0
#include "sim/replay/unit_table.hpp"

#include <list>
#include <map>
#include <random>

#include "tests/catch.hpp"

namespace roofcast::sim::unit_sim_replay_unit_table {

TEST_CASE("A table of units finds, holds and evicts as a map and a list do", "[unit]") {
  std::mt19937_64 random(7);
  UnitTable table;
  std::map<std::uint64_t, std::int64_t> known;  // bytes by hash
  std::list<std::uint64_t> idle;
  for (int i = 0; i < 20'000; ++i) {
    const std::uint64_t hash = random() % 3000;  // neighbours collide
    const auto place = table.find(hash);
    REQUIRE((place != UnitTable::kNone) == known.contains(hash));
    // Often the same pair again, also after the second unit was erased and its place given to another.
    REQUIRE(table.find_after(table.find(hash - hash % 10), hash) == place);
    if (place == UnitTable::kNone) {
      const auto bytes = static_cast<std::int64_t>(random() % 100);
      REQUIRE(table.insert(hash, bytes).second);
      known[hash] = bytes;
      continue;
    }
    REQUIRE(table[place].hash == hash);
    REQUIRE(table[place].bytes == known[hash]);
    REQUIRE(table.insert(hash, 0) == std::pair(place, false));
    if (table[place].holders == 1) {
      table[place].holders = 0;
      table.append_idle(place);
      idle.push_back(hash);
    } else if (random() % 2 == 0) {
      table.remove_idle(place);
      table[place].holders = 1;
      idle.remove(hash);
    } else {
      const auto first = table.first_idle();
      REQUIRE(table[first].hash == idle.front());
      table.erase(first);
      known.erase(idle.front());
      idle.pop_front();
    }
  }
  CHECK(known.size() > 500);
}

}  // namespace roofcast::sim::unit_sim_replay_unit_table
