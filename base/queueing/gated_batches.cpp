// SPDX-License-Identifier: Apache-2.0
#include "base/queueing/gated_batches.hpp"

#include <algorithm>
#include <cmath>

#include "base/integers.hpp"
#include "base/queueing/erlang.hpp"

namespace roofcast::base::queueing {
namespace {

constexpr int kRounds = 200;  // of the fixed point, which is damped by half
constexpr double kTolerance = 1e-7;
constexpr double kMostBusy = 0.99999;

// P(no arrival in H) for H = fixed + a gamma variable.
double none(Hertz rate, Seconds fixed, Seconds mean, SquareSeconds variance) {
  const Seconds beyond = mean - fixed;
  if (beyond <= 1e-12 * mean || variance <= 1e-14 * mean * mean) {
    return std::exp(-rate * mean);
  }
  const Seconds scale = variance / beyond;
  return std::exp(-rate * fixed) * std::pow(1.0 + rate * scale, -beyond / scale);
}

}  // namespace

// A fixed point of p₀ and u; the symbols are those of the header.
//
//   symbol          meaning                                                                  unit
//   own, rate       λ/c; Λ                                                                   1/s
//   d, s            D; E[S]                                                                  s
//   r               Λ E[S]                                                                   –
//   busy, all_busy  u; C                                                                     –
//   empty           p₀                                                                       –
//   together        E[n]                                                                     –
//   mean, square    E[H]; E[H²]                                                              s, s²
//   spread          Var S / c^½                                                              s²
//   regular         v                                                                        –
//   rest            w                                                                        –
//   biased          mean of the service that an arrival meets, E[H²]/E[H]; its mean square   s, s²
//                   is biased_square
GatedBatches gated_batches(Hertz arrivals, Seconds fixed, Seconds each, double each_scv,
                           std::int64_t servers) {
  const double c = as_double(servers);
  const Hertz own = arrivals / c;
  const Seconds d = fixed;
  const Seconds s = each;
  const Seconds alone = fixed + each;
  if (own * s >= 1.0 || own == Hertz{}) {
    return {queue_of(own * s, 0.0, arrivals, {}, alone), {}, 1.0};
  }
  const SquareSeconds spread = s * s * each_scv / std::sqrt(c);
  const double regular = std::pow(c, -0.7);
  double busy = std::min(kMostBusy, own * (d + s));
  double empty = std::exp(-own * (d + s));
  Seconds mean = d + s;
  SquareSeconds square = mean * mean;
  double together = 1.0;
  Hertz rate = own;
  double all_busy = busy;
  for (int i = 0; i < kRounds; ++i) {
    all_busy = erlang_c(servers, c * busy);
    rate = own * std::min(1.0, all_busy / busy);
    const double r = rate * s;
    mean = (d + s * empty) / (1.0 - r);
    together = rate * mean + empty;
    square = base::max(mean * mean, (d * d + 2.0 * d * s * together + together * spread +
                                     s * s * (regular * rate * mean + empty)) /
                                        (1.0 - r * r));
    const double now_empty = none(rate, d, mean, square - mean * mean);
    const double now_busy = std::min(kMostBusy, own * mean / (rate * mean + now_empty));
    const bool same =
        std::abs(now_busy - busy) < kTolerance && std::abs(now_empty - empty) < kTolerance;
    empty = 0.5 * (empty + now_empty);
    busy = 0.5 * (busy + now_busy);
    if (same) {
      break;
    }
  }
  const double many = 1.0 - 1.0 / std::max(1.0, together);
  const double rest = 0.5 + 0.5 * (1.0 - std::pow(c, -0.35)) * many * many;
  const double r = rate * s;
  const Seconds biased = square / mean;
  // H of a gamma distribution: E[H³]/E[H] = E[H]² (1 + v)(1 + 2v), with v = Var H / E[H]².
  const double v = square / (mean * mean) - 1.0;
  const SquareSeconds biased_square = mean * mean * (1.0 + v) * (1.0 + 2.0 * v);
  const Seconds wait = all_busy * (rest + r) * biased;
  const double left = 1.0 - rest;
  const SquareSeconds wait_square =
      all_busy * (biased_square * ((rest + r) * (rest + r) + left * left / 3.0) +
                  rate * (spread + regular * s * s) * biased);
  GatedBatches result{queue_of(own * s, all_busy, arrivals, wait, alone),
                      base::max(wait * wait, wait_square), together};
  return result;
}

}  // namespace roofcast::base::queueing
