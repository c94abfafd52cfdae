// SPDX-License-Identifier: Apache-2.0
//
// Ranks that wait for the slowest one. All ranks exchange gradients or parameters in a step, so that each of them takes as
// long as the slowest one:
//
//   share of the passes and the bubble = d · E[max of n normal deviates] + s · (1 − (1 − p)^h)
//
//   symbol   meaning                                                              unit
//   d        standard deviation of a rank's time, over its mean                   –
//   n, h     ranks of the job; hosts of the job                                   –
//   p, s     share of hosts that are slow; how much slower                        –
//
// The first part grows with √(2 ln n), the second one until the job is sure to have a slow host. A trainer's slowdown was
// fitted to runs that had some of both.
#pragma once

#include "workloads/training/training.hpp"

namespace roofcast::sim {

double waits_for_slowest(const workloads::Jitter& jitter, double ranks, double hosts);

}  // namespace roofcast::sim
