// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

namespace roofcast::base {

struct MeanWithError {
  double mean = 0.0;
  double error = 0.0;  // standard error of the mean
};

// The mean of values of which each remembers the ones before, from the means x of k equal batches of them: the batches
// are long enough to be independent. error² = Σ (x − mean)² / (k − 1) / k, with k > 1.
// Source: Law, Kelton: Simulation Modeling and Analysis, the method of batch means.
MeanWithError mean_of_batches(std::span<const double> batches);

}  // namespace roofcast::base
