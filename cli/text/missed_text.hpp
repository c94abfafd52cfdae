// SPDX-License-Identifier: Apache-2.0
//
// Which conditions a row of results misses, and by how much, for people.
#pragma once

#include <string>
#include <vector>

#include "sim/decide/result_table.hpp"
#include "sim/decide/sweep_points.hpp"

namespace roofcast::cli {

// "misses ttft_p95_s <= 1 by 37 %: 1.37 s"; the reason of the row where it misses no bound.
std::string missed_text(const std::vector<sim::Condition>& where, const sim::ResultTable& table,
                        std::size_t row);

// "deployment.tensor_parallel 8, traffic.concurrency 4"
std::string point_text(const sim::SweepPoints& points, std::size_t row);

}  // namespace roofcast::cli
