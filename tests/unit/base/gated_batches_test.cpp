// SPDX-License-Identifier: Apache-2.0
//
// Servers that take all who wait: limits that must meet, and a simulation of their own.
#include "base/queueing/gated_batches.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/queueing/open_queue.hpp"
#include "base/statistics/random.hpp"
#include "tests/catch.hpp"

namespace roofcast::base::queueing::unit_base_gated_batches {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

Hertz rate(double per_second) { return Hertz::from_si(per_second); }
Seconds seconds(double value) { return Seconds::from_si(value); }

struct Case {
  double load;  // rate · each / servers
  double fixed;
  double each;
  double scv;
  std::int64_t servers;
};

struct Waits {
  double mean = 0.0;
  double square = 0.0;
};

// Waits beyond a lone service. Customers go to the server with the fewest of them.
Waits simulate(const Case& c, std::size_t customers) {
  struct Customer {
    double arrival;
    double own;
  };
  struct Server {
    std::vector<Customer> waiting;
    std::vector<Customer> served;
    double end = kNever;
    std::size_t load() const { return waiting.size() + served.size(); }
    void start(double now, double fixed) {
      served = std::move(waiting);
      waiting.clear();
      end = now + fixed;
      for (const Customer& customer : served) {
        end += customer.own;
      }
    }
  };
  Random random(7, "gated batches");
  std::vector<Server> servers(static_cast<std::size_t>(c.servers));
  const double gap = c.each / (c.load * static_cast<double>(c.servers));
  double next = random.exponential(gap);
  std::size_t done = 0;
  Waits sum;
  while (done < customers) {
    const auto first = std::min_element(servers.begin(), servers.end(),
                                        [](const auto& a, const auto& b) { return a.end < b.end; });
    if (first->end <= next) {
      const double now = first->end;
      for (const Customer& customer : first->served) {
        const double wait = now - customer.arrival - c.fixed - customer.own;
        sum.mean += wait;
        sum.square += wait * wait;
        ++done;
      }
      first->served.clear();
      first->end = kNever;
      if (!first->waiting.empty()) {
        first->start(now, c.fixed);
      }
      continue;
    }
    const auto least =
        std::min_element(servers.begin(), servers.end(),
                         [](const auto& a, const auto& b) { return a.load() < b.load(); });
    const double own = c.scv > 0.0 ? random.gamma(1.0 / c.scv, c.each * c.scv) : c.each;
    least->waiting.push_back({next, own});
    if (least->end == kNever) {
      least->start(next, c.fixed);
    }
    next += random.exponential(gap);
  }
  return {sum.mean / static_cast<double>(done), sum.square / static_cast<double>(done)};
}

GatedBatches formula(const Case& c) {
  return gated_batches(rate(c.load * static_cast<double>(c.servers) / c.each), seconds(c.fixed),
                       seconds(c.each), c.scv, c.servers);
}

}  // namespace

TEST_CASE("One server that takes all who wait delays them as its simulation does", "[unit]") {
  for (const Case& c :
       {Case{0.3, 0.0, 1.0, 0.0, 1}, Case{0.8, 0.0, 1.0, 0.0, 1}, Case{0.6, 0.0, 1.0, 1.0, 1},
        Case{0.3, 0.5, 0.5, 0.0, 1}, Case{0.8, 0.5, 0.5, 0.5, 1}, Case{0.5, 0.9, 0.1, 0.0, 1},
        Case{0.2, 0.98, 0.02, 0.0, 1}}) {
    const Waits measured = simulate(c, 60000);
    const GatedBatches batches = formula(c);
    const double alone = c.fixed + c.each;
    INFO(c.load << " " << c.fixed << " " << c.scv);
    CHECK(batches.queue.time.si() == Approx(measured.mean + alone).epsilon(0.06));
    CHECK(sqrt(batches.wait_square).si() == Approx(std::sqrt(measured.square)).epsilon(0.15));
  }
}

TEST_CASE("Several servers that take all who wait delay them nearly as their simulation does",
          "[unit]") {
  for (const std::int64_t servers : {2, 4}) {
    for (const Case& c : {Case{0.3, 0.0, 1.0, 0.0, servers}, Case{0.7, 0.0, 1.0, 0.5, servers},
                          Case{0.4, 0.5, 0.5, 0.0, servers}, Case{0.8, 0.2, 0.8, 0.0, servers},
                          Case{0.5, 0.9, 0.1, 0.5, servers}}) {
      const Waits measured = simulate(c, 60000);
      const GatedBatches batches = formula(c);
      INFO(c.load << " " << c.fixed << " " << c.scv << " " << servers);
      CHECK(batches.queue.time.si() == Approx(measured.mean + c.fixed + c.each).epsilon(0.15));
    }
  }
}

TEST_CASE("A server that takes all who wait delays nobody when hardly anybody comes", "[unit]") {
  const GatedBatches batches = gated_batches(rate(1e-6), seconds(0.5), seconds(0.5), 0.0, 2);
  CHECK(batches.queue.wait.si() < 1e-5);
  CHECK(batches.together == Approx(1.0).margin(1e-5));
}

TEST_CASE("Servers that take all who wait have no steady state from full load on", "[unit]") {
  CHECK_FALSE(gated_batches(rate(2.0), seconds(0.5), seconds(1.0), 0.0, 2).queue.stable());
  CHECK(gated_batches(rate(1.9), seconds(0.5), seconds(1.0), 0.0, 2).queue.stable());
}

TEST_CASE("More servers never make those who wait together wait longer at the same load each",
          "[unit]") {
  for (const double load : {0.2, 0.5, 0.8}) {
    double before = kNever;
    for (const std::int64_t servers : {1, 2, 4, 8}) {
      const double wait = formula({load, 0.2, 0.8, 0.5, servers}).queue.wait.si();
      INFO(load << " " << servers);
      CHECK(wait <= before);
      before = wait;
    }
  }
}

}  // namespace roofcast::base::queueing::unit_base_gated_batches
