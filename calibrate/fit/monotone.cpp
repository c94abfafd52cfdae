// SPDX-License-Identifier: Apache-2.0
#include "calibrate/fit/monotone.hpp"

#include <algorithm>

namespace roofcast::calibrate {
namespace {

constexpr int kTurns = 20;

// Calls line(first, stride, count) for every line of nodes along one axis.
template <class Line>
void lines(const hardware::CorrectionGrid& grid, std::size_t axis, Line line) {
  std::size_t stride = 1;
  for (std::size_t j = axis + 1; j < grid.axes.size(); ++j) {
    stride *= grid.axes[j].nodes;
  }
  const std::size_t count = grid.axes[axis].nodes;
  for (std::size_t node = 0; node < grid.values.size(); ++node) {
    if (node / stride % count == 0) {
      line(node, stride, count);
    }
  }
}

struct Pool {
  double mean, weight;
  std::size_t nodes;
};

void regress(std::vector<double>& t, const std::vector<double>& weights, std::size_t first,
             std::size_t stride, std::size_t count, std::vector<Pool>& pools) {
  pools.clear();
  for (std::size_t i = 0; i < count; ++i) {
    pools.push_back({t[first + i * stride], weights[first + i * stride], 1});
    while (pools.size() > 1 && pools[pools.size() - 2].mean > pools.back().mean) {
      const Pool last = pools.back();
      pools.pop_back();
      Pool& into = pools.back();
      const double weight = into.weight + last.weight;
      into.mean = (into.mean * into.weight + last.mean * last.weight) / weight;
      into.weight = weight;
      into.nodes += last.nodes;
    }
  }
  std::size_t i = 0;
  for (const Pool& pool : pools) {
    for (std::size_t n = 0; n < pool.nodes; ++n, ++i) {
      t[first + i * stride] = pool.mean;
    }
  }
}

}  // namespace

void make_monotone(hardware::CorrectionGrid& grid, std::size_t axes,
                   const std::vector<double>& log_physical, const std::vector<double>& weights) {
  std::vector<double> t(log_physical);
  for (std::size_t i = 0; i < t.size(); ++i) {
    t[i] += static_cast<double>(grid.values[i]);
  }
  std::vector<Pool> pools;
  for (int turn = 0; turn < kTurns; ++turn) {
    for (std::size_t axis = 0; axis < axes; ++axis) {
      lines(grid, axis, [&](std::size_t first, std::size_t stride, std::size_t count) {
        regress(t, weights, first, stride, count, pools);
      });
    }
  }
  for (std::size_t axis = 0; axis < axes; ++axis) {
    lines(grid, axis, [&](std::size_t first, std::size_t stride, std::size_t count) {
      for (std::size_t i = 1; i < count; ++i) {
        double& next = t[first + i * stride];
        next = std::max(next, t[first + (i - 1) * stride]);
      }
    });
  }
  for (std::size_t i = 0; i < t.size(); ++i) {
    grid.values[i] = static_cast<float>(t[i] - log_physical[i]);
  }
}

}  // namespace roofcast::calibrate
