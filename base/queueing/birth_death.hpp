// SPDX-License-Identifier: Apache-2.0
//
// Systems whose state is a number that rises and falls by one, at rates that depend on it alone:
//
//   p(n) = p(0) Π_{i=1..n} birth(i-1) / death(i)
//
// Source: Gross, Shortle, Thompson, Harris: Fundamentals of Queueing Theory (4th ed., 2008), 2.1.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/queueing/queue.hpp"

namespace roofcast::base::queueing {

// Probabilities of 0..n present: births[i] leads from i to i+1, deaths[i] back. As many of both; any
// common unit; deaths are positive. Works in logarithms, so that thousands of states are no trouble.
std::vector<double> birth_death(std::span<const double> births, std::span<const double> deaths);

// M/M/1 with a service rate that depends on the number present: rates[i] with i + 1 of them, the last one
// for all more. Exact: states beyond the last rate are a geometric tail. `wait_probability` is that of
// finding somebody; `wait` is the time beyond 1/rates[0]: what sharing and waiting add.
Queue state_dependent(Hertz arrivals, std::span<const Hertz> rates);

// M/M/c/K: c servers, at most K present, who finds K goes away.
struct LimitedQueue {
  double blocked = 0.0;  // share of arrivals that go away
  Hertz throughput;
  Queue accepted;  // of those that do not; always stable
};
LimitedQueue limited(Hertz arrivals, Seconds service, std::int64_t servers, std::int64_t capacity);

// M/M/c//N, machine repair: N clients that each wait an exponential time `think` after an answer, before
// they ask again. `time` is that of an answer.
struct MachineRepair {
  Hertz throughput;
  Queue queue;  // always stable; its wait_probability is what an arrival sees, not time
};
MachineRepair machine_repair(std::int64_t clients, Seconds think, Seconds service,
                             std::int64_t servers);

}  // namespace roofcast::base::queueing
