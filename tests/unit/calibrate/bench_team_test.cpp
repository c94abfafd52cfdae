// SPDX-License-Identifier: Apache-2.0
//
// Members are this test program itself: started with a test case that is hidden, and told by its environment.
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <thread>

#include "calibrate/bench/team.hpp"
#include "tests/catch.hpp"

namespace roofcast::unit_calibrate_bench_team {

using namespace roofcast::bench;

namespace {

enum Task : std::int32_t { kTokens, kFails, kEnds, kHangs };

std::filesystem::path board_file() {
  return std::filesystem::temp_directory_path() / ("roofcast_team_" + std::to_string(getpid()));
}

Team team_of(std::size_t members) {
  const std::filesystem::path file = board_file();
  return {file, members, [&](std::size_t index) {
            return std::vector<std::string>{"/usr/bin/env",
                                            "ROOFCAST_TEAM=" + file.string(),
                                            "ROOFCAST_MEMBER=" + std::to_string(index),
                                            std::filesystem::read_symlink("/proc/self/exe"),
                                            "A member of a team carries out its orders",
                                            "-o",
                                            "/dev/null"};
          }};
}

}  // namespace

// Tagged [.]: only by its name.
TEST_CASE("A member of a team carries out its orders", "[.member]") {
  const char* file = std::getenv("ROOFCAST_TEAM");
  if (file == nullptr) {
    return;
  }
  Member member(file, static_cast<std::size_t>(std::atoi(std::getenv("ROOFCAST_MEMBER"))));
  double sum = 0.0;
  member.serve([&](const Order& order) -> Spread {
    const bool last = member.index() + 1 == member.members();
    if (order.task == kFails && last) {
      throw std::runtime_error("no memory");
    }
    if (order.task == kEnds && last) {
      _exit(3);
    }
    if (order.task == kHangs && last) {
      std::this_thread::sleep_for(std::chrono::hours(1));
    }
    std::byte token[8] = {};
    token[7] = member.index() == 0 ? std::byte{42} : std::byte{0};
    member.share(token);
    for (int i = 0; i < 1000; ++i) {
      member.meet();
    }
    sum += static_cast<double>(order.bytes);
    return {sum, static_cast<double>(token[7]), static_cast<double>(member.members()), 1};
  });
}

TEST_CASE("The leader of a team reads what its first member measures, order by order", "[unit]") {
  for (const std::size_t members : {1U, 2U, 5U}) {
    Team team = team_of(members);
    CHECK(team.carry_out({kTokens, 10}, 60.0).median == 10.0);
    const Spread second = team.carry_out({kTokens, 5}, 60.0);
    CHECK(second.median == 15.0);
    CHECK(second.p10 == 42.0);
    CHECK(second.p90 == static_cast<double>(members));
  }
  CHECK_FALSE(std::filesystem::exists(board_file()));
}

TEST_CASE(
    "A member that fails, ends or hangs ends its team, which says why and takes no more orders",
    "[unit]") {
  const auto ends = [](Task task, double limit_s, const std::string& why) {
    Team team = team_of(3);
    CHECK(team.carry_out({kTokens, 1}, 60.0).median == 1.0);
    CHECK_THROWS_WITH(team.carry_out({task, 1}, limit_s), Catch::Contains(why));
    CHECK_THROWS_WITH(team.carry_out({kTokens, 1}, 60.0), Catch::Contains(why));
  };
  ends(kFails, 60.0, "no memory");
  ends(kEnds, 60.0, "rank 2 ended");
  ends(kHangs, 0.5, "took longer");
}

TEST_CASE("A team whose program is missing says so", "[unit]") {
  CHECK_THROWS_WITH(Team(board_file(), 2,
                         [](std::size_t) { return std::vector<std::string>{"/no/such/program"}; }),
                    "/no/such/program: No such file or directory");
}

}  // namespace roofcast::unit_calibrate_bench_team
