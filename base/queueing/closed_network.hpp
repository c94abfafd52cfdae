// SPDX-License-Identifier: Apache-2.0
//
// A fixed number of clients that go round stations for ever: thinking (a delay), then each station's
// demand (its visits times its service time), exponential or shared by all present (product form; BCMP).
//
// Exact: the values of mean value analysis with load-dependent stations, computed by convolution (Buzen:
// Computational Algorithms for Closed Queueing Networks with Exponential Servers, CACM 16, 1973) because
// its terms are all positive: MVA's probability of an empty station is a difference that loses every
// digit with some tens of servers. O(stations · clients²) exponentials. A round takes some time.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/units/quantity.hpp"

namespace roofcast::base::queueing {

struct Station {
  Seconds demand;  // of a client and round, served alone
  // How many times faster the station completes clients with 1, 2, … present than with one; the last
  // value for all more. {1}: one server.
  std::vector<double> speedups = {1.0};
};
Station servers_of(Seconds demand, std::int64_t servers);

struct StationState {
  double present = 0.0;      // mean number
  double utilisation = 0.0;  // throughput · demand / the last speedup
  Seconds time;              // a client's, in a round
};

struct ClosedNetwork {
  Hertz throughput;  // rounds of all clients
  Seconds time;      // a client's round without thinking
  std::vector<StationState> stations;
};
ClosedNetwork closed_network(std::span<const Station> stations, Seconds think,
                             std::int64_t clients);

// Bounds of a network of single servers, whatever the services are (asymptotic) or with product form
// (balanced); Lazowska, Zahorjan, Graham, Sevcik: Quantitative System Performance (1984), 5.2 and 5.4.
// With D the sum of demands, Dmax the largest, N clients, Z thinking:
//
//   asymptotic   N / (D N + Z) <= X <= min(1/Dmax, N / (D + Z))
//   balanced     N / (D + Z + (N-1) Dmax / (1 + Z/(N D))) <= X
//                X <= min(1/Dmax, N / (D + Z + (N-1) (D/K) / (1 + Z/D)))
struct Bounds {
  Hertz least;
  Hertz most;
};
Bounds asymptotic_bounds(std::span<const Seconds> demands, Seconds think, std::int64_t clients);
Bounds balanced_bounds(std::span<const Seconds> demands, Seconds think, std::int64_t clients);
// The clients (D + Z) / Dmax beyond which they must queue.
double saturation_clients(std::span<const Seconds> demands, Seconds think);

}  // namespace roofcast::base::queueing
