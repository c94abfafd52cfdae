// SPDX-License-Identifier: Apache-2.0
#include "cli/recommend/recommended_row.hpp"

namespace roofcast::cli {

std::vector<std::string> labels_of(const sim::SweepPoints& points, std::size_t row) {
  std::vector<std::string> labels;
  const auto& axes = points.sweep().axes;
  for (std::size_t axis = 0; axis < axes.size(); ++axis) {
    if (axes[axis].name != "traffic.concurrency") {
      labels.push_back(points.label(row, axis));
    }
  }
  return labels;
}

base::Node scenario_of(const sim::Recommendation& r, const sim::RankedRow& row) {
  return r.scans[row.scan].points->document(row.row);
}

}  // namespace roofcast::cli
