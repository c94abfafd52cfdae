// SPDX-License-Identifier: Apache-2.0
//
// One station with Poisson (M) or general (G) arrivals and services, first come, first served, in Kendall's
// notation.
//
//   λ         1/s  arrival rate                 S    s  time of a service
//   c         –    servers                      W    s  wait
//   ρ         –    λ E[S] / c, utilisation
//   ca², cs²  –    squared coefficients of variation of the gaps between arrivals and of services
//
//   M/G/1   exact mean (Pollaczek, Khinchine)
//             E[W] = ρ E[S] (1 + cs²) / (2 (1-ρ))
//   G/G/c   approximation, exact for M/M/c (Allen, Cunneen)
//             E[W] = E[W of M/M/c] (ca² + cs²) / 2
//             E[W of M/M/c] = C(c, λE[S]) E[S] / (c (1-ρ)), with Erlang's C (base/queueing/erlang.hpp)
//
// Errors of G/G/4 against simulation at ρ = 0.8 with ca², cs² of 0.5 to 2: within 20 %, and more at light load.
//
// Sources: Gross, Shortle, Thompson, Harris: Fundamentals of Queueing Theory (4th ed., 2008), chapters 2 and
// 5; Bolch, Greiner, de Meer, Trivedi: Queueing Networks and Markov Chains (2nd ed., 2006), chapter 6.
#pragma once

#include <cstdint>

#include "base/queueing/queue.hpp"

namespace roofcast::base::queueing {

Queue mg1(Hertz arrivals, Seconds service, double service_scv);  // M/M/1: scv 1; M/D/1: scv 0
Queue allen_cunneen(Hertz arrivals, Seconds service, std::int64_t servers, double arrival_scv,
                    double service_scv);

}  // namespace roofcast::base::queueing
