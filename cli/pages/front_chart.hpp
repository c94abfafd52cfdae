// SPDX-License-Identifier: Apache-2.0
//
// The trade-off of a sweep for a page without scripts.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "sim/decide/result_table.hpp"
#include "sim/decide/sweep.hpp"

namespace roofcast::cli {

// What the metric of a page is drawn against: another objective, or else a metric of a condition. nullptr where the
// sweep has none.
const sim::Metric* traded_against(const sim::Metric& metric, const sim::Sweep& sweep);

// A row that a page recommends, from 1, and what it is called.
using Recommended = std::pair<std::size_t, std::string>;

// The rows that meet the conditions, their front and the recommended ones, each a link to "#row-N". In the colours of
// the page. Empty where fewer than two rows have both metrics.
std::string front_svg(const sim::ResultTable& result, const sim::Metric& x, const sim::Metric& y,
                      const std::vector<Recommended>& recommended);

}  // namespace roofcast::cli
