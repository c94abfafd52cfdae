// SPDX-License-Identifier: Apache-2.0
//
// Systems with a number as their state, which rises and falls by one, at rates that depend on the number
// alone:
//
//   p(n) = p(0) Π_{i=1..n} birth(i-1) / death(i)
//
//   p(n)              –    probability of n present
//   birth(n), death(n) 1/s  rates from n to n+1 and from n to n-1
//
// Source: Gross, Shortle, Thompson, Harris: Fundamentals of Queueing Theory (4th ed., 2008), 2.1.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/queueing/queue.hpp"

namespace roofcast::base::queueing {

// Probabilities of 0..n present. births[i] leads from i to i+1, deaths[i] back from i+1 to i. There are as many of
// both, in any common unit, and deaths are positive. Works in logarithms, so that thousands of states do not
// overflow.
std::vector<double> birth_death(std::span<const double> births, std::span<const double> deaths);

// M/M/1 with a service rate that depends on the number present: rates[i] with i + 1 present, the last one for all more.
// Exact: states beyond the last rate are a geometric tail. `wait_probability` is the probability that an arrival finds
// another customer. `wait` is the time beyond 1/rates[0], which sharing and waiting add.
Queue state_dependent(Hertz arrivals, std::span<const Hertz> rates);

// M/M/c/K: c servers, at most K present. An arrival that finds K goes away.
struct LimitedQueue {
  double blocked = 0.0;  // share of arrivals that go away
  Hertz throughput;
  Queue accepted;  // of the arrivals that stay; always stable
};
LimitedQueue limited(Hertz arrivals, Seconds service, std::int64_t servers, std::int64_t capacity);

// M/M/c//N, machine repair: each of N clients waits an exponential time `think` after an answer before it asks again.
// `time` is the time to an answer.
struct MachineRepair {
  Hertz throughput;
  // Always stable; its wait_probability is that of an arrival, not that of a random instant.
  Queue queue;
};
MachineRepair machine_repair(std::int64_t clients, Seconds think, Seconds service,
                             std::int64_t servers);

}  // namespace roofcast::base::queueing
