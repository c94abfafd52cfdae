// SPDX-License-Identifier: Apache-2.0
//
// Which columns of a sweep's result are written. `columns:` of the sweep says it:
//
//   (nothing)      those that apply: the others are empty in every row
//   all            every one
//   [name, …]      these metrics, and those of conditions and objectives
//
// What applies follows from the sweep alone, not from its rows: from the sections of its base that say something, and
// from what its axes set. So parts of a sweep, its shards and the whole have the same columns. Where a reference may say
// something (`prices: FILE`), it is taken to.
//
// What limits a row (limited_by_…, limited_share_…) takes several times as long as its estimate. It is told of every row
// of a sweep of up to kMostExplained points, and of a larger one that asks for such a column.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/decide/sweep.hpp"
#include "sim/result/metrics.hpp"

namespace roofcast::sim {

// Whether the base of a sweep, or one of its axes, may say something at a path such as "traffic.objectives".
bool may_say(const Sweep& sweep, std::string_view path);

inline constexpr std::size_t kMostExplained = 10'000;
// Whether every row says what limits it.
bool explains_rows(const Sweep& sweep);

// False where no row can have a value of the metric.
bool applies(const Metric& metric, const Sweep& sweep);

// Those of `columns` (of sim/decide/sweep_run.hpp, and of replays) that the sweep asks for, in the same order. Columns
// that are no metrics stay.
std::vector<std::string> shown_columns(const Sweep& sweep, const std::vector<std::string>& columns);

}  // namespace roofcast::sim
