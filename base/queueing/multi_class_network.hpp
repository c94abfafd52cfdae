// SPDX-License-Identifier: Apache-2.0
//
// Closed networks of single servers with several classes of clients. Each class has its own number of
// clients, thinking time and demands.
//
//   R(c, k) = D(c, k) (1 + A(c, k)),   X(c) = N(c) / (Z(c) + Σ_k R(c, k)),   Q(c, k) = X(c) R(c, k)
//
//   R(c, k)  s    time of class c at station k      D(c, k)  s  demand
//   X(c)     1/s  throughput                        Z(c)     s  thinking
//   Q(c, k)  –    clients of c at k                 N(c)     –  clients
//   A(c, k)  –    clients that an arrival of c finds at k
//
//   exact         A(c, k) is the number present with one client of c fewer. Every population from none up is
//                 computed: O(stations · classes · Π (N(c) + 1))         Reiser, Lavenberg: JACM 27, 1980
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
  std::vector<Seconds>
      demands;  // by station; as many for every class; not all 0 where `think` is 0
};

struct ClassState {
  Hertz throughput;             // rounds of all clients of the class
  Seconds time;                 // round of one client without thinking
  std::vector<double> present;  // mean number of the class, by station
};

std::vector<ClassState> exact_classes(std::span<const ClientClass> classes);
std::vector<ClassState> approximate_classes(std::span<const ClientClass> classes);

}  // namespace roofcast::base::queueing
