// SPDX-License-Identifier: Apache-2.0
#include "sim/replay/breach.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/document/problems.hpp"
#include "base/threads.hpp"
#include "base/units/unit_text.hpp"
#include "sim/replay/simulation_summary.hpp"

namespace roofcast::sim {
namespace {

constexpr std::size_t kMostRequests = 5'000'000;  // of a replication
constexpr base::Seconds kLeastLead = 60.0 * base::second;

struct Count {
  std::size_t requests = 0;
  std::size_t good = 0;
  double attainment() const { return static_cast<double>(good) / static_cast<double>(requests); }
};

// `windows` windows from `start` on, one after another.
std::vector<Count> counts_of(const Simulation& simulation, const workloads::RequestClasses& classes,
                             base::Seconds start, base::Seconds length, std::size_t windows) {
  std::vector<Count> counts(windows);
  for (const ServedRequest& r : simulation.requests) {
    const double place = std::floor((r.arrival - start) / length);
    if (place >= 0.0 && place < static_cast<double>(windows)) {
      Count& count = counts[static_cast<std::size_t>(place)];
      ++count.requests;
      count.good += meets(r, classes) ? 1 : 0;
    }
  }
  return counts;
}

std::vector<bool> breaches_of(const std::vector<Count>& counts, double share) {
  std::vector<bool> breaches;
  for (const Count& count : counts) {
    breaches.push_back(count.requests > 0 && count.attainment() < share);
  }
  return breaches;
}

Breach breach_of(const std::vector<Count>& counts, const std::vector<bool>& breaches,
                 base::Seconds length) {
  Breach breach;
  breach.windows = counts.size();
  breach.least_attainment = 1.0;
  breach.breached = static_cast<std::size_t>(std::count(breaches.begin(), breaches.end(), true));
  Count all;
  for (const Count& count : counts) {
    all.requests += count.requests;
    all.good += count.good;
    if (count.requests > 0) {
      breach.least_attainment = std::min(breach.least_attainment, count.attainment());
    }
  }
  if (all.requests == 0) {
    throw base::InputError(fmt::format(
        "error: no request arrives in any of {} windows of {}: only longer ones can be judged\n",
        counts.size(), base::format_quantity(length)));
  }
  breach.attainment = all.attainment();
  return breach;
}

base::Seconds last_arrival(const Simulation& simulation) {
  base::Seconds last;
  for (const ServedRequest& r : simulation.requests) {
    last = base::max(last, r.arrival);
  }
  return last;
}

// A run of drawn requests that arrive up to `end` and, in a closed loop, somewhat longer.
Simulation run_until(base::Seconds end, const ScenarioView& scenario,
                     workloads::RequestStream stream) {
  const auto draw = [&](std::size_t count) {
    if (count > kMostRequests) {
      throw base::InputError(
          fmt::format("error: more than {} requests in {}: a shorter window has fewer\n",
                      kMostRequests, base::format_quantity(end)));
    }
    (stream.agents ? stream.agents->tasks : stream.requests) = static_cast<std::int64_t>(count);
    return workloads::draw_requests(stream);
  };
  if (!stream.arrivals) {
    for (auto count = static_cast<std::size_t>(2 * stream.concurrency);; count *= 2) {
      Simulation simulation = simulate(scenario, draw(count), stream.concurrency);
      if (last_arrival(simulation) >= end) {
        return simulation;
      }
    }
  }
  auto count = static_cast<std::size_t>(1.1 * (mean_rate(*stream.arrivals) * end)) + 10;
  workloads::Requests drawn = draw(count);
  while (drawn.requests.back().arrival < end) {
    drawn = draw(count *= 2);
  }
  std::erase_if(drawn.requests, [&](const auto& request) { return request.arrival > end; });
  const auto left = static_cast<std::int32_t>(drawn.requests.size());
  std::erase_if(drawn.follow_ups, [&](const auto& each) { return each.after >= left; });
  return simulate(scenario, drawn, 0);
}

}  // namespace

Breach breach_of_draws(const ScenarioView& scenario, const workloads::RequestStream& stream,
                       const Window& window, std::size_t replications, unsigned threads,
                       std::atomic<std::size_t>* done) {
  const base::Seconds lead = base::max(window.length, kLeastLead);
  std::vector<Count> counts(replications);
  std::atomic<std::size_t> next = 0;
  base::on_threads(base::thread_count(threads), [&](unsigned) {
    for (std::size_t i = next++; i < replications; i = next++) {
      workloads::RequestStream drawn = stream;
      drawn.seed += static_cast<std::int64_t>(i);
      const Simulation run = run_until(2.0 * lead + window.length, scenario, std::move(drawn));
      counts[i] = counts_of(run, stream.classes, lead, window.length, 1).front();
      if (done != nullptr) {
        ++*done;
      }
    }
  });
  Breach breach = breach_of(counts, breaches_of(counts, window.share), window.length);
  breach.interval =
      base::wilson_interval(breach.probability(), static_cast<double>(breach.windows));
  return breach;
}

Breach breach_of_run(const Simulation& simulation, const workloads::RequestClasses& classes,
                     const Window& window) {
  const base::Seconds last = last_arrival(simulation);
  const double whole = std::floor(last / window.length);
  if (whole < 2.0) {
    throw base::InputError(
        fmt::format("error: requests arrive for {}: no whole window of {} after the first, which "
                    "fills the server\n",
                    base::format_quantity(last), base::format_quantity(window.length)));
  }
  const std::vector<Count> counts = counts_of(simulation, classes, window.length, window.length,
                                              static_cast<std::size_t>(whole) - 1);
  const std::vector<bool> breaches = breaches_of(counts, window.share);
  Breach breach = breach_of(counts, breaches, window.length);
  breach.interval = base::wilson_interval(breach.probability(), base::effective_trials(breaches));
  return breach;
}

}  // namespace roofcast::sim
