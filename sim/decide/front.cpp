// SPDX-License-Identifier: Apache-2.0
#include "sim/decide/front.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <stdexcept>

#include "base/no_number.hpp"
#include "base/statistics/hypervolume.hpp"

namespace roofcast::sim {
namespace {

using base::kInfinity;

std::vector<double> less_is_better(std::span<const double> values,
                                   std::span<const Direction> directions) {
  if (directions.empty() || values.size() % directions.size() != 0) {
    throw std::invalid_argument("front: values are not rows of one value per objective");
  }
  std::vector<double> keys(values.begin(), values.end());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (directions[i % directions.size()] == Direction::maximize) {
      keys[i] = -keys[i];
    }
  }
  return keys;
}

// The number of the box that a key lies in, growing with the key. Relative boxes are logarithmic,
// negative keys before 0 before positive ones.
double box_of(double key, const Tolerance& tolerance) {
  if (tolerance.value == 0.0 || key == 0.0 || !std::isfinite(key)) {
    return key;
  }
  if (!tolerance.relative) {
    return std::floor(key / tolerance.value);
  }
  constexpr double kBeyond = 1e15;  // more than there are boxes of either sign
  const double steps = std::log(std::abs(key)) / std::log1p(tolerance.value);
  return key < 0.0 ? std::floor(-steps) - kBeyond : std::floor(steps) + kBeyond;
}

bool finite(const double* row, std::size_t width) {
  return std::all_of(row, row + width, [](double value) { return std::isfinite(value); });
}

// How often the points of one front are beaten or equalled by the other's. `ranks` are of both
// together.
FrontMove::Outcome outcome(std::span<const double> own, std::span<const double> other,
                           std::size_t width, std::span<const std::uint32_t> own_ranks) {
  std::vector<const double*> sorted;
  for (std::size_t i = 0; i < other.size(); i += width) {
    sorted.push_back(other.data() + i);
  }
  const auto less = [&](const double* a, const double* b) {
    return std::lexicographical_compare(a, a + width, b, b + width);
  };
  std::sort(sorted.begin(), sorted.end(), less);
  FrontMove::Outcome result;
  for (std::size_t i = 0; i < own.size(); i += width) {
    if (own_ranks[i / width] > 1) {
      ++result.beaten;
    } else if (std::binary_search(sorted.begin(), sorted.end(), own.data() + i, less)) {
      ++result.equalled;
    } else {
      ++result.unmatched;
    }
  }
  return result;
}

}  // namespace

std::vector<std::size_t> epsilon_front(std::span<const double> values,
                                       std::span<const Direction> directions,
                                       std::span<const Tolerance> tolerances,
                                       std::span<const std::uint32_t> groups) {
  const std::size_t d = directions.size();
  if (tolerances.size() != d) {
    throw std::invalid_argument("epsilon_front: one tolerance per objective");
  }
  const std::vector<double> keys = less_is_better(values, directions);
  std::vector<double> boxes(keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    boxes[i] = box_of(keys[i], tolerances[i % d]);
  }
  const std::vector<Direction> down(d, Direction::minimize);
  const auto ranks = pareto_rank(boxes, down, {.groups = groups, .max_rank = 1});
  std::vector<std::size_t> kept;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (ranks[i] == 1) {
      kept.push_back(i);
    }
  }
  const auto compare = [&](const std::vector<double>& of, std::size_t a, std::size_t b) {
    for (std::size_t j = 0; j < d; ++j) {
      if (of[a * d + j] != of[b * d + j]) {
        return of[a * d + j] < of[b * d + j] ? -1 : 1;
      }
    }
    return 0;
  };
  const auto same_box = [&](std::size_t a, std::size_t b) {
    return (groups.empty() || groups[a] == groups[b]) && compare(boxes, a, b) == 0;
  };
  std::sort(kept.begin(), kept.end(), [&](std::size_t a, std::size_t b) {
    if (!groups.empty() && groups[a] != groups[b]) {
      return groups[a] < groups[b];
    }
    const int box = compare(boxes, a, b);
    const int key = box != 0 ? box : compare(keys, a, b);
    return key != 0 ? key < 0 : a < b;
  });
  kept.erase(std::unique(kept.begin(), kept.end(), same_box), kept.end());
  std::sort(kept.begin(), kept.end());
  return kept;
}

