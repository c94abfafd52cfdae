// SPDX-License-Identifier: Apache-2.0
//
// The steady state that every model of one station gives.
//
// Rates and times are means. scv is a squared coefficient of variation (variance / mean^2). A station with
// more work than it can serve has no steady state: its utilisation is at least 1, and its waits and numbers
// are infinite. Callers must not give rates or times below zero, or services of no time.
#pragma once

#include <cmath>
#include <limits>

#include "base/units/quantity.hpp"

namespace roofcast::base::queueing {

struct Queue {
  double utilisation = 0.0;       // offered work over capacity; at least 1: no steady state
  double wait_probability = 0.0;  // probability that an arrival does not start at once
  Seconds wait;                   // mean, from arrival to start of service
  Seconds time;                   // mean, from arrival to end of service
  double waiting = 0.0;           // mean number that waits
  double present = 0.0;           // mean number that waits or is in service

  bool stable() const { return utilisation < 1.0; }
};

// Little's law gives the numbers (Little: A Proof for the Queuing Formula L = λW, Operations Research 9,
// 1961).
inline Queue queue_of(double utilisation, double wait_probability, Hertz rate, Seconds wait,
                      Seconds service) {
  if (utilisation >= 1.0) {
    const double many = std::numeric_limits<double>::infinity();
    return {utilisation, 1.0, Seconds::infinity(), Seconds::infinity(), many, many};
  }
  return {utilisation,    wait_probability, wait,
          wait + service, rate * wait,      rate * (wait + service)};
}

// The wait that a share of arrivals (0.99: 99 %) does not exceed, if the waits of those that wait are exponential:
//
//   P(W > t) = p exp(-t p / E[W]),   p = wait_probability
//
// Exact for M/M/c. Otherwise it is an approximation with the right mean and the right share without a wait. The tail of
// every queue with light-tailed services is exponential, but its slope is not exactly this one.
inline Seconds wait_percentile(const Queue& queue, double share) {
  const double beyond = 1.0 - share;
  if (beyond >= queue.wait_probability) {
    return {};
  }
  if (!queue.stable() || beyond <= 0.0) {
    return Seconds::infinity();
  }
  return queue.wait / queue.wait_probability * std::log(queue.wait_probability / beyond);
}

}  // namespace roofcast::base::queueing
