// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "base/units/quantity.hpp"

namespace roofcast::sim {

// A time as a function of a number, linear between the places where it was calculated.
class Line {
 public:
  Line() { points_.reserve(4); }
  void add(double at, base::Seconds value) {
    if (!points_.empty()) {
      Point& before = points_.back();
      before.slope = (value - before.value) / (at - before.at);
    }
    points_.push_back({at, value, points_.empty() ? base::Seconds{} : points_.back().slope});
  }
  base::Seconds operator()(double at) const {
    std::size_t i = 0;
    while (i + 2 < points_.size() && points_[i + 1].at < at) {
      ++i;
    }
    const Point& from = points_[i];
    return from.value + (std::max(at, points_.front().at) - from.at) * from.slope;
  }

 private:
  struct Point {
    double at = 0;
    base::Seconds value;
    base::Seconds slope;  // a unit of `at`, to the next point
  };
  std::vector<Point> points_;
};

}  // namespace roofcast::sim
