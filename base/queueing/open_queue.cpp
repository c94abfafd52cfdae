// SPDX-License-Identifier: Apache-2.0
#include "base/queueing/open_queue.hpp"

#include <cmath>
#include <limits>

#include "base/integers.hpp"
#include "base/queueing/erlang.hpp"

namespace roofcast::base::queueing {

Queue mmc(Hertz arrivals, Seconds service, std::int64_t servers) {
  return allen_cunneen(arrivals, service, servers, 1.0, 1.0);
}

Queue mg1(Hertz arrivals, Seconds service, double service_scv) {
  return gg1(arrivals, service, 1.0, service_scv);
}

Queue mg1_with_setup(Hertz arrivals, Seconds service, double service_scv, Seconds setup,
                     double setup_scv) {
  const Queue queue = mg1(arrivals, service, service_scv);
  const double per_setup = arrivals * setup;
  const Seconds added = setup * (2.0 + per_setup * (1.0 + setup_scv)) / (2.0 * (1.0 + per_setup));
  return queue_of(queue.utilisation, setup.si() > 0.0 ? 1.0 : queue.wait_probability, arrivals,
                  queue.wait + added, service);
}

// variability  ca² + cs²
// exponent     −ln g / (1 − ρ)
Queue gg1(Hertz arrivals, Seconds service, double arrival_scv, double service_scv) {
  const double rho = arrivals * service;
  const double variability = arrival_scv + service_scv;
  if (variability == 0.0 || rho == 0.0) {
    return queue_of(rho, rho > 0.0 && arrival_scv > 0.0 ? rho : 0.0, arrivals, {}, service);
  }
  const double regular = 1.0 - arrival_scv;
  const double exponent = regular > 0.0 ? 2.0 * regular * regular / (3.0 * rho * variability)
                                        : (arrival_scv - 1.0) / (arrival_scv + 4.0 * service_scv);
  const double g = std::exp(-(1.0 - rho) * exponent);
  return queue_of(rho, rho, arrivals, service * (rho * variability * g / (2.0 * (1.0 - rho))),
                  service);
}

Seconds kingman_bound(Hertz arrivals, Seconds service, double arrival_scv, double service_scv) {
  const double rho = arrivals * service;
  return rho >= 1.0 ? Seconds::infinity()
                    : service * ((arrival_scv / rho + rho * service_scv) / (2.0 * (1.0 - rho)));
}

Queue allen_cunneen(Hertz arrivals, Seconds service, std::int64_t servers, double arrival_scv,
                    double service_scv) {
  const double load = arrivals * service;
  const double rho = load / as_double(servers);
  const double wait_probability = erlang_c(servers, load);
  const Seconds wait = service * (wait_probability / (as_double(servers) * (1.0 - rho)));
  return queue_of(rho, wait_probability, arrivals, wait * ((arrival_scv + service_scv) / 2.0),
                  service);
}

Queue sakasegawa(Hertz arrivals, Seconds service, std::int64_t servers, double arrival_scv,
                 double service_scv) {
  const double c = as_double(servers);
  const double rho = arrivals * service / c;
  const double busy = std::pow(rho, std::sqrt(2.0 * (c + 1.0)) - 1.0);
  return queue_of(rho, erlang_c(servers, arrivals * service), arrivals,
                  service * (busy / (c * (1.0 - rho)) * (arrival_scv + service_scv) / 2.0),
                  service);
}

double mg1_wait_cv(Hertz arrivals, Seconds service, double service_scv, double third) {
  const Queue queue = mg1(arrivals, service, service_scv);
  if (!queue.stable() || queue.wait.si() == 0.0) {
    return queue.stable() ? 0.0 : std::numeric_limits<double>::infinity();
  }
  const double mean = queue.wait / service;
  const double square =
      2.0 * mean * mean + queue.utilisation * third / (3.0 * (1.0 - queue.utilisation));
  return std::sqrt(square / (mean * mean) - 1.0);
}

Seconds processor_sharing_time(double utilisation, Seconds service) {
  return utilisation >= 1.0 ? Seconds::infinity() : service / (1.0 - utilisation);
}

std::int64_t servers_for(Hertz arrivals, Seconds service, double arrival_scv, double service_scv,
                         double share, Seconds limit) {
  const auto enough = [&](std::int64_t servers) {
    const Queue queue = allen_cunneen(arrivals, service, servers, arrival_scv, service_scv);
    return queue.stable() && wait_percentile(queue, share) <= limit;
  };
  // Utilisation of at least 1, or no server.
  auto too_few = static_cast<std::int64_t>(arrivals * service);
  std::int64_t step = 1;
  while (!enough(too_few + step)) {
    too_few += step;
    step *= 2;
  }
  std::int64_t servers = too_few + step;
  while (servers - too_few > 1) {
    const std::int64_t middle = too_few + (servers - too_few) / 2;
    (enough(middle) ? servers : too_few) = middle;
  }
  return servers;
}

}  // namespace roofcast::base::queueing
