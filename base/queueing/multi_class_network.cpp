// SPDX-License-Identifier: Apache-2.0
#include "base/queueing/multi_class_network.hpp"

#include <algorithm>
#include <cmath>

#include "base/integers.hpp"

namespace roofcast::base::queueing {
namespace {

// The state of a class whose arrivals find `found` clients at each station.
ClassState state_of(const ClientClass& c, std::int64_t clients, std::span<const double> found) {
  ClassState state;
  std::vector<Seconds> times;
  for (std::size_t k = 0; k < c.demands.size(); ++k) {
    times.push_back(c.demands[k] * (1.0 + found[k]));
    state.time += times.back();
  }
  if (clients > 0) {
    state.throughput = as_double(clients) / (c.think + state.time);
  }
  for (const Seconds time : times) {
    state.present.push_back(state.throughput * time);
  }
  return state;
}

}  // namespace

std::vector<ClassState> exact_classes(std::span<const ClientClass> classes) {
  const std::size_t stations = classes.empty() ? 0 : classes.front().demands.size();
  std::vector<std::size_t> stride;  // by class: step in the table of populations to one client more
  std::size_t populations = 1;
  for (const ClientClass& c : classes) {
    stride.push_back(populations);
    populations *= static_cast<std::size_t>(c.clients) + 1;
  }
  // Clients of all classes, by population and station.
  std::vector<double> present(populations * stations);
  std::vector<ClassState> states(classes.size());
  const std::vector<double> nobody(stations);
  for (std::size_t population = 0; population < populations; ++population) {
    for (std::size_t c = 0; c < classes.size(); ++c) {
      const auto most = static_cast<std::size_t>(classes[c].clients);
      const std::size_t clients = population / stride[c] % (most + 1);
      const std::span<const double> found =
          clients == 0 ? std::span<const double>(nobody)
                       : std::span<const double>(present).subspan(
                             (population - stride[c]) * stations, stations);
      states[c] = state_of(classes[c], static_cast<std::int64_t>(clients), found);
      for (std::size_t k = 0; k < stations; ++k) {
        present[population * stations + k] += states[c].present[k];
      }
    }
  }
  return states;
}

std::vector<ClassState> approximate_classes(std::span<const ClientClass> classes) {
  constexpr int kMostIterations = 100000;
  constexpr double kTolerance = 1e-12;
  const std::size_t stations = classes.empty() ? 0 : classes.front().demands.size();
  std::vector<ClassState> states(classes.size());
  for (std::size_t c = 0; c < classes.size(); ++c) {
    states[c].present.assign(stations,
                             as_double(classes[c].clients) / static_cast<double>(stations));
  }
  double change = 1.0;
  for (int i = 0; i < kMostIterations && change > kTolerance; ++i) {
    std::vector<double> present(stations);
    for (const ClassState& state : states) {
      for (std::size_t k = 0; k < stations; ++k) {
        present[k] += state.present[k];
      }
    }
    change = 0.0;
    for (std::size_t c = 0; c < classes.size(); ++c) {
      std::vector<double> found = present;
      const std::int64_t clients = classes[c].clients;
      for (std::size_t k = 0; k < stations && clients > 0; ++k) {
        found[k] -= states[c].present[k] / as_double(clients);
      }
      ClassState next = state_of(classes[c], clients, found);
      for (std::size_t k = 0; k < stations; ++k) {
        change = std::max(change, std::abs(next.present[k] - states[c].present[k]) /
                                      std::max(1.0, as_double(clients)));
      }
      states[c] = std::move(next);
    }
  }
  return states;
}

}  // namespace roofcast::base::queueing
