// SPDX-License-Identifier: Apache-2.0
//
// What the result of a sweep says of replays.
//
// columns           replay        confirmed, differs, broken, estimated only; empty if the row was not recommended
//                   replay_note   how many requests, and why
//                   replayed_X    the simulated value of metric X: of conditions and objectives, TTFT and TPOT p95,
//                                 attainment
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/confirm/verdict.hpp"
#include "sim/decide/result_table.hpp"
#include "sim/decide/sweep_points.hpp"

namespace roofcast::sim {

std::vector<std::string> replay_columns(const SweepPoints& points, bool replay);

// The objectives of a sweep.
std::vector<const Metric*> goals_of(const Sweep& sweep);

// A replay that is asked for the conditions and objectives of a sweep, and for `decisive` unless that is null.
ReplayPlan plan_of(const Sweep& sweep, const Metric* decisive = nullptr);

class ReplayColumns {
 public:
  // Adds them to the result of run_sweep. The points and the table outlive this. Conditions have to hold by so many
  // standard errors.
  ReplayColumns(const SweepPoints& points, ResultTable& table, bool replay, double errors = 0.0);

  Judgement set(std::size_t row, const Replayed& replayed);
  // The row no longer meets the conditions, and says why.
  void break_row(std::size_t row, const Judgement& judgement);
  // The row meets the conditions, whatever the estimate says.
  void keep_row(std::size_t row);
  void set_text(std::string_view name, std::size_t row, std::string_view text);
  bool is_set(std::size_t row) const;

 private:
  const std::vector<Condition>& where_;
  std::vector<const Metric*> goals_;
  ResultTable& table_;
  double errors_;
  std::vector<std::pair<const Metric*, ResultColumn*>> metric_columns_;
};

}  // namespace roofcast::sim
