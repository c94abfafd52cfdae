// SPDX-License-Identifier: Apache-2.0
#include "base/queueing/open_queue.hpp"

#include "base/integers.hpp"
#include "base/queueing/erlang.hpp"

namespace roofcast::base::queueing {

Queue mg1(Hertz arrivals, Seconds service, double service_scv) {
  const double rho = arrivals * service;
  return queue_of(rho, rho, arrivals, service * (rho * (1.0 + service_scv) / (2.0 * (1.0 - rho))),
                  service);
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

}  // namespace roofcast::base::queueing
