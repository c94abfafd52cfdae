// SPDX-License-Identifier: Apache-2.0
#include "base/statistics/batch_means.hpp"

#include <cmath>

namespace roofcast::base {

MeanWithError mean_of_batches(std::span<const double> batches) {
  const auto count = static_cast<double>(batches.size());
  double sum = 0.0;
  double squares = 0.0;
  for (const double batch : batches) {
    sum += batch;
  }
  for (const double batch : batches) {
    const double off = batch - sum / count;
    squares += off * off;
  }
  return {sum / count, std::sqrt(squares / (count - 1.0) / count)};
}

}  // namespace roofcast::base
