// SPDX-License-Identifier: Apache-2.0
#include "sim/decide/pareto.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "base/no_number.hpp"

namespace roofcast::sim {
namespace {

using base::kInfinity;

// A point with its first objective as "less is better", in single precision: that decides nearly always.
struct Entry {
  float first;
  std::uint32_t point;
};

// The comparable points, each group in the order of its objectives. A point can be dominated by earlier ones only.
class SortedPoints {
 public:
  SortedPoints(const ParetoPoints& points, std::span<const Direction> directions)
      : points_(points), directions_(directions) {
    std::map<std::uint32_t, std::size_t> places;  // of the next point of a group
    each_comparable([&](std::size_t, std::uint32_t group) { ++places[group]; });
    std::size_t end = 0;
    for (auto& [group, place] : places) {
      end += std::exchange(place, end);
      ends_.push_back(end);
    }
    entries_.resize(end);
    each_comparable([&](std::size_t point, std::uint32_t group) {
      constexpr double kMost = std::numeric_limits<float>::max();
      entries_[places[group]++] = {static_cast<float>(std::clamp(key(point, 0), -kMost, kMost)),
                                   static_cast<std::uint32_t>(point)};
    });
    std::size_t begin = 0;
    for (const std::size_t end_of_group : ends_) {
      std::sort(at(begin), at(end_of_group),
                [this](const Entry& a, const Entry& b) { return before(a, b); });
      begin = end_of_group;
    }
  }

  std::size_t objectives() const { return directions_.size(); }
  const std::vector<std::size_t>& ends() const { return ends_; }  // of the groups
  std::size_t point(std::size_t i) const { return entries_[i].point; }
  double key(std::size_t point, std::size_t objective) const {
    const double value = points_.value(point, objective);
    return directions_[objective] == Direction::maximize ? -value : value;
  }
  bool equal(std::size_t i, std::size_t j) const {
    return entries_[i].first == entries_[j].first && compare(point(i), point(j)) == 0;
  }

 private:
  std::vector<Entry>::iterator at(std::size_t i) {
    return entries_.begin() + static_cast<std::ptrdiff_t>(i);
  }
  template <class Take>
  void each_comparable(const Take& take) const {
    for (std::size_t i = 0; i < points_.size; ++i) {
      bool comparable = true;
      for (std::size_t j = 0; j < objectives() && comparable; ++j) {
        comparable = std::isfinite(points_.value(i, j));
      }
      if (comparable) {
        take(i, points_.group ? points_.group(i) : 0);
      }
    }
  }
  int compare(std::size_t a, std::size_t b) const {
    for (std::size_t j = 0; j < objectives(); ++j) {
      const double x = key(a, j);
      const double y = key(b, j);
      if (x != y) {
        return x < y ? -1 : 1;
      }
    }
    return 0;
  }
  bool before(const Entry& a, const Entry& b) const {
    if (a.first != b.first) {
      return a.first < b.first;
    }
    const int order = compare(a.point, b.point);
    return order != 0 ? order < 0 : a.point < b.point;
  }

  const ParetoPoints& points_;
  std::span<const Direction> directions_;
  std::vector<Entry> entries_;
  std::vector<std::size_t> ends_;
};

// Ranks when the second objective decides: the last point that joined a front is its best in the
// second objective, and these bests grow from front to front.
class FrontEnds {
 public:
  explicit FrontEnds(std::uint32_t max_rank) : max_rank_(max_rank) {}

  std::uint32_t join(double second) {
    const auto front = std::upper_bound(ends_.begin(), ends_.end(), second);
    const auto rank = static_cast<std::uint32_t>(front - ends_.begin()) + 1;
    if (front != ends_.end()) {
      *front = second;
    } else if (rank <= max_rank_) {
      ends_.push_back(second);
    }
    return rank;
  }

