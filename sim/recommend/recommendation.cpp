// SPDX-License-Identifier: Apache-2.0
#include "sim/recommend/recommendation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "sim/decide/solve.hpp"
#include "sim/decide/sweep_run.hpp"
#include "sim/estimate.hpp"

namespace roofcast::sim {
namespace {

constexpr std::size_t kWanted = 2;  // answers of a group
constexpr double kLeastTighter = 0.02;
constexpr double kMostTighter = 0.3;

// The rows of one group, from the best on.
class Candidates {
 public:
  Candidates(const Question& question, const Scan& scan, std::size_t system)
      : question_(question), scan_(scan) {
    const ResultColumn& value = scan.table.column(question.objective.metric->name);
    const ResultColumn& tpot = scan.table.column("tpot_mean_s");
    const double sign = question.objective.direction == Direction::maximize ? -1.0 : 1.0;
    for (std::size_t row = 0; row < scan.table.rows(); ++row) {
      if (scan.system_of(row) == system && scan.is_legal(row) && scan.table.meets(row) &&
          !std::isnan(value.number(row))) {
        rows_.push_back(row);
      }
    }
    std::stable_sort(rows_.begin(), rows_.end(), [&](std::size_t a, std::size_t b) {
      const double left = sign * value.number(a);
      const double right = sign * value.number(b);
      return left != right ? left < right : tpot.number(a) < tpot.number(b);
    });
  }

  std::size_t size() const { return rows_.size(); }
  bool ended() {
    while (at_ < rows_.size() && is_out(rows_[at_])) {
      ++at_;
    }
    return at_ == rows_.size();
  }
  std::size_t take() { return rows_[at_++]; }

  // An answer: its deployment needs no other.
  void leave_out_shape(std::size_t row) { done_.push_back(scan_.shape_of(row)); }

  void tighten(std::size_t row, const Replayed& replayed) {
    const auto [at, is_new] = tighter_.try_emplace(scan_.choice_of(row), question_.where);
    for (std::size_t i = 0; i < question_.where.size(); ++i) {
      const Condition& c = question_.where[i];
      const double misses = -slack(c, replayed.estimate);
      if (misses > 0.0) {
        Condition now = c;
        now.bound = scan_.table.column(c.metric).number(row);
        at->second[i] = loosened(now, -std::clamp(misses, kLeastTighter, kMostTighter));
      }
    }
  }

 private:
  bool is_out(std::size_t row) const {
    if (std::find(done_.begin(), done_.end(), scan_.shape_of(row)) != done_.end()) {
      return true;
    }
    const auto known = tighter_.find(scan_.choice_of(row));
    return known != tighter_.end() && shortfall(known->second, scan_.table, row) > 0.0;
  }

