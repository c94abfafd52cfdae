// SPDX-License-Identifier: Apache-2.0
//
// A fixed number of clients that visit stations in rounds for ever. In a round a client thinks (a delay) and
// then has a demand at each station: its visits times its service time. Services are exponential or shared by
// all present clients (product form; BCMP).
//
// The results are exact: those of mean value analysis with load-dependent stations. They are computed by
// convolution (Buzen: Computational Algorithms for Closed Queueing Networks with Exponential Servers, CACM
// 16, 1973), because its terms are all positive. MVA's probability of an empty station is a difference, which
// loses every digit with some tens of servers. Cost: O(stations · clients²) exponentials. A round must take
// some time.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/units/quantity.hpp"

namespace roofcast::base::queueing {

struct Station {
  Seconds demand;  // of one client in one round, without other clients
  // How many times faster the station completes clients with 1, 2, … present than with one. The last value holds for
  // all more. {1}: one server.
  std::vector<double> speedups = {1.0};
};
Station servers_of(Seconds demand, std::int64_t servers);

struct StationState {
  double present = 0.0;      // mean number
  double utilisation = 0.0;  // throughput · demand / the last speedup
  Seconds time;              // of one client in one round
};

struct ClosedNetwork {
  Hertz throughput;  // rounds of all clients
  Seconds time;      // round of one client without thinking
  std::vector<StationState> stations;
};
ClosedNetwork closed_network(std::span<const Station> stations, Seconds think,
                             std::int64_t clients);

}  // namespace roofcast::base::queueing
