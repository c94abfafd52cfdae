// SPDX-License-Identifier: Apache-2.0
//
// The steady state that every model of one station gives.
//
// Rates and times are means. scv is a squared coefficient of variation (variance / mean^2). A station with
// more work than it can serve has no steady state: its utilisation is at least 1, and its waits and numbers
// are infinite. Callers must not give rates or times below zero, or services of no time.
#pragma once

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

}  // namespace roofcast::base::queueing
