// SPDX-License-Identifier: Apache-2.0
//
// How much memory a sweep takes, and whether it has to work in parts (cli/provenance/sweep_parts.hpp) to keep a bound.
//
//   in memory   64 MB + rows · (8 B for each column that is written + what ranks take)
//   in parts    64 MB + rows · (8 B for each objective and the cost + 1 B for each axis of the groups, 4 B where it has 256
//               values or more + 7 B for other texts + what ranks take) + 8 B for each group
//   a page      72 MB more, of at most 20,000 rows (cli/tables/report_rows.hpp)
//   ranks       4 B + 8 B while they are found; 20 B + 24 B for each objective more where there are three or more
//   threads     3.3 MB for each one beyond two
//   replays     350 B for each request of the longest one (sim/confirm/replayed_estimate.hpp) that a thread may have
//
// 64 MB hold the program, one part and the tables of two threads.
#pragma once

#include <string>

#include "cli/sweep/finished_sweep.hpp"
#include "sim/decide/sweep_points.hpp"

namespace roofcast::cli {

struct MemoryPlan {
  bool in_parts = false;
  unsigned threads =
      0;  // as they were asked for; where nobody asked, as many cores as the bound allows
};

// `memory` is a text such as "512 MB"; empty: no bound. Throws InputError where it is none, or where the sweep takes more in
// any case.
MemoryPlan plan_memory(const std::string& memory, const sim::SweepPoints& points,
                       const SweepOutputs& outputs);

}  // namespace roofcast::cli
