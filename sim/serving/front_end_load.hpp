// SPDX-License-Identifier: Apache-2.0
//
// Waits for the front end (sim/replay/front_end.hpp) in the steady state.
//
// The front end does one thing after the other. It takes in requests, which arrive at a rate λ. After each iteration it
// sends the messages of the iteration's tokens as one burst.
//
//   wait of an intake    λ·E[S²] / (2(1 − ρᵢ − ρₘ))  behind other intakes, as in M/G/1
//                        + ρₘ·m / (2(1 − ρᵢ))        behind messages: the work of a burst is spread evenly
//                                                   until the next
//   delay of a message   the first of these terms, and the burst: m / (1 − ρᵢ)
//
//   symbol   meaning                                                                            unit
//   λ        intakes per second                                                                 1/s
//   S        time of an intake                                                                  s
//   m        messages of one iteration                                                          s
//   ρᵢ       λ·E[S], share of the time that intakes take                                        –
//   ρₘ       share of the time that messages take                                               –
#pragma once

#include <algorithm>

#include "base/units/square_seconds.hpp"

namespace roofcast::sim {

// A front end that is busy for this share of the time is the bound.
inline constexpr double kFrontEndFull = 0.98;

struct FrontEndLoad {
  base::Hertz rate = {};                   // λ
  base::Seconds intake = {};               // E[S]
  base::SquareSeconds intake_square = {};  // E[S²]
  double messages = 0;                     // share of the time, ρₘ
  base::Seconds burst = {};                // m

  double load() const { return std::min(rate * intake + messages, 1.0); }
  // Wait of an intake at a random time.
  base::Seconds wait() const { return of_intakes() + 0.5 * messages * burst / free(rate * intake); }
  // Wait of an intake whose client sends it after the messages are sent.
  base::Seconds wait_after_messages() const { return of_intakes(); }
  // Until the last message of an iteration is sent. The messages take `sent`.
  base::Seconds delay(base::Seconds sent) const {
    return of_intakes() + sent / free(rate * intake);
  }

 private:
  static constexpr double kLeastFree = 0.02;
  static double free(double busy) { return std::max(kLeastFree, 1.0 - busy); }
  base::Seconds of_intakes() const { return 0.5 * rate * intake_square / free(load()); }
};

}  // namespace roofcast::sim
