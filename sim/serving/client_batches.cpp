// SPDX-License-Identifier: Apache-2.0
#include "sim/serving/client_batches.hpp"

#include <algorithm>
#include <cmath>

namespace roofcast::sim {
namespace {

using base::Seconds;
using base::queueing::BatchQueue;
using base::queueing::BatchQueueStates;

constexpr int kBatchRounds = 10;
constexpr double kFew = 0.02;   // requests that two batches hardly ever share
constexpr double kNear = 0.03;  // of the logarithms of two shares

}  // namespace

// Symbols are those of the header; `first` is found by a secant of the logarithms.
//
//   symbol   meaning                                                                          unit
//   d, t     delay; batch without prompts                                                     s
//   longer   share of the delay that a batch with prompts is longer, at most 1                –
//   none     probability that a batch without prompts gets no request                         –
//   busy     share of the batches that have prompts                                           –
//   lacks    ln of the share that the states have over the one that was assumed               –
//   slope    of `lacks` by ln(first)                                                          –
BatchQueueStates states_of_clients(double r, Seconds d, BatchQueue& queue) {
  const Seconds t = queue.times[0];
  const double longer = d > Seconds{} ? std::clamp((queue.times[1] - t) / d, 0.0, 1.0) : 0.0;
  const double gap = longer * (d / t - 0.5 * std::min(1.0, d / t));
  double a = r / (1.0 + r * gap);
  for (int i = 0; i < kBatchRounds; ++i) {
    const double none = std::exp(-a);
    a -= (a + r * gap * (1.0 - none) - r) / (1.0 + r * gap * none);
  }
  const double own = queue.alone ? 0.0 : r;  // of a batch with prompts
  queue.arrivals.assign(queue.times.size(), own + r * gap);
  queue.later.assign(queue.times.size(), own);
  queue.elapsed.resize(queue.times.size());
  queue.arrivals[0] = queue.later[0] = a;
  queue.elapsed[0] = d < t ? d : -1.0 * base::second;
  double first = 1.0 / (1.0 + (1.0 - std::exp(-own - r * gap)) * std::exp(own));
  double least = 1e-6;  // the share lies between
  double most = 1.0;
  double before =
      0.0;  // the last share that was tried, and by how much it was too small, in logarithms
  double lacked = 0.0;
  const int rounds = own + r * gap > kFew ? kBatchRounds : 0;
  for (int round = 0;; ++round) {
    queue.first = first;
    std::fill(queue.elapsed.begin() + 1, queue.elapsed.end(),
              d * (own + 0.5 * first * r * gap) / std::max(own + first * r * gap, 1e-9));
    BatchQueueStates states(queue);
    const double busy = std::max(states.busy(), 1e-12);
    const double lacks = std::log(-std::expm1(-a) * (1.0 - busy) / busy / first);
    if (round >= rounds || std::abs(lacks) < kNear || most < (1.0 + kNear) * least) {
      return states;
    }
    (lacks > 0.0 ? least : most) = first;
    const double slope = round == 0 ? -2.0 : (lacks - lacked) / std::log(first / before);
    const double next = first * std::exp(-lacks / std::min(slope, -1.0));
    before = first;
    lacked = lacks;
    first = next > least && next < most ? next : std::sqrt(least * most);
  }
}

}  // namespace roofcast::sim
