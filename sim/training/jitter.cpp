// SPDX-License-Identifier: Apache-2.0
#include "sim/training/jitter.hpp"

#include <cmath>

#include "base/statistics/expected_maximum.hpp"

namespace roofcast::sim {

double waits_for_slowest(const workloads::Jitter& jitter, double ranks, double hosts) {
  const double ordinary =
      jitter.deviation > 0.0 ? jitter.deviation * base::expected_maximum(ranks) : 0.0;
  return ordinary + jitter.slower_by * (1.0 - std::pow(1.0 - jitter.slow_hosts, hosts));
}

}  // namespace roofcast::sim
