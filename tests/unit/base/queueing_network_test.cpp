// SPDX-License-Identifier: Apache-2.0
//
// Closed networks: textbook examples, mean value analysis, limits that must meet, and simulation.
#include <cmath>
#include <numeric>
#include <vector>

#include "base/queueing/birth_death.hpp"
#include "base/queueing/closed_network.hpp"
#include "base/queueing/multi_class_network.hpp"
#include "tests/catch.hpp"
#include "tests/unit/base/queueing_simulation.hpp"

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

TEST_CASE("one station with thinking clients is machine repair", "[unit]") {
  for (const std::int64_t servers : {1, 2, 5, 20}) {
    for (const std::int64_t clients : {1, 2, 7, 50}) {
      const MachineRepair repair = machine_repair(clients, seconds(6.0), seconds(1.0), servers);
      const std::vector<Station> station = {servers_of(seconds(1.0), servers)};
      const ClosedNetwork network = closed_network(station, seconds(6.0), clients);
      CHECK(network.throughput.si() == Approx(repair.throughput.si()).epsilon(1e-10));
      CHECK(network.time.si() == Approx(repair.queue.time.si()).epsilon(1e-9));
      CHECK(network.stations[0].utilisation == Approx(repair.queue.utilisation));
      // Little's law over the whole round.
      CHECK(repair.throughput * (repair.queue.time + seconds(6.0)) ==
            Approx(static_cast<double>(clients)));
    }
  }
}

TEST_CASE("no client asks for nothing", "[unit]") {
  const MachineRepair repair = machine_repair(0, seconds(1.0), seconds(2.0), 3);
  CHECK(repair.throughput.si() == 0.0);
  CHECK(repair.queue.wait_probability == 0.0);
  CHECK(repair.queue.time.si() == 2.0);
  const std::vector<ClientClass> nobody = {{0, {}, {seconds(0.0)}}};
  CHECK(exact_classes(nobody)[0].throughput.si() == 0.0);
  CHECK(approximate_classes(nobody)[0].throughput.si() == 0.0);
}

TEST_CASE("repairs without thinking keep every server busy", "[unit]") {
  const MachineRepair repair = machine_repair(7, {}, seconds(2.0), 3);
  CHECK(repair.throughput.si() == Approx(1.5));
  CHECK(repair.queue.time.si() == Approx(7.0 / 1.5));
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

TEST_CASE("bounds hold the exact throughput, the balanced ones closer", "[unit]") {
  for (const double think : {0.0, 15.0}) {
    for (const std::int64_t n : {1, 2, 5, 20, 100}) {
      const double exact =
          closed_network(single_servers(kTerminals), seconds(think), n).throughput.si();
      const Bounds wide = asymptotic_bounds(kTerminals, seconds(think), n);
      const Bounds narrow = balanced_bounds(kTerminals, seconds(think), n);
      const double slack = 1e-12 * exact;
      CHECK(wide.least.si() <= narrow.least.si() + slack);
      CHECK(narrow.least.si() <= exact + slack);
      CHECK(exact <= narrow.most.si() + slack);
      CHECK(narrow.most.si() <= wide.most.si() + slack);
    }
  }
  CHECK(saturation_clients(kTerminals, seconds(15.0)) == Approx(19.055 / 2.1));
}

TEST_CASE("balanced bounds meet on a balanced network", "[unit]") {
  const std::vector<Seconds> balanced(4, seconds(0.5));
  for (const std::int64_t n : {1, 3, 30}) {
    const Bounds bounds = balanced_bounds(balanced, {}, n);
    const double exact = closed_network(single_servers(balanced), {}, n).throughput.si();
    CHECK(bounds.least.si() == Approx(exact));
    CHECK(bounds.most.si() == Approx(exact));
  }
}

TEST_CASE("classes that are alike are one class", "[unit]") {
  const std::vector<ClientClass> alike = {{5, seconds(15.0), kTerminals},
                                          {7, seconds(15.0), kTerminals},
                                          {0, seconds(15.0), kTerminals}};
  const ClosedNetwork one = closed_network(single_servers(kTerminals), seconds(15.0), 12);
  const auto exact = exact_classes(alike);
  CHECK(exact[0].throughput.si() == Approx(one.throughput.si() * 5.0 / 12.0));
  CHECK(exact[1].time.si() == Approx(one.time.si()));
  CHECK(exact[2].throughput.si() == 0.0);
  CHECK(exact[0].present[1] + exact[1].present[1] == Approx(one.stations[1].present));
}

TEST_CASE("approximate classes are near the exact ones, and lone clients exact", "[unit]") {
  const std::vector<ClientClass> classes = {
      {10, seconds(15.0), {seconds(0.605), seconds(2.1), seconds(1.35)}},
      {4, seconds(2.0), {seconds(0.9), seconds(0.1), seconds(0.4)}}};
  const auto exact = exact_classes(classes);
  const auto close = approximate_classes(classes);
  for (std::size_t c = 0; c < classes.size(); ++c) {
    CHECK(close[c].throughput.si() == Approx(exact[c].throughput.si()).epsilon(0.1));
    CHECK(close[c].time.si() == Approx(exact[c].time.si()).epsilon(0.1));
    const double present = std::accumulate(close[c].present.begin(), close[c].present.end(), 0.0);
    CHECK(present + close[c].throughput * classes[c].think ==
          Approx(static_cast<double>(classes[c].clients)));
  }
  const std::vector<ClientClass> alone = {{1, seconds(15.0), kTerminals}};
  CHECK(approximate_classes(alone)[0].time.si() == Approx(4.055));
  CHECK(exact_classes(alone)[0].time.si() == Approx(4.055));
}

TEST_CASE("the approximation of three terminals is that of Lazowska's table", "[unit]") {
  const std::vector<ClientClass> terminals = {{3, seconds(15.0), kTerminals}};
  const ClassState state = approximate_classes(terminals)[0];
  CHECK(state.throughput.si() == Approx(0.1510).epsilon(0.001));
  CHECK(state.time.si() == Approx(4.87).epsilon(0.001));
  CHECK(state.present[0] == Approx(0.0973).epsilon(0.002));
  CHECK(state.present[1] == Approx(0.4021).epsilon(0.002));
  CHECK(state.present[2] == Approx(0.2359).epsilon(0.002));
}

TEST_CASE("simulated closed networks take as long as the exact one", "[unit]") {
  const std::vector<Station> stations = {{seconds(0.2), {1.0}}, servers_of(seconds(1.0), 4)};
  const auto seen = simulation::simulate_closed(
      {{0.1, 1}, {1.0, 4}}, {{.clients = 12, .think = 2.0, .visits = {2, 1}}}, 100000, 1);
  simulation::check_mean(seen[0], closed_network(stations, seconds(2.0), 12).time.si());
}

TEST_CASE("simulated clients of two classes take as long as the exact ones", "[unit]") {
  const std::vector<ClientClass> classes = {{6, seconds(3.0), {seconds(0.3), seconds(0.2)}},
                                            {3, seconds(1.0), {seconds(0.1), seconds(0.8)}}};
  const auto seen = simulation::simulate_closed({{0.1, 1}, {0.2, 1}},
                                                {{.clients = 6, .think = 3.0, .visits = {3, 1}},
                                                 {.clients = 3, .think = 1.0, .visits = {1, 4}}},
                                                200000, 2);
  const auto exact = exact_classes(classes);
  simulation::check_mean(seen[0], exact[0].time.si());
  simulation::check_mean(seen[1], exact[1].time.si());
}
