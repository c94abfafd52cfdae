// SPDX-License-Identifier: Apache-2.0
//
// One station with Poisson (M) or general (G) arrivals and services, first come, first served, in Kendall's
// notation.
//
//   λ         1/s  arrival rate                 S    s  time of a service
//   c         –    servers                      W    s  wait
//   ρ         –    λ E[S] / c, utilisation      D    s  setup
//   ca², cs²  –    squared coefficients of variation of the gaps between arrivals and of services
//   C(c, a)   –    Erlang's C (base/queueing/erlang.hpp)
//
//   M/M/c   exact, percentiles of the wait too
//             E[W] = C(c, λE[S]) E[S] / (c (1-ρ))
//   M/G/1   exact mean (Pollaczek, Khinchine)
//             E[W] = ρ E[S] (1 + cs²) / (2 (1-ρ))
//   M/G/1   with a setup D before the first service after an idle time: exact mean (Welch)
//             E[W] = E[W of M/G/1] + (2 E[D] + λ E[D²]) / (2 (1 + λ E[D]))
//   G/G/1   approximation, exact for Poisson arrivals (Kraemer, Langenbach-Belz 1976)
//             E[W] = ρ E[S] (ca² + cs²) g / (2 (1-ρ))
//             g = exp(-2 (1-ρ) (1-ca²)² / (3 ρ (ca² + cs²)))   when ca² < 1
//             g = exp(-(1-ρ) (ca²-1) / (ca² + 4 cs²))          otherwise
//   G/G/1   upper bound (Kingman 1962)
//             E[W] <= E[S] (ca²/ρ + ρ cs²) / (2 (1-ρ))
//   G/G/c   approximation, exact for M/M/c (Allen, Cunneen)
//             E[W] = E[W of M/M/c] (ca² + cs²) / 2
//   G/G/c   approximation without Erlang's C (Sakasegawa 1977)
//             E[W] = E[S] ρ^(√(2(c+1)) - 1) (ca² + cs²) / (2 c (1-ρ))
//
// Errors against simulation at ρ = 0.8 with ca², cs² of 0.5 to 2: G/G/1 within 10 %, G/G/4 within 20 %, and
// more at light load. Sakasegawa is within 8 % of M/M/c where four in ten arrivals wait. Its waits are far
// too long where few arrivals wait, as with many servers at ρ < 0.9.
//
// Sources: Gross, Shortle, Thompson, Harris: Fundamentals of Queueing Theory (4th ed., 2008), chapters 2 and
// 5; Bolch, Greiner, de Meer, Trivedi: Queueing Networks and Markov Chains (2nd ed., 2006), chapter 6; Welch:
// On a Generalized M/G/1 Queuing Process (Operations Research 12, 1964).
#pragma once

#include <cstdint>

#include "base/queueing/queue.hpp"

namespace roofcast::base::queueing {

Queue mmc(Hertz arrivals, Seconds service, std::int64_t servers);
Queue mg1(Hertz arrivals, Seconds service, double service_scv);  // M/M/1: scv 1; M/D/1: scv 0
// The setup counts as part of the wait: an arrival that finds an idle server waits for it.
Queue mg1_with_setup(Hertz arrivals, Seconds service, double service_scv, Seconds setup,
                     double setup_scv);
Queue gg1(Hertz arrivals, Seconds service, double arrival_scv, double service_scv);
Seconds kingman_bound(Hertz arrivals, Seconds service, double arrival_scv, double service_scv);
Queue allen_cunneen(Hertz arrivals, Seconds service, std::int64_t servers, double arrival_scv,
                    double service_scv);
Queue sakasegawa(Hertz arrivals, Seconds service, std::int64_t servers, double arrival_scv,
                 double service_scv);

// Coefficient of variation of the wait, from E[W²] = 2 E[W]² + λ E[S³] / (3 (1-ρ)). `third` is E[S³] / E[S]³: 1 for
// constant and 6 for exponential services. Returns 0 without a wait, infinity without a steady state.
double mg1_wait_cv(Hertz arrivals, Seconds service, double service_scv, double third);

// M/G/1 with processor sharing: all present jobs are served at once, each at an equal share. A job that alone takes
// `service` takes service / (1-ρ). Exact for any distribution of services (Kleinrock: Queueing Systems II, 1976, 4.4).
// Infinite when there is no steady state.
Seconds processor_sharing_time(double utilisation, Seconds service);

// The fewest servers with which a share of arrivals (0.99: 99 %) waits at most `limit`. Uses the mean of Allen and
// Cunneen and an exponential tail; exact for scv 1.
std::int64_t servers_for(Hertz arrivals, Seconds service, double arrival_scv, double service_scv,
                         double share, Seconds limit);

}  // namespace roofcast::base::queueing