 private:
  std::uint32_t max_rank_;
  std::vector<double> ends_;
};

// Answers "what is the highest rank among the points so far that are nowhere worse than this one?"
// for points whose places are all known beforehand: a balanced k-d tree over the objectives but the
// first, in which each node knows the box and the highest rank of the points that have joined below
// it.
class RankTree {
 public:
  // For the points [begin, end) of one group.
  RankTree(const SortedPoints& points, std::size_t begin, std::size_t end)
      : axes_(points.objectives() - 1), begin_(begin) {
    order_.resize(end - begin);
    tails_.reserve(order_.size() * axes_);
    for (std::size_t i = begin; i < end; ++i) {
      for (std::size_t axis = 0; axis < axes_; ++axis) {
        tails_.push_back(points.key(points.point(i), axis + 1));
      }
    }
    std::iota(order_.begin(), order_.end(), 0U);
    build(0, order_.size(), 0, kNoNode);
    leaf_of_.resize(order_.size());
    coordinates_.reserve(order_.size() * axes_);
    for (std::uint32_t node = 0; node < nodes_.size(); ++node) {
      if (nodes_[node].left == kNoNode) {
        for (std::size_t i = nodes_[node].begin; i < nodes_[node].end; ++i) {
          leaf_of_[order_[i]] = node;
        }
      }
    }
    place_of_.resize(order_.size());
    for (std::size_t i = 0; i < order_.size(); ++i) {
      place_of_[order_[i]] = static_cast<std::uint32_t>(i);
      const double* tail = tail_of(order_[i]);
      coordinates_.insert(coordinates_.end(), tail, tail + axes_);
    }
    ranks_.resize(order_.size());
    low_.assign(nodes_.size() * axes_, kInfinity);
    high_.assign(nodes_.size() * axes_, -kInfinity);
  }

  // Gives the next point its rank, at most max_rank + 1. Points join in sorted order.
  std::uint32_t join(std::size_t point, std::uint32_t max_rank) {
    const auto local = static_cast<std::uint32_t>(point - begin_);
    const double* tail = tail_of(local);
    std::uint32_t below = 0;
    search(0, tail, max_rank, below);
    const std::uint32_t rank = below + 1;
    if (rank <= max_rank) {
      ranks_[place_of_[local]] = rank;
      for (std::uint32_t node = leaf_of_[local]; node != kNoNode; node = nodes_[node].parent) {
        nodes_[node].best = std::max(nodes_[node].best, rank);
        double* low = low_.data() + node * axes_;
        double* high = high_.data() + node * axes_;
        for (std::size_t axis = 0; axis < axes_; ++axis) {
          low[axis] = std::min(low[axis], tail[axis]);
          high[axis] = std::max(high[axis], tail[axis]);
        }
      }
    }
    return rank;
  }

 private:
  static constexpr std::uint32_t kNoNode = std::numeric_limits<std::uint32_t>::max();
  static constexpr std::size_t kLeafSize = 8;

  struct Node {
    std::uint32_t begin;
    std::uint32_t end;
    std::uint32_t parent;
    std::uint32_t left = kNoNode;  // of a leaf
    std::uint32_t right = kNoNode;
    std::uint32_t best = 0;  // highest rank joined below; 0 = nobody joined
  };

  const double* tail_of(std::uint32_t local) const { return tails_.data() + local * axes_; }

  std::uint32_t build(std::size_t begin, std::size_t end, std::size_t axis, std::uint32_t parent) {
    const auto node = static_cast<std::uint32_t>(nodes_.size());
    nodes_.push_back({.begin = static_cast<std::uint32_t>(begin),
                      .end = static_cast<std::uint32_t>(end),
                      .parent = parent});
    if (end - begin > kLeafSize) {
      const std::size_t middle = begin + (end - begin) / 2;
      const auto at = [&](std::size_t i) {
        return order_.begin() + static_cast<std::ptrdiff_t>(i);
      };
      std::nth_element(at(begin), at(middle), at(end), [&](std::uint32_t a, std::uint32_t b) {
        return tail_of(a)[axis] < tail_of(b)[axis];
      });
      const std::size_t next = (axis + 1) % axes_;
      const std::uint32_t left = build(begin, middle, next, node);
      const std::uint32_t right = build(middle, end, next, node);
      nodes_[node].left = left;
      nodes_[node].right = right;
    }
    return node;
  }

  bool nowhere_worse(const double* a, const double* b) const {
    for (std::size_t axis = 0; axis < axes_; ++axis) {
      if (a[axis] > b[axis]) {
        return false;
      }
    }
    return true;
  }

