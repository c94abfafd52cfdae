// SPDX-License-Identifier: Apache-2.0
//
// The decode pool of two pools: the time between tokens by the number of sequences, and the distribution of that
// number under random arrivals.
//
// The router evens out the replicas, so that each has D/M of the D sequences of the pool. The time t of an iteration is
// interpolated between numbers of sequences. In an open loop D is a birth-death process (base/queueing/birth_death.hpp):
//
//   births   λ                            deaths   min(D, n) / (I·t(min(D, n)/M))
//
// Beyond n sequences wait for a place. As under processor sharing, the probabilities depend on the mean of the answers
// alone. If the arrivals of a stay have dispersion Δ, they are spread to p^(1/z), z = 1 + (Δ − 1)/(1 + scv). The waits
// for a place are a geometric tail, with ratio (λ / largest death rate)^(2/(Δ + scv)).
//
//   symbol   meaning                                                                            unit
//   λ        requests per second                                                                1/s
//   D        sequences of the pool: those that decode, and those that wait for a place          –
//   M        replicas                                                                           –
//   n        places of all ranks: max_sequences, and what the KV caches hold                    –
//   I        decode iterations of a request                                                     –
//   scv      squared coefficient of variation of the answers                                    –
//
// Places in the KV cache of a rank. A sequence at a random instant holds its mean context, and those that run hold as
// much together as the cache has, less half of the next one that waits; of equal sequences, as many as leave no room for
// the next one. If the stack reserves a share of the answer ahead, this share counts as held.
#pragma once

#include <vector>

#include "base/units/square_seconds.hpp"
#include "sim/iteration/iteration.hpp"

namespace roofcast::sim {

class DecodePool {
 public:
  // `scenario` is that of the pool, and `cache` the KV cache of a rank. The targets of `scenario`, and `workspace`,
  // must outlive this.
  DecodePool(const ScenarioView& scenario, base::Bytes cache, Workspace& workspace);

  double iterations() const { return iterations_; }  // I; 0: the prompt's pool makes the only token
  double places() const { return places_; }          // n
  double ranks() const { return ranks_; }            // attention-DP ranks of all replicas
  base::Seconds interval(double present);            // t, with so many sequences in the pool
  double rate(double present);                       // 1/s, requests that they complete

  struct Load {
    double running = 0;                     // mean number of sequences with a place
    base::Seconds interval;                 // mean over requests
    base::SquareSeconds interval_variance;  // over the states that sequences see
    double busy = 0;                        // probability that a request finds no idle replica
    base::Seconds wait;                     // for a place, mean
    double waits = 0;                       // probability of that wait
  };
  // `dispersion` is Δ. `rate` is below rate(places()).
  Load load(double rate, double dispersion);
  // Probability that no replica is idle, if others are present in a number with this mean (Poisson).
  double busy(double others) const;
  // Share of the variance of the interval that is left in a mean over the decodes of a request.
  double averaged() const { return averaged_; }

  workloads::Batch iteration(double present) const;

 private:
  base::Seconds time(std::size_t node);

  const ScenarioView& s_;
  Workspace& workspace_;
  double iterations_;
  double stages_;
  double groups_;
  double replicas_;
  double ranks_;
  double output_scv_;
  double places_ = 1.0;
  double averaged_ = 1.0;
  std::vector<double> nodes_;         // sequences of a replica
  std::vector<base::Seconds> times_;  // t at the nodes; 0: not computed yet
};

}  // namespace roofcast::sim
