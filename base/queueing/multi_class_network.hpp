// SPDX-License-Identifier: Apache-2.0
//
// Closed networks of single servers with several classes of clients, each with its own number, thinking
// and demands. With R the time of class c at station k and X its throughput:
//
//   R(c, k) = D(c, k) (1 + A(c, k)),   X(c) = N(c) / (Z(c) + Σ_k R(c, k)),   Q(c, k) = X(c) R(c, k)
//
//   exact         A(c, k) is the number present with one client of c fewer: every population from none up
//                 is computed, O(stations · classes · Π (N(c) + 1))       Reiser, Lavenberg: JACM 27, 1980
//   approximate   A(c, k) = Σ_d Q(d, k) - Q(c, k) / N(c), by iteration; times are 5 to 10 % off where
//                 stations are busy                                  Schweitzer 1979, Bard 1979
//
// Source: Lazowska, Zahorjan, Graham, Sevcik: Quantitative System Performance (1984), 7.4. Exact under
// product form (processor sharing, or the same exponential services for all classes).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/units/quantity.hpp"

namespace roofcast::base::queueing {

struct ClientClass {
  std::int64_t clients = 0;
  Seconds think;
  std::vector<Seconds> demands;  // by station; as many for every class, not all 0 without thinking
};

struct ClassState {
  Hertz throughput;             // rounds of all clients of the class
  Seconds time;                 // a client's round without thinking
  std::vector<double> present;  // by station, mean number
};

std::vector<ClassState> exact_classes(std::span<const ClientClass> classes);
std::vector<ClassState> approximate_classes(std::span<const ClientClass> classes);

}  // namespace roofcast::base::queueing
