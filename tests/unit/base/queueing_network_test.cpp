// SPDX-License-Identifier: Apache-2.0
//
// Closed networks: textbook examples, mean value analysis, limits that must meet, and simulation.
#include <algorithm>
#include <vector>

#include "base/integers.hpp"
#include "base/queueing/birth_death.hpp"
#include "base/queueing/closed_network.hpp"
#include "tests/catch.hpp"
#include "tests/unit/base/queueing_simulation.hpp"

namespace roofcast::unit_base_queueing_network {

using namespace roofcast::base;
using namespace roofcast::base::queueing;
namespace simulation = roofcast::queueing_simulation;

namespace {

Seconds seconds(double value) { return Seconds::from_si(value); }

std::vector<Station> single_servers(const std::vector<Seconds>& demands) {
  std::vector<Station> stations;
  for (const Seconds demand : demands) {
    stations.push_back({demand, {1.0}});
  }
  return stations;
}

// The terminals of Lazowska et al., Quantitative System Performance, 6.4: a CPU and two disks.
const std::vector<Seconds> kTerminals = {seconds(0.605), seconds(2.1), seconds(1.35)};

}  // namespace

TEST_CASE("convolution gives what mean value analysis gives", "[unit]") {
  const Seconds think = seconds(15.0);
  std::vector<double> present(kTerminals.size());
  for (std::int64_t n = 1; n <= 60; ++n) {
    double round = think.si();
    for (std::size_t k = 0; k < present.size(); ++k) {
      round += kTerminals[k].si() * (1.0 + present[k]);
    }
    const double throughput = static_cast<double>(n) / round;
    const ClosedNetwork network = closed_network(single_servers(kTerminals), think, n);
    CHECK(network.throughput.si() == Approx(throughput).epsilon(1e-10));
    CHECK(network.time.si() == Approx(round - 15.0).epsilon(1e-9));
    for (std::size_t k = 0; k < present.size(); ++k) {
      present[k] = throughput * kTerminals[k].si() * (1.0 + present[k]);
      CHECK(network.stations[k].present == Approx(present[k]).epsilon(1e-9));
      CHECK(network.stations[k].utilisation == Approx(throughput * kTerminals[k].si()));
    }
  }
}

TEST_CASE("three terminals complete as in Lazowska's table", "[unit]") {
  const ClosedNetwork network = closed_network(single_servers(kTerminals), seconds(15.0), 3);
  CHECK(network.throughput.si() == Approx(0.152).epsilon(0.005));
  CHECK(network.stations[0].time.si() == Approx(0.643).epsilon(0.002));
  CHECK(network.stations[1].time.si() == Approx(2.605).epsilon(0.002));
  CHECK(network.stations[2].time.si() == Approx(1.551).epsilon(0.002));
}

TEST_CASE("one station with thinking clients is a birth-death process", "[unit]") {
  for (const std::int64_t servers : {1, 2, 5, 20}) {
    for (const std::int64_t clients : {1, 2, 7, 50}) {
      std::vector<double> births;
      std::vector<double> deaths;
      for (std::int64_t n = 1; n <= clients; ++n) {
        births.push_back(as_double(clients - n + 1) / 6.0);
        deaths.push_back(as_double(std::min(n, servers)));
      }
      const std::vector<double> p = birth_death(births, deaths);
      double busy = 0.0;
      for (std::size_t n = 0; n < p.size(); ++n) {
        busy += p[n] * as_double(std::min(static_cast<std::int64_t>(n), servers));
      }
      const std::vector<Station> station = {servers_of(seconds(1.0), servers)};
      const ClosedNetwork network = closed_network(station, seconds(6.0), clients);
      CHECK(network.throughput.si() == Approx(busy).epsilon(1e-10));
      CHECK(network.stations[0].utilisation == Approx(busy / as_double(servers)));
    }
  }
}

TEST_CASE("clients that do not think keep every server busy", "[unit]") {
  const std::vector<Station> station = {servers_of(seconds(2.0), 3)};
  CHECK(closed_network(station, {}, 7).throughput.si() == Approx(1.5));
}

TEST_CASE("clients are neither lost nor made, with hundreds of servers and thousands of clients",
          "[unit]") {
  const std::vector<Station> stations = {servers_of(seconds(3.0), 256),
                                         {seconds(0.01), {1.0}},
                                         {seconds(0.2), {1.0, 1.9, 2.7, 12.0, 40.0}}};
  for (const std::int64_t clients : {1, 255, 256, 257, 2000}) {
    const ClosedNetwork network = closed_network(stations, seconds(5.0), clients);
    double present = network.throughput * seconds(5.0);
    for (const StationState& state : network.stations) {
      present += state.present;
      CHECK(state.utilisation <= 1.0 + 1e-9);
    }
    CHECK(present == Approx(static_cast<double>(clients)).epsilon(1e-8));
  }
  // 1/(largest demand over its servers), 256/3 > 1/0.01 > 40/0.2.
  CHECK(closed_network(stations, seconds(5.0), 2000).throughput.si() ==
        Approx(256.0 / 3.0).epsilon(1e-6));
  CHECK(closed_network(stations, seconds(5.0), 0).throughput.si() == 0.0);
}

TEST_CASE("simulated closed networks take as long as the exact one", "[unit]") {
  const std::vector<Station> stations = {{seconds(0.2), {1.0}}, servers_of(seconds(1.0), 4)};
  const auto seen = simulation::simulate_closed(
      {{0.1, 1}, {1.0, 4}}, {.clients = 12, .think = 2.0, .visits = {2, 1}}, 100000, 1);
  simulation::check_mean(seen, closed_network(stations, seconds(2.0), 12).time.si());
}

}  // namespace roofcast::unit_base_queueing_network
