// SPDX-License-Identifier: Apache-2.0
#include "base/statistics/hypervolume.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <map>
#include <stdexcept>
#include <vector>

#include "base/no_number.hpp"

namespace roofcast::base {
namespace {

// Row-major points that are better than the reference in every coordinate.
struct Set {
  std::size_t width = 0;
  std::vector<double> values;

  std::size_t size() const { return values.size() / width; }
  const double* row(std::size_t i) const { return values.data() + i * width; }
  void add(const double* row) { values.insert(values.end(), row, row + width); }
};

bool nowhere_worse(const double* a, const double* b, std::size_t width) {
  for (std::size_t i = 0; i < width; ++i) {
    if (a[i] > b[i]) {
      return false;
    }
  }
  return true;
}

Set sorted_by_last(const Set& set) {
  std::vector<const double*> rows;
  for (std::size_t i = 0; i < set.size(); ++i) {
    rows.push_back(set.row(i));
  }
  std::sort(rows.begin(), rows.end(), [&](const double* a, const double* b) {
    return std::lexicographical_compare(
        std::make_reverse_iterator(a + set.width), std::make_reverse_iterator(a),
        std::make_reverse_iterator(b + set.width), std::make_reverse_iterator(b));
  });
  Set out{set.width, {}};
  out.values.reserve(set.values.size());
  for (const double* row : rows) {
    out.add(row);
  }
  return out;
}

// One and two coordinates: the area under a staircase. Points come in the order of their last coordinate, the best
// first.
double area(const Set& set, std::span<const double> reference) {
  const Set sorted = sorted_by_last(set);
  double total = 0.0;
  double first = reference[0];
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const double* p = sorted.row(i);
    if (p[0] < first) {
      total += (first - p[0]) * (set.width == 1 ? 1.0 : reference[1] - p[1]);
      first = p[0];
    }
  }
  return total;
}

// Three coordinates: points come in the order of the last coordinate. Each lets the staircase of the first two grow.
// Between two points the area of the staircase is swept.
double volume(const Set& set, std::span<const double> reference) {
  const Set sorted = sorted_by_last(set);
  std::map<double, double> stairs = {{-kInfinity, reference[1]}, {reference[0], -kInfinity}};
  double ground = 0.0;  // area of the staircase
  double total = 0.0;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const double* p = sorted.row(i);
    if (i > 0) {
      total += ground * (p[2] - sorted.row(i - 1)[2]);
    }
    auto at = stairs.upper_bound(p[0]);
    double height = std::prev(at)->second;  // height of the stair at p
    if (height <= p[1]) {
      continue;
    }
    double from = p[0];
    // Stairs that p undercuts are removed. The area of p beyond theirs is added.
    while (true) {
      ground += (at->first - from) * (height - p[1]);
      if (at->second <= p[1]) {
        break;
      }
      from = at->first;
      height = at->second;
      at = stairs.erase(at);
    }
    stairs.insert_or_assign(p[0], p[1]);
  }
  return sorted.size() == 0 ? 0.0
                            : total + ground * (reference[2] - sorted.row(sorted.size() - 1)[2]);
}

// Removes every point for which another one is nowhere worse. Of equal points one stays.
Set front_of(const Set& set) {
  const Set sorted = sorted_by_last(set);
  Set front{set.width, {}};
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    bool beaten = false;
    for (std::size_t j = 0; j < front.size() && !beaten; ++j) {
      beaten = nowhere_worse(front.row(j), sorted.row(i), set.width);
    }
    if (!beaten) {
      front.add(sorted.row(i));
    }
  }
  return front;
}

double measure(const Set& set, std::span<const double> reference);

// Points come in the order of the last coordinate. Each adds its box without the part that the points before it cover.
// Those are limited to the box. They are no worse in the last coordinate, so they cover the whole depth of the box.
double exclusive_volumes(const Set& set, std::span<const double> reference) {
  const Set front = front_of(set);
  const std::size_t last = set.width - 1;
  const auto shorter = reference.first(last);
  double total = 0.0;
  for (std::size_t i = 0; i < front.size(); ++i) {
    const double* p = front.row(i);
    double box = 1.0;
    for (std::size_t k = 0; k < last; ++k) {
      box *= reference[k] - p[k];
    }
    Set limited{last, {}};
    std::vector<double> row(last);
    for (std::size_t j = 0; j < i; ++j) {
      for (std::size_t k = 0; k < last; ++k) {
        row[k] = std::max(p[k], front.row(j)[k]);
      }
      limited.add(row.data());
    }
    total += (reference[last] - p[last]) * (box - measure(limited, shorter));
  }
  return total;
}

double measure(const Set& set, std::span<const double> reference) {
  switch (set.width) {
    case 1:
    case 2:
      return area(set, reference);
    case 3:
      return volume(set, reference);
    default:
      return exclusive_volumes(set, reference);
  }
}

}  // namespace

double hypervolume(std::span<const double> points, std::span<const double> reference) {
  const std::size_t d = reference.size();
  if (d == 0 || points.size() % d != 0 ||
      !std::all_of(reference.begin(), reference.end(), [](double r) { return std::isfinite(r); })) {
    throw std::invalid_argument("hypervolume: points are not rows of the reference's coordinates");
  }
  Set set{d, {}};
  for (std::size_t i = 0; i < points.size(); i += d) {
    const double* p = points.data() + i;
    bool inside = true;
    for (std::size_t k = 0; k < d; ++k) {
      inside = inside && p[k] < reference[k];  // false for NaN
    }
    if (inside) {
      if (std::any_of(p, p + d, [](double value) { return std::isinf(value); })) {
        return kInfinity;
      }
      set.add(p);
    }
  }
  return measure(set, reference);
}

}  // namespace roofcast::base
