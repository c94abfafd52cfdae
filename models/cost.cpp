// SPDX-License-Identifier: Apache-2.0
#include "models/cost.hpp"

#include <algorithm>

#include "models/smooth_maximum.hpp"

namespace roofcast::models {

std::string_view name(Bound bound) {
  constexpr std::string_view kNames[kBounds] = {"latency", "compute", "memory", "l2", "network"};
  return kNames[static_cast<std::size_t>(bound)];
}

std::string_view name(Algorithm algorithm) {
  constexpr std::string_view kNames[kAlgorithms] = {
      "",           "ring LL",      "ring LL128", "ring Simple",    "tree LL",
      "tree LL128", "tree Simple",  "direct LL",  "direct Simple",  "one-shot",
      "two-shot",   "multimem",     "in-switch",  "in-switch tree", "in-network",
      "PAT",        "deduplicated", "put"};
  return kNames[static_cast<std::size_t>(algorithm)];
}

void combine(Cost& cost, double p) {
  const double compute = cost.compute.si();
  const double dram = cost.dram.si();
  const double l2 = cost.l2.si();
  const double network = cost.network.si();
  const double most = std::max(std::max(compute, dram), std::max(l2, network));
  // An operator with a network term has no other term. One term alone needs no powers.
  const double smooth = most == compute + dram + l2 + network
                            ? most
                            : std::max(most, smooth_maximum(compute, dram, l2, p));
  cost.time = cost.launch + cost.fill + base::Seconds::from_si(smooth);
  const double latency = cost.launch.si() + cost.fill.si();
  if (latency >= most) {
    cost.bound = Bound::latency;
  } else if (most == compute) {
    cost.bound = Bound::compute;
  } else if (most == dram) {
    cost.bound = Bound::memory;
  } else if (most == l2) {
    cost.bound = Bound::l2;
  } else {
    cost.bound = Bound::network;
  }
}

}  // namespace roofcast::models
