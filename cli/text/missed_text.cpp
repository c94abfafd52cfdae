// SPDX-License-Identifier: Apache-2.0
#include "cli/text/missed_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "cli/tables/metric_cells.hpp"
#include "sim/decide/solve.hpp"

namespace roofcast::cli {

std::string missed_text(const std::vector<sim::Condition>& where, const sim::ResultTable& table,
                        std::size_t row) {
  std::vector<std::string> misses;
  for (const sim::Condition& c : where) {
    if (table.fits(row) && !c.metric.empty() && !sim::holds(c, table, row)) {
      const double value = table.column(c.metric).number(row);
      misses.push_back(std::isnan(value) ? fmt::format("has no {}", c.metric)
                                         : fmt::format("misses {} by {:.3g} %: {}", c.text,
                                                       -100.0 * sim::slack(c, value),
                                                       column_value(c.metric, value)));
    }
  }
  return misses.empty() ? table.column("reason").text(row)
                        : fmt::format("{}", fmt::join(misses, " and "));
}

std::string point_text(const sim::SweepPoints& points, std::size_t row) {
  std::vector<std::string> labels;
  const auto& axes = points.sweep().axes;
  for (std::size_t axis = 0; axis < axes.size(); ++axis) {
    labels.push_back(fmt::format("{} {}", axes[axis].name, points.label(row, axis)));
  }
  return fmt::format("{}", fmt::join(labels, ", "));
}

}  // namespace roofcast::cli
