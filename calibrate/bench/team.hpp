// SPDX-License-Identifier: Apache-2.0
//
// A process for each GPU, as servers and trainers run their ranks. A leader starts the members, posts one order after
// another and reads what member 0 measured. They share a file that each maps. The GPU's driver does not survive a fork,
// so members are programs of their own.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "calibrate/bench/table.hpp"

namespace roofcast::bench {

inline constexpr std::size_t kMostMembers = 16;
inline constexpr std::size_t kTokenBytes = 128;  // ncclUniqueId

struct Order {
  std::int32_t task = 0;
  std::int64_t bytes = 0;
};

struct TeamBoard;  // what is shared

class Team {
 public:
  // `argv(i)`: the command of member i, which finds the board in `file`. std::runtime_error where a process cannot start.
  Team(std::filesystem::path file, std::size_t members,
       const std::function<std::vector<std::string>(std::size_t)>& argv);
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;
  ~Team();  // members that do not end by themselves are killed

  // std::runtime_error where a member fails, ends or takes longer; the team then takes no more orders.
  Spread carry_out(const Order& order, double limit_s);

 private:
  void disband(const std::string& why);

  std::filesystem::path file_;
  TeamBoard* board_ = nullptr;
  std::vector<pid_t> processes_;
  std::string problem_;  // why the team takes no more orders
};

class Member {
 public:
  Member(const std::filesystem::path& file, std::size_t index);
  Member(const Member&) = delete;
  Member& operator=(const Member&) = delete;
  ~Member();

  std::size_t index() const { return index_; }
  std::size_t members() const;
  // Until the leader wants no more. A problem of `work` is reported, and the member ends.
  void serve(const std::function<Spread(const Order&)>& work);
  // Returns when all members are here. std::runtime_error when the team is over.
  void meet();
  // Member 0's bytes, at all members; at most kTokenBytes.
  void share(std::span<std::byte> token);

 private:
  TeamBoard* board_;
  std::size_t index_;
};

}  // namespace roofcast::bench
