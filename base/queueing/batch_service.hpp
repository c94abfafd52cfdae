// SPDX-License-Identifier: Apache-2.0
//
// Poisson arrivals at one server that serves many customers at once, in a time that does not depend on their
// number. An arrival during a service waits for a later one.
//
//   λ     1/s  arrival rate             S    s  time of a service
//   a, b  –    least and most customers of a service
//   ρ     –    λ E[S] / b, utilisation
//
// M/M^[a,b]/1: a service starts with at least a customers and takes at most b. Exact, with r in (0, 1) the
// root of r + r² + … + r^b = λ E[S]. The probability of n waiting is A r^n while a service runs, and A (1 -
// r^{n+1}) / (λ E[S] (1 - r)) while the server is idle, n < a. A makes the sum 1 (Medhi: Stochastic Models in
// Queueing Theory, 2nd ed., 2003, 4.4).
//
// M/D^[1,b]/1: services are constant, and a service starts with the customers that are there. Exact: the
// numbers waiting at ends of services are Bailey's (On Queueing Processes with Bulk Service, J. R. Stat. Soc.
// B 16, 1954), with the b roots of z^b = exp(λS (z - 1)) in the unit circle. The mean over time is that over
// the cycles.
#pragma once

#include <cstdint>

#include "base/queueing/queue.hpp"

namespace roofcast::base::queueing {

Queue exponential_batches(Hertz arrivals, Seconds service, std::int64_t least, std::int64_t most);
Queue constant_batches(Hertz arrivals, Seconds service, std::int64_t most);

}  // namespace roofcast::base::queueing
