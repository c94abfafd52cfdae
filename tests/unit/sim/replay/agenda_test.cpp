// SPDX-License-Identifier: Apache-2.0
#include "sim/replay/agenda.hpp"

#include "tests/catch.hpp"

namespace roofcast::unit_sim_replay_agenda {

using roofcast::base::second;
using roofcast::base::Seconds;
using roofcast::sim::Agenda;

namespace {

std::vector<std::size_t> all(std::span<const std::size_t> replicas) {
  return {replicas.begin(), replicas.end()};
}

}  // namespace

TEST_CASE("Replicas are due once the last time that they were given has come, in order", "[unit]") {
  Agenda agenda(4);
  CHECK(agenda.next() == Seconds::infinity());
  agenda.at(2.0 * second, 3);
  agenda.at(1.0 * second, 2);
  agenda.at(1.0 * second, 0);
  agenda.at(0.5 * second, 1);
  agenda.at(3.0 * second, 1);
  CHECK(agenda.next() == 1.0 * second);
  CHECK(all(agenda.due(1.5 * second)) == std::vector<std::size_t>{0, 2});
  CHECK(agenda.next() == 2.0 * second);
  CHECK(agenda.due(1.5 * second).empty());
}

TEST_CASE("A replica that is touched while others are tried is tried in the next turn", "[unit]") {
  Agenda agenda(3);
  agenda.touch(2);
  agenda.touch(0);
  agenda.touch(2);
  const auto tried = agenda.take_touched();
  agenda.touch(0);
  CHECK(all(tried) == std::vector<std::size_t>{0, 2});
  CHECK(all(agenda.take_touched()) == std::vector<std::size_t>{0});
  CHECK(agenda.take_touched().empty());
}

}  // namespace roofcast::unit_sim_replay_agenda
