// SPDX-License-Identifier: Apache-2.0
#include "base/statistics/proportion.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace roofcast::base {

ShareInterval wilson_interval(double share, double trials) {
  if (!(trials > 0.0)) {
    return {};
  }
  constexpr double kNormal = 1.959964;  // 97.5 % point of the normal distribution
  const double spread = kNormal * kNormal / trials;
  const double middle = (share + 0.5 * spread) / (1.0 + spread);
  const double half = std::sqrt(spread * (share * (1.0 - share) + 0.25 * spread)) / (1.0 + spread);
  return {std::max(0.0, middle - half), std::min(1.0, middle + half)};
}

double effective_trials(const std::vector<bool>& trials) {
  const auto count = static_cast<double>(trials.size());
  const double share = static_cast<double>(std::count(trials.begin(), trials.end(), true)) / count;
  double together = 0.0;
  double alone = 0.0;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    const double here = (trials[i] ? 1.0 : 0.0) - share;
    alone += here * here;
    if (i > 0) {
      together += here * ((trials[i - 1] ? 1.0 : 0.0) - share);
    }
  }
  const double correlation = alone > 0.0 ? std::max(0.0, together / alone) : 0.0;
  return std::max(std::min(1.0, count), count * (1.0 - correlation) / (1.0 + correlation));
}

}  // namespace roofcast::base
