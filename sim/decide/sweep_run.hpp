// SPDX-License-Identifier: Apache-2.0
//
// Running a sweep: every point's estimate, on all cores, the same bytes whatever their number.
#pragma once

#include <atomic>
#include <vector>

#include "sim/decide/result_table.hpp"
#include "sim/decide/sweep_points.hpp"
#include "sim/estimate.hpp"

namespace roofcast::sim {

// The columns of a sweep's result. With classes of requests that have objectives: attainment_CLASS and goodput_CLASS of
// each class of the first point. Where they are not known, `reason` says why.
std::vector<std::string> result_columns(const SweepPoints& points);

class SweepWorkspaces;  // sim/sweep_workspaces.hpp

// What every point is like. pareto_rank is 1 on the front and empty where a point does not compete: it misses a
// condition, or lacks an objective. `reason` says why, and is empty where it competes.
//
// `threads` 0 = all cores. `done` counts finished points while it runs, for a progress display. `kept` gets the whole
// estimates, by point; they take more memory than the table.
ResultTable run_sweep(const SweepPoints& points, unsigned threads,
                      std::atomic<std::size_t>* done = nullptr,
                      std::vector<ServingEstimate>* kept = nullptr);
// The same of a part of a sweep, with what earlier parts have left.
ResultTable run_sweep(const SweepPoints& points, unsigned threads, std::atomic<std::size_t>* done,
                      std::vector<ServingEstimate>* kept, SweepWorkspaces& workspaces);

// Finds pareto_rank again, of the rows that meet the conditions. With `front_alone`, ranks beyond 1 are 2: that is much
// faster.
void rank_rows(const SweepPoints& points, ResultTable& table, bool front_alone = false);

// Throws InputError if a condition is on a metric of which no row that fits has a value.
void refuse_without_value(const SweepPoints& points, const ResultTable& table);
// The same of an objective: no point would be on the front.
void refuse_objectives_without_value(const SweepPoints& points, const ResultTable& table);

// What a row says of its point, but for point, axes and rank. `class_shares`: attainment of each class; none where it is
// not known. Not by several threads at once.
void set_row(const SweepPoints& points, ResultTable& table, std::size_t row,
             const ServingEstimate& estimate, const std::vector<double>& class_shares);

// Fills what limits some rows, where no row says it yet.
void tell_limits(const SweepPoints& points, ResultTable& table,
                 const std::vector<std::size_t>& rows);

// The whole estimates, by point; they take more memory than the table.
std::vector<ServingEstimate> sweep_estimates(const SweepPoints& points, unsigned threads);

}  // namespace roofcast::sim
