// SPDX-License-Identifier: Apache-2.0
#include "base/queueing/birth_death.hpp"

#include <algorithm>
#include <cmath>

namespace roofcast::base::queueing {

std::vector<double> birth_death(std::span<const double> births, std::span<const double> deaths) {
  std::vector<double> p = {0.0};  // ln p(n)/p(0)
  for (std::size_t i = 0; i < births.size(); ++i) {
    p.push_back(p.back() + std::log(births[i]) - std::log(deaths[i]));
  }
  const double largest = *std::max_element(p.begin(), p.end());
  double sum = 0.0;
  for (double& x : p) {
    x = std::exp(x - largest);
    sum += x;
  }
  for (double& x : p) {
    x /= sum;
  }
  return p;
}

}  // namespace roofcast::base::queueing
