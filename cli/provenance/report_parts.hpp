// SPDX-License-Identifier: Apache-2.0
//
// The page of a sweep in parts, of which memory holds some rows (cli/tables/report_rows.hpp).
#pragma once

#include <cstddef>
#include <vector>

#include "cli/provenance/sweep_parts.hpp"
#include "sim/decide/result_table.hpp"
#include "sim/decide/sweep_points.hpp"

namespace roofcast::cli {

// Sets the rows of a thin table (SweepParts::read_thin) that its page is made of: it becomes the page of the whole table.
// Returns those that are on the page.
std::vector<std::size_t> fetch_rows_to_show(const sim::SweepPoints& points,
                                            const PartsOnDisk& parts, sim::ResultTable& table);

}  // namespace roofcast::cli
