// SPDX-License-Identifier: Apache-2.0
//
// A small discrete-event simulator, and means of what it sees with confidence intervals: what the closed
// forms of base/queueing are held against. It shares no formula with them.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <queue>
#include <vector>

#include "base/statistics/random.hpp"
#include "tests/catch.hpp"

namespace roofcast::queueing_simulation {

using Sampler = std::function<double(base::Random&)>;

inline Sampler constant(double value) {
  return [=](base::Random&) { return value; };
}
inline Sampler exponential(double mean) {
  return [=](base::Random& random) { return random.exponential(mean); };
}
// Of any squared coefficient of variation.
inline Sampler gamma(double mean, double scv) {
  return [=](base::Random& random) { return random.gamma(1.0 / scv, mean * scv); };
}

class Events {
 public:
  double now() const { return now_; }
  void after(double delay, std::function<void()> happens) {
    queue_.push({now_ + delay, count_++, std::move(happens)});
  }
  void run() {
    while (!queue_.empty()) {
      const Event event = queue_.top();
      queue_.pop();
      now_ = event.at;
      event.happens();
    }
  }

 private:
  struct Event {
    double at;
    std::size_t order;  // equal times in the order they were asked for
    std::function<void()> happens;
    bool operator<(const Event& other) const {
      return at != other.at ? at > other.at : order > other.order;
    }
  };
  std::priority_queue<Event> queue_;
  double now_ = 0.0;
  std::size_t count_ = 0;
};

// The mean of observations in the order they were made and how far it may be off: by the means of twenty
// batches, after the first tenth is dropped.
struct Mean {
  double value = 0.0;
  double half_width = 0.0;  // 99.9 %
};
inline Mean mean_of(const std::vector<double>& observations) {
  constexpr std::size_t kBatches = 20;
  constexpr double kStudent = 3.883;  // 19 degrees of freedom, 99.9 % on both sides
  const std::size_t skipped = observations.size() / 10;
  const std::size_t size = (observations.size() - skipped) / kBatches;
  std::vector<double> means;
  double mean = 0.0;
  for (std::size_t batch = 0; batch < kBatches; ++batch) {
    double sum = 0.0;
    for (std::size_t i = 0; i < size; ++i) {
      sum += observations[skipped + batch * size + i];
    }
    means.push_back(sum / static_cast<double>(size));
    mean += means.back() / kBatches;
  }
  double squares = 0.0;
  for (const double m : means) {
    squares += (m - mean) * (m - mean);
  }
  return {mean, kStudent * std::sqrt(squares / (kBatches - 1) / kBatches)};
}

// The closed form lies in the interval, which is narrow enough to tell something. `model_error` is the
// relative error that an approximation states.
inline void check_mean(const std::vector<double>& observations, double expected,
                       double model_error = 0.0) {
  const Mean seen = mean_of(observations);
  INFO("simulated " << seen.value << " +- " << seen.half_width << ", expected " << expected);
  CHECK(seen.half_width <= 0.15 * seen.value);
  CHECK(std::abs(seen.value - expected) <= seen.half_width + model_error * expected);
}

// One station with several servers, first come, first served.
struct OpenStation {
  Sampler gap, service;
  std::size_t servers = 1;
};

// Waits in the order of service.
inline std::vector<double> simulate(const OpenStation& station, std::size_t arrivals,
                                    std::uint64_t seed) {
  Events events;
  base::Random gaps(seed, "gaps");
  base::Random services(seed, "services");
  std::queue<double> waiting;  // since when
  std::size_t busy = 0;
  std::size_t arrived = 0;
  std::vector<double> waits;
  std::function<void()> start = [&] {
    while (busy < station.servers && !waiting.empty()) {
      waits.push_back(events.now() - waiting.front());
      waiting.pop();
      ++busy;
      events.after(station.service(services), [&] {
        --busy;
        start();
      });
    }
  };
  std::function<void()> arrive = [&] {
    waiting.push(events.now());
    start();
    if (++arrived < arrivals) {
      events.after(station.gap(gaps), arrive);
    }
  };
  events.after(station.gap(gaps), arrive);
  events.run();
  return waits;
}

// Clients think, then pass the stations in turn, waiting first come, first served; all times are exponential.
struct Round {
  std::size_t clients = 1;
  double think = 0.0;
  std::vector<std::size_t> visits;  // of each station, in a round
};
struct ClosedStation {
  double service = 1.0;
  std::size_t servers = 1;
};

// Times of rounds without thinking.
inline std::vector<double> simulate_closed(const std::vector<ClosedStation>& stations,
                                           const Round& round, std::size_t rounds,
                                           std::uint64_t seed) {
  struct Client {
    std::size_t station = 0;
    std::size_t visits = 0;
    double since = 0.0;
  };
  Events events;
  base::Random random(seed, "closed");
  std::vector<double> times;
  std::vector<std::queue<Client*>> waiting(stations.size());
  std::vector<std::size_t> busy(stations.size());
  std::function<void(Client*)> go;
  std::function<void(std::size_t)> serve = [&](std::size_t k) {
    while (busy[k] < stations[k].servers && !waiting[k].empty()) {
      Client* client = waiting[k].front();
      waiting[k].pop();
      ++busy[k];
      events.after(random.exponential(stations[k].service), [&, k, client] {
        --busy[k];
        ++client->visits;
        go(client);
        serve(k);
      });
    }
  };
  const auto think = [&](Client* client) {
    events.after(random.exponential(round.think), [&, client] {
      *client = {.since = events.now()};
      go(client);
    });
  };
  go = [&](Client* client) {
    while (client->station < stations.size() && client->visits == round.visits[client->station]) {
      ++client->station;
      client->visits = 0;
    }
    if (client->station < stations.size()) {
      waiting[client->station].push(client);
      serve(client->station);
      return;
    }
    times.push_back(events.now() - client->since);
    if (times.size() < rounds) {
      think(client);
    }
  };
  std::vector<Client> clients(round.clients);
  for (Client& client : clients) {
    think(&client);
  }
  events.run();
  return times;
}

}  // namespace roofcast::queueing_simulation
