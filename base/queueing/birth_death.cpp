// SPDX-License-Identifier: Apache-2.0
#include "base/queueing/birth_death.hpp"

#include <algorithm>
#include <cmath>

#include "base/integers.hpp"

namespace roofcast::base::queueing {
namespace {

// Mean numbers at c servers, when p[n] is the probability of n present.
struct Counts {
  double present = 0.0;
  double waiting = 0.0;
  double busy = 0.0;
};

Counts counts_of(std::span<const double> p, std::int64_t servers) {
  Counts counts;
  for (std::size_t n = 0; n < p.size(); ++n) {
    const auto present = static_cast<std::int64_t>(n);
    counts.present += p[n] * as_double(present);
    counts.waiting += p[n] * as_double(std::max<std::int64_t>(0, present - servers));
    counts.busy += p[n] * as_double(std::min(present, servers));
  }
  return counts;
}

Queue queue_of(const Counts& counts, std::int64_t servers, Hertz throughput, Seconds service,
               double wait_probability) {
  const bool any = throughput.si() > 0.0;
  const Seconds wait = any ? counts.waiting / throughput : Seconds();
  return {.utilisation = counts.busy / as_double(servers),
          .wait_probability = wait_probability,
          .wait = wait,
          .time = wait + service,
          .waiting = counts.waiting,
          .present = counts.present};
}

}  // namespace

std::vector<double> birth_death(std::span<const double> births, std::span<const double> deaths) {
  std::vector<double> p = {0.0};  // ln p(n)/p(0)
  for (std::size_t i = 0; i < births.size(); ++i) {
    p.push_back(p.back() + std::log(births[i]) - std::log(deaths[i]));
  }
  const double largest = *std::max_element(p.begin(), p.end());
  double sum = 0.0;
  for (double& x : p) {
    x = std::exp(x - largest);
    sum += x;
  }
  for (double& x : p) {
    x /= sum;
  }
  return p;
}

Queue state_dependent(Hertz arrivals, std::span<const Hertz> rates) {
  const double ratio = arrivals / rates.back();
  const Seconds alone = 1.0 / rates.front();
  if (ratio >= 1.0) {
    return queueing::queue_of(ratio, 1.0, arrivals, {}, alone);
  }
  const std::vector<double> births(rates.size(), arrivals.si());
  std::vector<double> deaths;
  for (const Hertz rate : rates) {
    deaths.push_back(rate.si());
  }
  const std::vector<double> p = birth_death(births, deaths);
  // States beyond the last one, m: p(m + k) = p(m) ratio^k. `tail` is their sum relative to p.
  const double last = p.back();
  const auto m = static_cast<double>(rates.size());
  const double tail = last * ratio / (1.0 - ratio);
  double present = tail * (m + 1.0 / (1.0 - ratio));
  for (std::size_t n = 0; n < p.size(); ++n) {
    present += p[n] * static_cast<double>(n);
  }
  present /= 1.0 + tail;
  const Seconds time = arrivals.si() > 0.0 ? present / arrivals : alone;
  return {.utilisation = ratio,
          .wait_probability = 1.0 - p.front() / (1.0 + tail),
          .wait = time - alone,
          .time = time,
          .waiting = arrivals * (time - alone),
          .present = present};
}

LimitedQueue limited(Hertz arrivals, Seconds service, std::int64_t servers, std::int64_t capacity) {
  std::vector<double> births;
  std::vector<double> deaths;
  for (std::int64_t n = 1; n <= capacity; ++n) {
    births.push_back(arrivals * service);
    deaths.push_back(as_double(std::min(n, servers)));
  }
  const std::vector<double> p = birth_death(births, deaths);
  const double blocked = p.back();
  const Hertz throughput = arrivals * (1.0 - blocked);
  double must_wait = 0.0;
  for (std::int64_t n = servers; n < capacity; ++n) {
    must_wait += p[static_cast<std::size_t>(n)];
  }
  const double accepted = 1.0 - blocked;
  return {blocked, throughput,
          queue_of(counts_of(p, servers), servers, throughput, service,
                   accepted > 0.0 ? must_wait / accepted : 1.0)};
}

MachineRepair machine_repair(std::int64_t clients, Seconds think, Seconds service,
                             std::int64_t servers) {
  if (think.si() == 0.0) {  // all clients are always present
    const double busy = as_double(std::min(clients, servers));
    const Counts counts{as_double(clients), as_double(clients) - busy, busy};
    const Hertz throughput = busy / service;
    return {throughput,
            queue_of(counts, servers, throughput, service, clients > servers ? 1.0 : 0.0)};
  }
  std::vector<double> births;
  std::vector<double> deaths;
  for (std::int64_t n = 1; n <= clients; ++n) {
    births.push_back(as_double(clients - n + 1) * (service / think));
    deaths.push_back(as_double(std::min(n, servers)));
  }
  const std::vector<double> p = birth_death(births, deaths);
  const Counts counts = counts_of(p, servers);
  const Hertz throughput = counts.busy / service;
  // Arrivals weigh states by the clients that think: with n present, N − n of them may arrive.
  double arrivals = 0.0;
  double must_wait = 0.0;
  for (std::int64_t n = 0; n < clients; ++n) {
    const double found = p[static_cast<std::size_t>(n)] * as_double(clients - n);
    arrivals += found;
    must_wait += n >= servers ? found : 0.0;
  }
  return {throughput, queue_of(counts, servers, throughput, service,
                               arrivals > 0.0 ? must_wait / arrivals : 0.0)};
}

}  // namespace roofcast::base::queueing
