// SPDX-License-Identifier: Apache-2.0
#include "workloads/traffic/length_cells.hpp"

#include <algorithm>
#include <cmath>

namespace roofcast::workloads {
namespace {

constexpr std::int64_t kEach = 32;   // tokens; shorter lengths have a cell each
constexpr double kCellRatio = 1.25;  // end of a longer cell / end of the one before
constexpr double kAll = 1.0 - 1e-9;  // the probability that is covered

}  // namespace

double share_up_to(const Lengths& lengths, std::int64_t tokens) {
  if (tokens < lengths.least || tokens >= lengths.most) {
    return tokens < lengths.least ? 0.0 : 1.0;
  }
  if (lengths.shape == Lengths::Shape::measured) {
    const std::vector<std::int32_t>& sorted = *lengths.samples;
    const auto beyond = std::upper_bound(sorted.begin(), sorted.end(), tokens);
    return static_cast<double>(beyond - sorted.begin()) / static_cast<double>(sorted.size());
  }
  if (lengths.shape != Lengths::Shape::lognormal) {
    return static_cast<double>(tokens - lengths.least + 1) /
           static_cast<double>(lengths.most - lengths.least + 1);
  }
  const double variance = std::log1p(lengths.cv * lengths.cv);
  const double beyond =
      std::log((static_cast<double>(tokens) + 0.5) / lengths.mean) + 0.5 * variance;
  if (variance == 0.0) {
    return beyond < 0.0 ? 0.0 : 1.0;
  }
  return 0.5 * std::erfc(-beyond / std::sqrt(2.0 * variance));
}

std::vector<WeightedLength> cells_of(const Lengths& lengths) {
  std::vector<WeightedLength> cells;
  double chance = 0.0;
  for (std::int64_t below = lengths.least - 1; below < lengths.most && chance < kAll;) {
    const std::int64_t wanted =
        below < kEach ? below + 1
                      : std::llround(std::ceil(kCellRatio * static_cast<double>(below)));
    const std::int64_t up_to = std::min(wanted, lengths.most);
    const double now = share_up_to(lengths, up_to);
    if (now > chance) {
      cells.push_back({0.5 * static_cast<double>(below + 1 + up_to), now - chance});
    }
    chance = now;
    below = up_to;
  }
  return cells;
}

}  // namespace roofcast::workloads
