// SPDX-License-Identifier: Apache-2.0
//
// The rows that a sweep recommends, replayed (sim/confirm/replayed_estimate.hpp).
//
// Recommended are the rows of the front, and of each group the best in every objective and in cost. They are replayed.
// A row that the replay breaks no longer meets the conditions, and its `reason` says why. Then the front is found
// again, and what has come into it is replayed, until no row of it is broken.
//
// The same on any number of threads.
#pragma once

#include <atomic>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "sim/confirm/replay_columns.hpp"
#include "sim/decide/result_table.hpp"
#include "sim/decide/sweep_points.hpp"

namespace roofcast::sim {

// For a display. Rounds add to `total`.
struct ReplayProgress {
  std::atomic<std::size_t> done{0};
  std::atomic<std::size_t> total{0};
};

struct ReplayedRowsOptions {
  unsigned threads = 0;              // 0: all cores
  bool replay = true;                // else every recommended row is "estimated only"
  const Metric* decisive = nullptr;  // also an objective, of each group
  ReplayProgress* progress = nullptr;
  // Of all points, from run_sweep; empty: rows that are replayed are estimated again.
  std::span<const ServingEstimate> estimates = {};
  // Of a table with thin columns: sets rows that are recommended, which ascend, before they are judged.
  std::function<void(const std::vector<std::size_t>& rows)> fetch = {};
};

struct ReplayedRows {
  std::size_t confirmed = 0;
  std::size_t far = 0;  // of these, whose replay disagrees with an estimate
  std::size_t differs = 0;
  std::size_t broken = 0;
  std::size_t estimated = 0;
  bool gave_up = false;     // the last rows of the front are not replayed
  std::string broken_note;  // of the first row
  std::string estimated_note;
};

// Replays of rows, which ascend. The same on any number of threads.
std::vector<Replayed> replays_of(const SweepPoints& points, const std::vector<std::size_t>& rows,
                                 const ReplayPlan& plan, const ReplayedRowsOptions& options);

// Adds the columns of replays (sim/confirm/replay_columns.hpp) to the result of run_sweep, and fills them.
ReplayedRows replay_recommended(const SweepPoints& points, ResultTable& table,
                                const ReplayedRowsOptions& options);

// Replays every row that fits. Its metrics become the simulated ones, and so do conditions and ranks.
ReplayedRows replay_all(const SweepPoints& points, ResultTable& table,
                        const ReplayedRowsOptions& options);

}  // namespace roofcast::sim
