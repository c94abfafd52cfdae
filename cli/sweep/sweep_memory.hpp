// SPDX-License-Identifier: Apache-2.0
//
// How much memory a sweep takes, and whether it has to work in parts (cli/provenance/sweep_parts.hpp) to keep a bound.
//
//   in memory   64 MB + rows · (8 B for each column that is written + what ranks take)
//   in parts    64 MB + rows · (8 B for each objective, each condition, costs and ranks + 4 B for each of four texts +
//               what ranks take)
//   ranks       8 B for each objective + 16 B, while they are found
//
// 64 MB hold the program, one part and the tables of two threads. Measured with a million rows and two: 400 B, and 82 to 93 B a row.
#pragma once

#include <string>

#include "sim/decide/sweep_points.hpp"

namespace roofcast::cli {

// `memory` is a text such as "512 MB"; empty: no bound, so false. Throws InputError where it is none, or where the sweep
// takes more in any case. `every_row`: a report wants them all.
bool needs_parts(const std::string& memory, const sim::SweepPoints& points, bool every_row);

}  // namespace roofcast::cli
