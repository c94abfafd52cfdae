// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

namespace roofcast::base {

struct ShareInterval {
  double low = 0.0;
  double high = 1.0;
};

// The 95 % interval of a probability, where `share` of `trials` independent trials succeeded: Wilson's score interval,
// all p with |share − p| ≤ 1.96 √(p (1 − p) / trials). It stays in 0..1, and is not empty at a share of 0 or 1. `trials`
// need not be whole; none give 0..1. Source: Brown, Cai, DasGupta: Interval Estimation for a Binomial Proportion,
// Statistical Science 16, 2001.
ShareInterval wilson_interval(double share, double trials);

// How many independent trials tell as much as these, which come one after another and each remember the one before:
// n (1 − r) / (1 + r), at least 1. r is the correlation of neighbours, 0 where it is negative or all trials are equal.
// Source: Miao, Gastwirth: The Effect of Dependence on Confidence Intervals for a Population Proportion, The American
// Statistician 58, 2004.
double effective_trials(const std::vector<bool>& trials);

}  // namespace roofcast::base
