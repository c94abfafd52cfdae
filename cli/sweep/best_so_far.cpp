// SPDX-License-Identifier: Apache-2.0
#include "cli/sweep/best_so_far.hpp"

#include <fmt/format.h>

#include <cstddef>

#include "cli/tables/metric_cells.hpp"

namespace roofcast::cli {

BestSoFar::BestSoFar(const sim::Sweep& sweep)
    : objective_(sweep.pareto.maximize.empty() ? sweep.pareto.minimize.front()
                                               : sweep.pareto.maximize.front()),
      is_better_when_higher_(!sweep.pareto.maximize.empty()) {}

void BestSoFar::take(const sim::ResultTable& rows) {
  const sim::ResultColumn& column = rows.column(objective_);
  double best = best_.load();
  for (std::size_t row = 0; row < rows.rows(); ++row) {
    const double value = rows.meets(row) ? column.number(row) : std::nan("");
    if (std::isnan(best) || (is_better_when_higher_ ? value > best : value < best)) {
      best = value;
    }
  }
  best_ = best;
}

std::string BestSoFar::text() const {
  const double best = best_.load();
  return std::isnan(best) ? ""
                          : fmt::format(", best of this run: {} {}", column_label(objective_),
                                        column_value(objective_, best));
}

}  // namespace roofcast::cli