Extent extent(std::span<const double> values, std::span<const Direction> directions) {
  const std::size_t d = directions.size();
  Extent all{std::vector<double>(d, std::nan("")), std::vector<double>(d, std::nan(""))};
  for (std::size_t i = 0; i < values.size(); i += d) {
    if (!finite(values.data() + i, d)) {
      continue;
    }
    for (std::size_t j = 0; j < d; ++j) {
      const double value = values[i + j];
      const bool up = directions[j] == Direction::maximize;
      all.best[j] = up ? std::fmax(all.best[j], value) : std::fmin(all.best[j], value);
      all.worst[j] = up ? std::fmin(all.worst[j], value) : std::fmax(all.worst[j], value);
    }
  }
  return all;
}

double dominated_share(std::span<const double> values, std::span<const Direction> directions,
                       std::span<const double> best, std::span<const double> reference) {
  const std::size_t d = directions.size();
  std::vector<std::size_t> counting;
  for (std::size_t j = 0; j < d; ++j) {
    if (std::isfinite(best[j]) && std::isfinite(reference[j]) && best[j] != reference[j]) {
      counting.push_back(j);
    }
  }
  if (counting.empty()) {
    return std::nan("");
  }
  // 0 at the best, 1 at the reference.
  std::vector<double> scaled;
  for (std::size_t i = 0; i < values.size(); i += d) {
    for (const std::size_t j : counting) {
      scaled.push_back((values[i + j] - best[j]) / (reference[j] - best[j]));
    }
  }
  return base::hypervolume(scaled, std::vector<double>(counting.size(), 1.0));
}

std::size_t knee(std::span<const double> values, std::span<const Direction> directions) {
  const std::size_t d = directions.size();
  const Extent ends = extent(values, directions);
  std::size_t chosen = kNowhere;
  double least = kInfinity;
  for (std::size_t i = 0; i < values.size(); i += d) {
    if (!finite(values.data() + i, d)) {
      continue;
    }
    double sum = 0.0;
    for (std::size_t j = 0; j < d; ++j) {
      const double width = ends.worst[j] - ends.best[j];
      sum += width == 0.0 ? 0.0 : (values[i + j] - ends.best[j]) / width;
    }
    if (sum < least) {
      least = sum;
      chosen = i / d;
    }
  }
  return chosen;
}

FrontMove compare_fronts(std::span<const double> old_front, std::span<const double> new_front,
                         std::span<const Direction> directions) {
  const std::size_t d = directions.size();
  const std::vector<double> old_keys = less_is_better(old_front, directions);
  const std::vector<double> new_keys = less_is_better(new_front, directions);
  std::vector<double> both = old_keys;
  both.insert(both.end(), new_keys.begin(), new_keys.end());
  const std::vector<Direction> down(d, Direction::minimize);
  const auto ranks = pareto_rank(both, down, {.groups = {}, .max_rank = 1});
  const auto of_old = std::span<const std::uint32_t>(ranks).first(old_keys.size() / d);
  FrontMove move;
  move.old_points = outcome(old_keys, new_keys, d, of_old);
  move.new_points =
      outcome(new_keys, old_keys, d, std::span<const std::uint32_t>(ranks).subspan(of_old.size()));

  move.shifts.resize(d);
  const std::size_t points = of_old.size();
  const std::size_t looked_at = std::min(points, kShiftPoints);
  for (std::size_t k = 0; k < looked_at; ++k) {
    const double* p = old_keys.data() + (k * points / looked_at) * d;
    std::vector<double> best(d, kInfinity);
    for (std::size_t i = 0; i < new_keys.size(); i += d) {
      const double* q = new_keys.data() + i;
      std::size_t worse = 0;
      std::size_t worse_in = 0;
      for (std::size_t j = 0; j < d; ++j) {
        if (q[j] > p[j]) {
          ++worse;
          worse_in = j;
        }
      }
      for (std::size_t j = 0; j < d; ++j) {
        if (worse == 0 || (worse == 1 && worse_in == j)) {
          best[j] = std::min(best[j], q[j]);
        }
      }
    }
    for (std::size_t j = 0; j < d; ++j) {
      if (std::isfinite(best[j]) && std::isfinite(p[j]) && p[j] != 0.0) {
        move.shifts[j].push_back(best[j] / p[j]);
      }
    }
  }
  for (std::vector<double>& shifts : move.shifts) {
    std::sort(shifts.begin(), shifts.end());
  }
  return move;
}

}  // namespace roofcast::sim