  // Raises `found` to the highest rank below the node among the points nowhere worse than `tail`.
  void search(std::uint32_t index, const double* tail, std::uint32_t enough,
              std::uint32_t& found) const {
    const Node& node = nodes_[index];
    if (node.best <= found || found >= enough ||
        !nowhere_worse(low_.data() + index * axes_, tail)) {
      return;
    }
    if (nowhere_worse(high_.data() + index * axes_, tail)) {
      found = node.best;
      return;
    }
    if (node.left == kNoNode) {
      for (std::size_t i = node.begin; i < node.end; ++i) {
        if (ranks_[i] > found && nowhere_worse(coordinates_.data() + i * axes_, tail)) {
          found = ranks_[i];
        }
      }
      return;
    }
    const bool left_first = nodes_[node.left].best >= nodes_[node.right].best;
    search(left_first ? node.left : node.right, tail, enough, found);
    search(left_first ? node.right : node.left, tail, enough, found);
  }

  std::size_t axes_;
  std::size_t begin_;
  std::vector<double> tails_;  // objectives but the first, in sorted order
  std::vector<Node> nodes_;
  std::vector<std::uint32_t> order_;  // points in tree order
  std::vector<std::uint32_t> place_of_;
  std::vector<std::uint32_t> leaf_of_;
  std::vector<double> coordinates_;   // in tree order, as ranks_
  std::vector<std::uint32_t> ranks_;  // 0 = has not joined
  std::vector<double> low_;           // boxes of what has joined, per node
  std::vector<double> high_;
};

}  // namespace

void pareto_rank(const ParetoPoints& points, std::span<const Direction> directions,
                 std::uint32_t max_rank, const TakeRank& take) {
  if (directions.empty()) {
    throw std::invalid_argument("pareto_rank: there is no objective");
  }
  if (points.size >= std::numeric_limits<std::uint32_t>::max()) {
    throw std::invalid_argument("pareto_rank: too many points");
  }
  if (max_rank == 0) {
    throw std::invalid_argument("pareto_rank: max_rank starts at 1");
  }
  max_rank = std::min(max_rank, std::numeric_limits<std::uint32_t>::max() - 1);
  const std::size_t d = directions.size();
  const SortedPoints sorted(points, directions);
  std::size_t begin = 0;
  for (const std::size_t end : sorted.ends()) {
    const auto rank_in_order = [&](auto&& join) {
      std::uint32_t rank = 0;
      for (std::size_t i = begin; i < end; ++i) {
        rank = i > begin && sorted.equal(i - 1, i) ? rank : join(i);
        take(sorted.point(i), rank);
      }
    };
    if (d <= 2) {
      FrontEnds fronts(max_rank);
      // One objective is two of which the second never differs.
      rank_in_order([&](std::size_t i) {
        return fronts.join(d == 1 ? 0.0 : sorted.key(sorted.point(i), 1));
      });
    } else {
      RankTree tree(sorted, begin, end);
      rank_in_order([&](std::size_t i) { return tree.join(i, max_rank); });
    }
    begin = end;
  }
}

std::vector<std::uint32_t> pareto_rank(std::span<const double> values,
                                       std::span<const Direction> directions,
                                       const ParetoOptions& options) {
  const std::size_t d = directions.size();
  if (d == 0 || values.size() % d != 0) {
    throw std::invalid_argument("pareto_rank: values are not rows of one value per objective");
  }
  ParetoPoints points{.size = values.size() / d,
                      .value = [&](std::size_t i, std::size_t j) { return values[i * d + j]; },
                      .group = {}};
  if (!options.groups.empty()) {
    if (options.groups.size() != points.size) {
      throw std::invalid_argument("pareto_rank: groups must name one group per point");
    }
    points.group = [&](std::size_t i) { return options.groups[i]; };
  }
  std::vector<std::uint32_t> ranks(points.size, 0);
  pareto_rank(points, directions, options.max_rank,
              [&](std::size_t i, std::uint32_t rank) { ranks[i] = rank; });
  return ranks;
}

}  // namespace roofcast::sim
