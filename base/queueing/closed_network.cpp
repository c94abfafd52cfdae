// SPDX-License-Identifier: Apache-2.0
#include "base/queueing/closed_network.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/integers.hpp"

namespace roofcast::base::queueing {
namespace {

// ln of the unnormalised probability (weight) of 0..N clients at one station, or together at several stations.
using Weights = std::vector<double>;

constexpr double kImpossible = -std::numeric_limits<double>::infinity();

// The weight of exactly n clients at the stations of a and b together: the convolution of both at n.
double combined(const Weights& a, const Weights& b, std::size_t n) {
  double largest = kImpossible;
  for (std::size_t i = 0; i <= n; ++i) {
    largest = std::max(largest, a[i] + b[n - i]);
  }
  if (largest == kImpossible) {
    return kImpossible;
  }
  double sum = 0.0;
  for (std::size_t i = 0; i <= n; ++i) {
    sum += std::exp(a[i] + b[n - i] - largest);
  }
  return largest + std::log(sum);
}

Weights combined(const Weights& a, const Weights& b) {
  Weights both(a.size());
  for (std::size_t n = 0; n < a.size(); ++n) {
    both[n] = combined(a, b, n);
  }
  return both;
}

Weights nobody(std::size_t clients) {
  Weights weights(clients + 1, kImpossible);
  weights[0] = 0.0;
  return weights;
}

Weights of_thinking(double think, std::size_t clients) {
  Weights weights = {0.0};
  for (std::size_t n = 1; n <= clients; ++n) {
    weights.push_back(weights.back() + std::log(think / static_cast<double>(n)));
  }
  return weights;
}

Weights of_station(const Station& station, std::size_t clients) {
  Weights weights = {0.0};
  for (std::size_t n = 1; n <= clients; ++n) {
    const double speedup = station.speedups[std::min(n, station.speedups.size()) - 1];
    weights.push_back(weights.back() + std::log(station.demand.si() / speedup));
  }
  return weights;
}

// `all`: ln of the weight of all clients in the whole network, which normalises.
double mean_present(const Weights& here, const Weights& elsewhere, double all) {
  const std::size_t clients = here.size() - 1;
  double mean = 0.0;
  for (std::size_t n = 1; n <= clients; ++n) {
    mean += static_cast<double>(n) * std::exp(here[n] + elsewhere[clients - n] - all);
  }
  return mean;
}

}  // namespace

Station servers_of(Seconds demand, std::int64_t servers) {
  Station station{demand, {}};
  for (std::int64_t n = 1; n <= servers; ++n) {
    station.speedups.push_back(as_double(n));
  }
  return station;
}

// The product form, in logarithms.
//
//   symbol         meaning                                                                    unit
//   own[k]         weights of station k alone                                                 –
//   before[k]      of thinking and the stations before k; the last one is of the network      –
//   after          of the stations behind k                                                   –
//   throughput     exp(all[N − 1] − all[N])                                                   1/s
ClosedNetwork closed_network(std::span<const Station> stations, Seconds think,
                             std::int64_t clients) {
  ClosedNetwork network;
  network.stations.resize(stations.size());
  if (clients == 0) {
    return network;
  }
  const auto count = static_cast<std::size_t>(clients);
  std::vector<Weights> own;
  std::vector<Weights> before = {
      of_thinking(think.si(), count)};  // of thinking and the stations before k
  for (const Station& station : stations) {
    own.push_back(of_station(station, count));
    before.push_back(combined(before.back(), own.back()));
  }
  const Weights& all = before.back();
  network.throughput = Hertz::from_si(std::exp(all[count - 1] - all[count]));
  Weights after = nobody(count);
  for (std::size_t k = stations.size(); k-- > 0;) {
    StationState& state = network.stations[k];
    state.present = mean_present(own[k], combined(before[k], after), all[count]);
    state.utilisation = network.throughput * stations[k].demand / stations[k].speedups.back();
    state.time = state.present / network.throughput;
    network.time += state.time;
    if (k > 0) {
      after = combined(after, own[k]);
    }
  }
  return network;
}

}  // namespace roofcast::base::queueing
