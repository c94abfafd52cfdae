// SPDX-License-Identifier: Apache-2.0
#include "models/cost.hpp"

#include <algorithm>
#include <cmath>

namespace roofcast::models {

std::string_view name(Bound bound) {
  constexpr std::string_view kNames[kBounds] = {"latency", "compute", "memory", "l2", "network"};
  return kNames[static_cast<std::size_t>(bound)];
}

void combine(Cost& cost, double p) {
  const double terms[] = {cost.compute.si(), cost.dram.si(), cost.l2.si(), cost.network.si()};
  const double most = *std::max_element(std::begin(terms), std::end(terms));
  double smooth = most;
  if (most < terms[0] + terms[1] + terms[2] + terms[3]) {  // more than one term
    double sum = 0.0;
    const double scale = 1.0 / most;
    for (const double term : terms) {
      const double ratio = term * scale;
      sum += p == 4.0 ? (ratio * ratio) * (ratio * ratio) : std::pow(ratio, p);
    }
    smooth = most * std::max(1.0, p == 4.0 ? std::sqrt(std::sqrt(sum)) : std::pow(sum, 1.0 / p));
  }
  cost.time = cost.launch + cost.fill + base::Seconds::from_si(smooth);
  const double latency = cost.launch.si() + cost.fill.si();
  if (latency >= most) {
    cost.bound = Bound::latency;
  } else if (most == terms[0]) {
    cost.bound = Bound::compute;
  } else if (most == terms[1]) {
    cost.bound = Bound::memory;
  } else if (most == terms[2]) {
    cost.bound = Bound::l2;
  } else {
    cost.bound = Bound::network;
  }
}

}  // namespace roofcast::models
