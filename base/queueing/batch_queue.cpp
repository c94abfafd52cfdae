// SPDX-License-Identifier: Apache-2.0
#include "base/queueing/batch_queue.hpp"

#include <algorithm>
#include <cmath>

namespace roofcast::base::queueing {
namespace {

constexpr double kNegligible = 1e-7;   // probability
constexpr double kRare = 1e-6;         // share of the requests
constexpr double kNearPoisson = 0.01;  // of a dispersion to 1
constexpr int kSweeps = 60;

}  // namespace

BatchQueueStates::BatchQueueStates(const BatchQueue& queue)
    : q_(queue), k_(queue.times.size() - 1) {
  for (std::size_t i = 0; i < q_.sizes.size(); ++i) {
    size_ += static_cast<double>(i) * q_.sizes[i];
  }
  // Enough states for the longest batch and what arrives in it, several times.
  const double most = *std::max_element(q_.arrivals.begin(), q_.arrivals.end()) * size_;
  const double wanted = 12.0 + static_cast<double>(q_.sizes.size()) + 6.0 * most;
  const double full = arrivals(k_) * size_ / static_cast<double>(k_);
  states_ =
      full > 0.5
          ? kMostUnits
          : static_cast<std::size_t>(std::clamp(wanted, 12.0, static_cast<double>(kMostUnits)));
  solve();
}

Seconds BatchQueueStates::batch(double units) const {
  const double at = std::clamp(units, 0.0, static_cast<double>(k_));
  const auto below = std::min(static_cast<std::size_t>(at), k_ - 1);
  // Between none and one unit, the first token of a unit costs as much as all: its fixed part.
  if (below == 0 && at > 0.0) {
    return q_.times[1] -
           (1.0 - at) * max(Seconds{}, q_.times[std::min<std::size_t>(2, k_)] - q_.times[1]);
  }
  const double beyond = at - static_cast<double>(below);
  return q_.times[below] + beyond * (q_.times[below + 1] - q_.times[below]);
}

// Panjer's recursion: P(n units) = Σ (a + b·i/n) f(i) P(n − i) / (1 − a·f(0)).
// With `of_arrival`: the others that a request of the batch finds in it. A negative binomial number has one more success
// then, a binomial number one trial less.
//
//   symbol     meaning                                                                     unit
//   f(i)       probability that a request has i units; empty: f(0)                         –
//   a, b       of the distribution of the number of requests                               –
//   none       P(0 units)                                                                  –
//   successes  of the negative binomial distribution, which end the number of failures     –
//   trials     of the binomial distribution, and `chance` that one succeeds                –
std::vector<double> BatchQueueStates::arriving(double mean, double dispersion,
                                               bool of_arrival) const {
  const double empty = q_.sizes[0];
  double a = 0.0;
  double b = mean;
  double none = std::exp(-mean * (1.0 - empty));
  if (dispersion > 1.0 + kNearPoisson) {
    const double excess = dispersion - 1.0;
    const double successes = mean / excess + (of_arrival ? 1.0 : 0.0);
    a = excess / dispersion;
    b = (successes - 1.0) * a;
    none = std::pow(1.0 + excess * (1.0 - empty), -successes);
  } else if (dispersion < 1.0 - kNearPoisson) {
    const double chance = 1.0 - dispersion;
    const double trials = std::max(0.0, mean / chance - (of_arrival ? 1.0 : 0.0));
    a = -chance / (1.0 - chance + 1e-12);
    b = -(trials + 1.0) * a;
    none = std::pow(1.0 - chance * (1.0 - empty), trials);
  }
  std::vector<double> p(states_, 0.0);
  p[0] = none;
  double sum = none;
  for (std::size_t n = 1; n < states_; ++n) {
    double next = 0.0;
    const std::size_t last = std::min(n, q_.sizes.size() - 1);
    for (std::size_t i = 1; i <= last; ++i) {
      next += (a + b * static_cast<double>(i) / static_cast<double>(n)) * q_.sizes[i] * p[n - i];
    }
    p[n] = std::max(0.0, next / (1.0 - a * empty));
    sum += p[n];
  }
  p.back() += std::max(0.0, 1.0 - sum);
  return p;
}

double BatchQueueStates::arrivals(std::size_t s) const {
  return q_.later.empty() ? q_.arrivals[s]
                          : q_.first * q_.arrivals[s] + (1.0 - q_.first) * q_.later[s];
}

std::vector<double> BatchQueueStates::arriving(std::size_t s, bool of_arrival) const {
  std::vector<double> p =
      arriving(q_.arrivals[s], q_.bursts.empty() ? 1.0 : q_.bursts[s], of_arrival);
  if (!q_.later.empty()) {
    const std::vector<double> later = arriving(q_.later[s], 1.0, of_arrival);
    double share = q_.first;
    if (of_arrival) {
      share *= q_.arrivals[s] / std::max(arrivals(s), 1e-300);
    }
    for (std::size_t i = 0; i < p.size(); ++i) {
      p[i] = share * p[i] + (1.0 - share) * later[i];
    }
  }
  return p;
}

// The chain of m, and its probabilities by elimination of one state after another, from the last to the first. What a state
// lets out is a sum of probabilities to the states below it, so nothing is subtracted.
//
//   symbol   meaning                                                                           unit
//   chain    P(m → j), n × n; after the elimination of i, that of the states below i alone     –
//   out      of state i to the states below it                                                 –
//   in       P(m → i) / out: visits to i that each visit to m brings                           –
//   most     units of the largest batch, as far as there are states                            –
void BatchQueueStates::solve() {
  const std::size_t n = states_;
  const std::size_t most = std::min(k_, n - 1);
  units_.reserve(most + 1);
  for (std::size_t s = 0; s <= most; ++s) {
    units_.push_back(arriving(s, false));
  }
  if (q_.times[0] <= Seconds{}) {  // an idle server waits for one request
    units_[0].assign(n, 0.0);
    for (std::size_t i = 0; i < q_.sizes.size(); ++i) {
      units_[0][std::clamp<std::size_t>(i, 1, n - 1)] += q_.sizes[i];
    }
  }
  std::vector<double> chain(n * n, 0.0);
  for (std::size_t m = 0; m < n; ++m) {
    const std::size_t s = std::min(m, most);
    for (std::size_t a = 0; a < n; ++a) {
      chain[m * n + std::min(n - 1, m - s + a)] += units_[s][a];
    }
  }
  const std::vector<double> first = chain;
  for (std::size_t i = n - 1; i > 0; --i) {
    double out = 0.0;
    for (std::size_t j = 0; j < i; ++j) {
      out += chain[i * n + j];
    }
    if (out <= 0.0) {
      continue;
    }
    for (std::size_t m = 0; m < i; ++m) {
      double& in = chain[m * n + i];
      if (in <= 0.0) {
        continue;
      }
      in /= out;
      for (std::size_t j = 0; j < i; ++j) {
        chain[m * n + j] += in * chain[i * n + j];
      }
    }
  }
  p_.assign(n, 0.0);
  p_[0] = 1.0;
  double sum = 1.0;
  for (std::size_t i = 1; i < n; ++i) {
    for (std::size_t m = 0; m < i; ++m) {
      p_[i] += p_[m] * chain[m * n + i];
    }
    sum += p_[i];
  }
  for (std::size_t m = 0; m < n; ++m) {
    p_[m] /= sum;
    const Seconds time = q_.times[std::min(m, most)];
    mean_ += p_[m] * time;
    square_ += p_[m] * time * time;
    busy_ += m > 0 ? p_[m] : 0.0;
  }
  gaps(first);
}

// With `alone`: h(m) and h2(m) are the mean and the mean square of the time until the next batch without units begins,
//
//   h(m) = T(m) + Σ P(m, j) h(j),   h2(m) = T(m)² + 2 T(m) Σ P(m, j) h(j) + Σ P(m, j) h2(j),   h(0) = h2(0) = 0
//
//   after   probability of m behind a batch with the last unit of a request
void BatchQueueStates::gaps(const std::vector<double>& chain) {
  const std::size_t n = states_;
  const std::size_t most = std::min(k_, n - 1);
  const auto time = [&](std::size_t m) { return q_.times[std::min(m, most)]; };
  std::vector<double> after(n, 0.0);
  double weight = 0.0;
  for (std::size_t m = 1; m < n; ++m) {
    const double served = p_[m] * static_cast<double>(std::min(m, most));
    weight += served;
    for (std::size_t a = 0; a < n; ++a) {
      after[a] += served * chain[m * n + a];
    }
  }
  for (double& x : after) {
    x /= std::max(weight, 1e-300);
  }
  if (q_.alone) {
    std::vector<Seconds> h(n);
    std::vector<SquareSeconds> h2(n);
    const auto expect = [&]<class T>(std::size_t m, const std::vector<T>& of) {
      T sum;
      for (std::size_t a = 1; a < n; ++a) {
        sum += chain[m * n + a] * of[a];
      }
      return sum;
    };
    for (int sweep = 0; sweep < kSweeps; ++sweep) {
      Seconds moved;
      for (std::size_t m = 1; m < n; ++m) {
        const Seconds before = h[m];
        const Seconds rest = expect(m, h);
        h[m] = time(m) + rest;
        h2[m] = time(m) * (time(m) + 2.0 * rest) + expect(m, h2);
        moved = max(moved, max(h[m] - before, before - h[m]));
      }
      if (moved < 1e-3 * h[1]) {
        break;
      }
    }
    const Seconds wait = expect(0, h);
    gap_ = q_.times[0] + wait;
    gap_square_ = q_.times[0] * (q_.times[0] + 2.0 * wait) + expect(0, h2);
    Seconds behind;
    for (std::size_t m = 1; m < n; ++m) {
      behind += after[m] * h[m];
    }
    interference_.fill(behind - wait);
    return;
  }
  gap_ = mean_;
  gap_square_ = square_;
  Seconds sum;
  for (Seconds& each : interference_) {
    std::vector<double> next(n, 0.0);
    Seconds now;
    for (std::size_t m = 0; m < n; ++m) {
      if (after[m] > kNegligible) {
        now += after[m] * time(m);
        for (std::size_t a = 0; a < n; ++a) {
          next[a] += after[m] * chain[m * n + a];
        }
      }
    }
    sum += now - mean_;
    each = sum;
    after.swap(next);
  }
}

// The sum of the header over the states that a request meets, the others that arrive with it, its place among them, and
// its own units.
//
//   symbol    meaning                                                                          unit
//   chance    π(m)·a(s), of all requests the share `both` with a others in the same batch      –
//   place     share of the others that are before it; Gauss–Legendre with three places         –
//   rest      of the batch in which it arrives                                                 s
//   left      units that the batch leaves: m − s                                               –
//   ahead     units before it; `before` is one of the two nearest whole numbers                –
//   batches   j                                                                                –
//   later     units that arrive during its first j − 1 batches                                 –
//   content   units of the batch with its last unit, at most k                                 –
//   own       batches that its own units take                                                  –
BatchQueueStates::Stay BatchQueueStates::stay(const std::vector<SizedRequest>& requests,
                                              bool rough) const {
  constexpr double kPlaces[] = {0.1127016653792583, 0.5, 0.8872983346207417};  // Gauss–Legendre
  constexpr double kWeights[] = {5.0 / 18.0, 8.0 / 18.0, 5.0 / 18.0};
  const std::size_t most = std::min(k_, states_ - 1);
  const auto capacity = static_cast<double>(k_);
  const bool bursts = !q_.bursts.empty() || !q_.later.empty();
  double all = 0.0;  // requests of a mean batch
  for (std::size_t m = 0; m < states_; ++m) {
    all += p_[m] * (m == 0 && q_.times[0] <= Seconds{} ? 1.0 : arrivals(std::min(m, most)));
  }
  Stay stay;
  double sum = 0.0;
  std::vector<double> palm;  // of the last s: all full batches have the same
  std::size_t palm_of = states_;
  for (std::size_t m = 0; m < states_; ++m) {
    const std::size_t s = std::min(m, most);
    const bool idle = s == 0 && q_.times[0] <= Seconds{};
    const double chance = p_[m] * (idle ? 1.0 : arrivals(s));
    if (chance < kRare * all) {
      continue;
    }
    if (bursts && !idle && palm_of != s) {
      palm = arriving(s, true);
      palm_of = s;
    }
    const std::vector<double>& others = bursts && !idle ? palm : units_[s];
    const double left = static_cast<double>(m - s);
    const Seconds time = q_.times[s];
    const Seconds elapsed = q_.elapsed.empty() ? -1.0 * second : q_.elapsed[s];
    for (std::size_t a = 0; a < (idle ? 1 : states_); ++a) {
      const double both = chance * (idle ? 1.0 : others[a]);
      if (both < kRare * all) {
        continue;
      }
      for (int u = rough ? 1 : 0; u < (rough ? 2 : 3); ++u) {
        const double place = kPlaces[u];
        const Seconds rest =
            elapsed >= Seconds{} ? max(Seconds{}, time - elapsed) : (1.0 - place) * time;
        // A whole number of units is before it: the two nearest, so that their mean is right.
        const double ahead = left + place * static_cast<double>(a);
        const double fraction = ahead - std::floor(ahead);
        for (const SizedRequest& request : requests) {
          for (const double more : {0.0, 1.0}) {
            const double part = more > 0.0 ? fraction : 1.0 - fraction;
            if (part <= 0.0) {
              continue;
            }
            const double before = std::floor(ahead) + more;
            const double batches =
                std::max(1.0, std::ceil((before + request.units) / capacity - 1e-9));
            const double later = (batches - 1.0) * arrivals(most) * size_;
            const double content =
                std::min(capacity, left + static_cast<double>(a) + request.units + later -
                                       (batches - 1.0) * capacity);
            const double own = std::max(1.0, std::ceil(request.units / capacity - 1e-9));
            const double weight = both * kWeights[u] * request.weight * part;
            const Seconds total =
                rest + (batches - 1.0) * q_.times[k_] + batch(std::max(content, 1e-6));
            sum += weight;
            stay.mean += weight * total;
            stay.square += weight * total * total;
            stay.waits += weight * (rest + (batches - own) * q_.times[k_]);
          }
        }
      }
    }
  }
  return {stay.mean / sum, stay.square / sum, stay.waits / sum};
}

}  // namespace roofcast::base::queueing
