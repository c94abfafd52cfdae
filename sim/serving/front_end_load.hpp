// SPDX-License-Identifier: Apache-2.0
//
// What a request waits for the front end (sim/replay/front_end.hpp) in the steady state.
//
// It does one thing after the other: intakes S that come at λ, and after each pass the messages of its tokens, a burst m.
// With ρᵢ = λ E[S] and ρₘ the share of its time that messages take,
//
//   wait of an intake      λ E[S²] / (2 (1 − ρᵢ − ρₘ)) for intakes, as M/G/1, and ρₘ m / (2 (1 − ρᵢ)) for messages: the
//                          work that a burst leaves falls evenly until the next
//   delay of a message     that for intakes, and the burst
#pragma once

#include <algorithm>

namespace roofcast::sim {

inline constexpr double kFrontEndFull = 0.98;  // of its time: no more requests pass

struct FrontEndLoad {
  double rate = 0;           // of intakes, 1/s
  double intake = 0;         // s, mean
  double intake_square = 0;  // s²
  double messages = 0;       // share of the time
  double burst = 0;          // s, messages of a pass

  double load() const { return std::min(rate * intake + messages, 1.0); }
  double wait() const { return of_intakes() + 0.5 * messages * burst / free(rate * intake); }
  // Of a request that is sent when messages are out.
  double wait_after_messages() const { return of_intakes(); }
  // Until the last of the messages of a pass is out, which take `sent` seconds.
  double delay(double sent) const { return of_intakes() + sent / free(rate * intake); }

 private:
  static constexpr double kLeastFree = 0.02;
  static double free(double busy) { return std::max(kLeastFree, 1.0 - busy); }
  double of_intakes() const { return 0.5 * rate * intake_square / free(load()); }
};

}  // namespace roofcast::sim