  const Question& question_;
  const Scan& scan_;
  std::vector<std::size_t> rows_;
  std::size_t at_ = 0;
  std::vector<std::size_t> done_;                          // shapes
  std::map<std::size_t, std::vector<Condition>> tighter_;  // by choice
};

// What a row is like by the closed form.
ServingEstimate estimate_of(const Scan& scan, std::size_t row) {
  Workspace workspace;
  return estimate(scan.points->scenario(row), workspace);
}

void add_answer(Group& group, std::size_t row, Judgement judgement, ServingEstimate estimate,
                const Objective& objective) {
  const double value = objective.metric->value(estimate);
  group.best.push_back({group.scan, row, std::move(judgement), std::move(estimate), value});
}

// The row that misses the conditions least, or why most rows do not fit.
void find_nearest(const Question& q, const Scan& scan, Group& group) {
  double least = std::numeric_limits<double>::infinity();
  std::map<std::string, std::size_t> reasons;
  for (std::size_t row = 0; row < scan.table.rows(); ++row) {
    if (scan.system_of(row) != group.system || !scan.is_legal(row)) {
      continue;
    }
    const double misses = shortfall(q.where, scan.table, row);
    if (misses < least) {
      least = misses;
      group.nearest = row;
      group.has_nearest = true;
    }
    ++reasons[scan.table.column("reason").text(row)];
  }
  const auto most =
      std::max_element(reasons.begin(), reasons.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  group.reason = group.has_nearest       ? scan.table.column("reason").text(group.nearest)
                 : most == reasons.end() ? "no mapping divides the model on these GPUs"
                                         : most->first;
}

// The groups of one scan.
class ScanReplays {
 public:
  ScanReplays(const Question& q, Scan& scan, std::size_t number, const RecommendOptions& options)
      : question_(q),
        scan_(scan),
        options_(options),
        columns_(*scan.points, scan.table, options.replay) {
    for (std::size_t system = 0; system < scan.systems(); ++system) {
      candidates_.emplace_back(q, scan, system);
      Group& group = groups_.emplace_back();
      group.scan = number;
      group.system = system;
      group.met = candidates_.back().size();
    }
  }

  std::vector<Group> run(std::size_t& replays) {
    const ReplayPlan plan = plan_of(scan_.points->sweep());
    for (std::size_t round = 0;; ++round) {
      std::map<std::size_t, std::size_t> group_of;  // by row
      for (std::size_t i = 0; i < groups_.size(); ++i) {
        if (groups_[i].best.size() == kWanted || candidates_[i].ended()) {
          continue;
        }
        groups_[i].gave_up = round == kMostTries && groups_[i].best.empty();
        if (round < kMostTries) {
          group_of[candidates_[i].take()] = i;
        }
      }
      if (group_of.empty()) {
        break;
      }
      options_.replay ? replay(group_of, plan) : estimate_only(group_of);
      replays += options_.replay ? group_of.size() : 0;
    }
    rank_rows(*scan_.points, scan_.table);
    for (Group& group : groups_) {
      if (group.best.empty()) {
        find_nearest(question_, scan_, group);
      }
    }
    return std::move(groups_);
  }

 private:
  void estimate_only(const std::map<std::size_t, std::size_t>& group_of) {
    for (const auto& [row, group] : group_of) {
      columns_.set_text("replay", row, name(Verdict::estimated));
      add_answer(groups_[group], row, {Verdict::estimated, "--no-replay"}, estimate_of(scan_, row),
                 question_.objective);
      candidates_[group].leave_out_shape(row);
    }
  }

  void replay(const std::map<std::size_t, std::size_t>& group_of, const ReplayPlan& plan) {
    std::vector<std::size_t> rows;
    for (const auto& [row, group] : group_of) {
      rows.push_back(row);
    }
    const ReplayedRowsOptions how{options_.threads, true, nullptr, options_.progress};
    const std::vector<Replayed> replayed = replays_of(*scan_.points, rows, plan, how);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const std::size_t at = group_of.at(rows[i]);
      Group& group = groups_[at];
      const Judgement judgement = columns_.set(rows[i], replayed[i]);
      if (judgement.verdict == Verdict::broken) {
        group.broken_note = group.broken == 0 ? judgement.note : group.broken_note;
        ++group.broken;
        columns_.break_row(rows[i], judgement);
        candidates_[at].tighten(rows[i], replayed[i]);
      } else {
        add_answer(group, rows[i], judgement, replayed[i].estimate, question_.objective);
        candidates_[at].leave_out_shape(rows[i]);
      }
    }
  }

  const Question& question_;
  Scan& scan_;
  const RecommendOptions& options_;
  ReplayColumns columns_;
  std::vector<Candidates> candidates_;
  std::vector<Group> groups_;
};

}  // namespace

Recommendation recommend(const Question& q, const RecommendOptions& options) {
  Recommendation r;
  r.scans = scan_deployments(q, options.threads);
  for (std::size_t i = 0; i < r.scans.size(); ++i) {
    Scan& scan = r.scans[i];
    for (std::size_t row = 0; row < scan.table.rows(); ++row) {
      r.rows += scan.is_legal(row) ? 1 : 0;
    }
    for (Group& group : ScanReplays(q, scan, i, options).run(r.replays)) {
      r.groups.push_back(std::move(group));
    }
  }
  const double sign = q.objective.direction == Direction::maximize ? -1.0 : 1.0;
  const auto better = [&](const RankedRow& a, const RankedRow& b) {
    return a.value != b.value ? sign * a.value < sign * b.value
                              : a.estimate.steady.tpot < b.estimate.steady.tpot;
  };
  for (Group& group : r.groups) {
    std::stable_sort(group.best.begin(), group.best.end(), better);
  }
  std::stable_sort(r.groups.begin(), r.groups.end(), [&](const Group& a, const Group& b) {
    return a.best.empty() || b.best.empty() ? b.best.empty() && !a.best.empty()
                                            : better(a.best.front(), b.best.front());
  });
  for (const Group& group : r.groups) {
    for (const RankedRow& row : group.best) {
      r.answers.push_back(&row);
    }
  }
  std::stable_sort(r.answers.begin(), r.answers.end(),
                   [&](const RankedRow* a, const RankedRow* b) { return better(*a, *b); });
  return r;
}

}  // namespace roofcast::sim
