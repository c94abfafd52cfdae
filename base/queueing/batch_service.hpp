// SPDX-License-Identifier: Apache-2.0
//
// Poisson arrivals at one server that serves many at once, in a time that does not depend on how many.
// Whoever arrives during a service waits for a later one. ρ = λ E[S] / b.
//
// M/M^[a,b]/1: starts with at least a, takes at most b. Exact: with r in (0, 1) the root of
// r + r² + … + r^b = λ E[S], the probabilities of n waiting are A r^n beside a service and
// A (1 - r^{n+1}) / (λ E[S] (1 - r)) of an idle server, n < a (Medhi: Stochastic Models in Queueing
// Theory, 2nd ed., 2003, 4.4).
//
// M/D^[1,b]/1: constant services, starts with whoever is there. Exact: numbers waiting at ends of
// services are Bailey's (On Queueing Processes with Bulk Service, J. R. Stat. Soc. B 16, 1954), with the
// b roots of z^b = exp(λS (z - 1)) in the unit circle; the mean over time is that over the cycles.
#pragma once

#include <cstdint>

#include "base/queueing/queue.hpp"

namespace roofcast::base::queueing {

Queue exponential_batches(Hertz arrivals, Seconds service, std::int64_t least, std::int64_t most);
Queue constant_batches(Hertz arrivals, Seconds service, std::int64_t most);

}  // namespace roofcast::base::queueing
