// SPDX-License-Identifier: Apache-2.0
//
// A small discrete-event simulator, and means of what it sees with confidence intervals: what the closed
// forms of base/queueing are held against. It shares no formula with them.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
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

// One station. Who comes is served first come, first served, `least` to `most` at once by each server.
struct OpenStation {
  Sampler gap, service;
  std::size_t servers = 1;
  std::size_t least = 1;
  std::size_t most = 1;
  std::size_t capacity = static_cast<std::size_t>(-1);  // present
  Sampler setup = constant(0.0);                        // of the first service after idleness
};

struct Seen {
  std::vector<double> waits;    // of those accepted, in the order of service; setups are waits
  std::vector<double> refused;  // 1 or 0 of each arrival
};

inline Seen simulate(const OpenStation& station, std::size_t arrivals, std::uint64_t seed) {
  Events events;
  base::Random gaps(seed, "gaps");
  base::Random services(seed, "services");
  std::queue<double> waiting;  // since when
  std::size_t busy = 0;
  std::size_t in_service = 0;
  Seen seen;
  std::function<void(bool)> start = [&](bool was_idle) {
    while (busy < station.servers && waiting.size() >= station.least) {
      const double setup = was_idle ? station.setup(services) : 0.0;
      std::size_t batch = 0;
      for (; batch < station.most && !waiting.empty(); ++batch) {
        seen.waits.push_back(events.now() + setup - waiting.front());
        waiting.pop();
      }
      ++busy;
      in_service += batch;
      events.after(setup + station.service(services), [&, batch] {
        --busy;
        in_service -= batch;
        start(false);
      });
    }
  };
  std::function<void()> arrive = [&] {
    const bool full = waiting.size() + in_service >= station.capacity;
    seen.refused.push_back(full ? 1.0 : 0.0);
    if (!full) {
      waiting.push(events.now());
      start(busy == 0);
    }
    if (seen.refused.size() < arrivals) {
      events.after(station.gap(gaps), arrive);
    }
  };
  events.after(station.gap(gaps), arrive);
  events.run();
  return seen;
}

// Times of jobs that share one server equally.
inline std::vector<double> simulate_sharing(const Sampler& gap, const Sampler& service,
                                            std::size_t jobs, std::uint64_t seed) {
  base::Random gaps(seed, "gaps");
  base::Random services(seed, "services");
  struct Job {
    double since, left;
  };
  std::vector<Job> present;
  std::vector<double> times;
  double now = 0.0;
  double next = gap(gaps);
  while (times.size() < jobs) {
    std::size_t first = 0;
    for (std::size_t i = 1; i < present.size(); ++i) {
      first = present[i].left < present[first].left ? i : first;
    }
    const auto share = static_cast<double>(present.size());
    const bool ends = !present.empty() && now + present[first].left * share <= next;
    const double until = ends ? now + present[first].left * share : next;
    for (Job& job : present) {
      job.left -= (until - now) / share;
    }
    now = until;
    if (ends) {
      times.push_back(now - present[first].since);
      present.erase(present.begin() + static_cast<std::ptrdiff_t>(first));
    } else {
      present.push_back({now, service(services)});
      next = now + gap(gaps);
    }
  }
  return times;
}

// Classes of clients that think, then pass the stations in turn, waiting first come, first served; all
// times are exponential. Clients have the same service at a station whatever their class.
struct Round {
  std::size_t clients = 1;
  double think = 0.0;
  std::vector<std::size_t> visits;  // of each station, in a round
};
struct ClosedStation {
  double service = 1.0;
  std::size_t servers = 1;
};

// Times of rounds without thinking, by class.
inline std::vector<std::vector<double>> simulate_closed(const std::vector<ClosedStation>& stations,
                                                        const std::vector<Round>& classes,
                                                        std::size_t rounds, std::uint64_t seed) {
  struct Client {
    std::size_t of = 0;
    std::size_t station = 0;
    std::size_t visits = 0;
    double since = 0.0;
  };
  Events events;
  base::Random random(seed, "closed");
  std::vector<std::vector<double>> times(classes.size());
  std::vector<std::queue<Client*>> waiting(stations.size());
  std::vector<std::size_t> busy(stations.size());
  std::size_t done = 0;
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
    events.after(random.exponential(classes[client->of].think), [&, client] {
      client->since = events.now();
      client->station = 0;
      client->visits = 0;
      go(client);
    });
  };
  go = [&](Client* client) {
    const Round& round = classes[client->of];
    while (client->station < stations.size() && client->visits == round.visits[client->station]) {
      ++client->station;
      client->visits = 0;
    }
    if (client->station < stations.size()) {
      waiting[client->station].push(client);
      serve(client->station);
      return;
    }
    times[client->of].push_back(events.now() - client->since);
    if (++done < rounds) {
      think(client);
    }
  };
  std::vector<Client> clients;
  for (std::size_t c = 0; c < classes.size(); ++c) {
    clients.insert(clients.end(), classes[c].clients, Client{.of = c});
  }
  for (Client& client : clients) {
    think(&client);
  }
  events.run();
  return times;
}

}  // namespace roofcast::queueing_simulation
