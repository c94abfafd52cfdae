// SPDX-License-Identifier: Apache-2.0
//
// How much memory a sweep takes, and whether it has to work in parts (cli/provenance/sweep_parts.hpp) to keep a bound.
//
//   in memory   64 MB + rows · (8 B for each column that is written + what ranks take)
//   in parts    64 MB + rows · (8 B for each objective and the cost + 1 B for each axis of the groups, 4 B where it has 256
//               values or more + 7 B for other texts + what ranks take) + 8 B for each group
//   a page      72 MB more, of at most 20,000 rows (cli/tables/report_rows.hpp)
//   ranks       4 B + 8 B while they are found; 20 B + 24 B for each objective more where there are three or more
//
// 64 MB hold the program, one part and the tables of two threads. Measured with two objectives: 73 MB for a
// million rows, 458 MB for ten million; with a page of a million 129 MB in parts and 437 MB in memory.
#pragma once

#include <string>

#include "sim/decide/sweep_points.hpp"

namespace roofcast::cli {

// `memory` is a text such as "512 MB"; empty: no bound, so false. Throws InputError where it is none, or where the sweep
// takes more in any case. `simulate`: every row is replayed, and kept.
bool needs_parts(const std::string& memory, const sim::SweepPoints& points, bool simulate,
                 bool report);

}  // namespace roofcast::cli
