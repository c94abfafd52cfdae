// SPDX-License-Identifier: Apache-2.0
//
// The suites of roofcast-bench in the order they run, most valuable first, and how they share a run's time.
#pragma once

#include <chrono>
#include <span>
#include <string_view>

namespace roofcast::bench {

struct Suite {
  std::string_view name;
  double share_s;  // of a whole run
  std::string_view subject;
};

std::span<const Suite> suites();

// What the first of `left` may take of the `remaining_s`: in proportion to the shares, so that time a suite leaves
// over goes to those behind it.
double allowance(double remaining_s, std::span<const Suite> left);

class Deadline {
 public:
  explicit Deadline(double seconds)
      : end_(Clock::now() +
             std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds))) {}
  bool over() const { return Clock::now() >= end_; }
  double remaining_s() const { return std::chrono::duration<double>(end_ - Clock::now()).count(); }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point end_;
};

}  // namespace roofcast::bench
