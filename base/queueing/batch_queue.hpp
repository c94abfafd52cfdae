// SPDX-License-Identifier: Apache-2.0
//
// A queue that is served in batches of units, one batch after another, each as long as its content takes. Requests that
// arrive during a batch wait for the next ones, first come, first served. A request may need several units, and
// may be cut: its units may be in several batches.
//
//   units at the start of batch j     m(j+1) = m(j) − s + A(s),   s = min(m(j), k)
//
//   symbol   meaning                                                                            unit
//   m        units that wait when a batch begins                                                –
//   s        units of the batch                                                                 –
//   k        the most units of a batch                                                          –
//   T(s)     time of a batch with s units. T(0) is a batch of other work; 0: the server is
//            idle until a request arrives                                                       s
//   A(s)     units that arrive during it: a compound distribution. The number of requests has
//            the mean a(s) and the index of dispersion I(s): Poisson if it is 1, negative binomial
//            above, binomial below (Panjer's recursion, ASTIN Bulletin 12, 1981)                –
//
// The probabilities π(m) of this Markov chain are those of Grassmann, Taksar, Heyman (Operations Research 33, 1985),
// which subtract nothing. From them, for a request of x units that arrives in a batch with probability ∝ π(m)·a(s):
//
//   time  =  rest of T(s)  +  (j − 1) T(k)  +  T(content of the batch with its last unit)
//   j     =  ⌈(units before it + x) / k⌉
//
// Others that arrive in the same batch are before it as often as after it. Errors: none but the state space, which
// ends at `kMostUnits`, and requests that arrive while a request's first j − 1 batches run, which count with their mean.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "base/units/square_seconds.hpp"

namespace roofcast::base::queueing {

struct BatchQueue {
  std::vector<Seconds> times;    // T(0) to T(k)
  std::vector<double> arrivals;  // a(0) to a(k), requests
  std::vector<double> bursts;    // I(0) to I(k); empty: 1
  // Where not empty: with probability 1 − `first`, the arrivals in a batch have this mean instead.
  std::vector<double> later;
  double first = 1.0;
  std::vector<double> sizes;  // probability that a request has 0, 1, 2, … units
  // Elapsed time of a batch with s units when its requests arrive. Empty or negative: evenly distributed.
  std::vector<Seconds> elapsed;
  // Whether the other work runs only in batches without units.
  bool alone = false;
};

// A request of x units, which may be a fraction, and its weight.
struct SizedRequest {
  double units = 1.0;
  double weight = 1.0;
};

class BatchQueueStates {
 public:
  static constexpr std::size_t kMostUnits = 56;

  // `queue` must outlive it.
  explicit BatchQueueStates(const BatchQueue& queue);

  Seconds mean() const { return mean_; }            // E[T]; without the time of an idle server
  SquareSeconds square() const { return square_; }  // E[T²]
  double busy() const { return busy_; }             // share of the batches that have units
  // Time between the ends of batches that do the other work: T, or with `alone` the time from one T(0) to the next.
  Seconds gap() const { return gap_; }                      // mean
  SquareSeconds gap_square() const { return gap_square_; }  // mean square
  // By how much the first gaps after the last batch of a request are longer than the mean, added up: the first one, the
  // first two, … The last holds for all more.
  static constexpr std::size_t kGaps = 8;
  const std::array<Seconds, kGaps>& interference() const { return interference_; }

  // Mean and mean square of the time from arrival to the end of the batch with the last unit.
  struct Stay {
    Seconds mean;
    SquareSeconds square;
    Seconds waits;  // the part of the mean before its first batch
  };
  // With `rough`, half of a batch has passed when requests arrive.
  Stay stay(const std::vector<SizedRequest>& requests, bool rough = false) const;

 private:
  Seconds batch(double units) const;  // T of a fraction, linear between whole units
  std::vector<double> arriving(std::size_t s, bool of_arrival) const;
  std::vector<double> arriving(double mean, double dispersion, bool of_arrival) const;
  double arrivals(std::size_t s) const;  // mean
  void solve();
  void gaps(const std::vector<double>& chain);

  const BatchQueue& q_;
  std::size_t k_;
  std::size_t states_;
  std::vector<std::vector<double>> units_;  // probabilities of A(s)
  std::vector<double> p_;                   // π(m)
  double size_ = 0;                         // mean units of a request
  Seconds mean_;
  SquareSeconds square_;
  double busy_ = 0;
  Seconds gap_;
  SquareSeconds gap_square_;
  std::array<Seconds, kGaps> interference_{};
};

}  // namespace roofcast::base::queueing
