// SPDX-License-Identifier: Apache-2.0
//
// Rows of a result that decide what is attained under a limit: for each value of a column, each latency and
// each limit of it, the row that meets every constraint with the most throughput per GPU.
//
// Latencies are the metrics in seconds of which less is better, and the upper ends of their 90 % intervals.
#pragma once

#include <string>
#include <vector>

#include "sim/decide/result_table.hpp"

namespace roofcast::cli {

// In the table's order, each once; none where the table has no throughput_tok_per_s_per_gpu. `series` is a
// column of the table, or empty for one curve of all rows.
std::vector<std::size_t> attainment_rows(const sim::ResultTable& table, const std::string& series);

}  // namespace roofcast::cli
