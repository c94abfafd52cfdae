// SPDX-License-Identifier: Apache-2.0
#include "sim/recommend/recommendation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "sim/decide/solve.hpp"
#include "sim/decide/sweep_run.hpp"
#include "sim/estimate.hpp"

namespace roofcast::sim {
namespace {

constexpr std::size_t kWanted = 2;  // answers of a group
constexpr std::size_t kBeyond = 4;  // steps of clients beyond what the closed form allows
constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

// The steps of clients to pass over, by how much a condition is missed.
std::size_t steps_back(double misses) {
  return misses < 0.03 ? 1 : misses < 0.1 ? 2 : misses < 0.4 ? 4 : 8;
}

// Which row of a group is next.
class Candidates {
 public:
  Candidates(const Question& question, const Scan& scan, std::size_t system)
      : question_(question),
        scan_(scan),
        clients_(scan.clients()),
        value_(scan.table.column(question.objective.metric->name)),
        sign_(question.objective.direction == Direction::maximize ? -1.0 : 1.0) {
    const ResultColumn& tpot = scan.table.column("tpot_mean_s");
    for (std::size_t row = 0; row < scan.table.rows(); ++row) {
      if (scan.system_of(row) == system && scan.is_legal(row) && scan.table.meets(row) &&
          !std::isnan(cost(row))) {
        rows_.push_back(row);
      }
    }
    std::stable_sort(rows_.begin(), rows_.end(), [&](std::size_t a, std::size_t b) {
      return cost(a) != cost(b) ? cost(a) < cost(b) : tpot.number(a) < tpot.number(b);
    });
  }

  std::size_t size() const { return rows_.size(); }

  // kNone where nothing is left. `best` is the cost of the best answer, infinite before there are enough.
  std::size_t next(double best) {
    if (refined_ != kNone) {
      const State& s = states_[refined_];
      for (std::size_t at = (s.low + s.high) / 2; at > s.low; --at) {
        const std::size_t row = refined_ * clients_ + at;
        if (scan_.table.fits(row) && cost(row) < cost(refined_ * clients_ + s.low)) {
          return row;
        }
      }
      refined_ = kNone;
    }
    while (at_ < rows_.size() && is_out(rows_[at_])) {
      ++at_;
    }
    return at_ == rows_.size() || cost(rows_[at_]) >= best ? kNone : rows_[at_];
  }

  // Nothing of this deployment is to be tried again.
  void leave(std::size_t row) { states_[scan_.choice_of(row)] = State{0, 0, 0, false}; }

  void take(std::size_t row, bool confirmed, const ServingEstimate& replayed) {
    const std::size_t choice = scan_.choice_of(row);
    const std::size_t at = row - choice * clients_;
    State& s = states_.try_emplace(choice, State{0, clients_, clients_, false}).first->second;
    if (confirmed) {
      s.low = at;
      s.high = s.is_broken ? s.high : std::min({clients_, at + kBeyond, s.high});
      s.cap = 0;
      refined_ = choice;
    } else {
      s.high = at;
      s.is_broken = true;
      s.cap =
          std::min(s.cap, at - std::min(at, steps_back(shortfall(question_.where, replayed))) + 1);
    }
  }

 private:
  // Places on the ladder of clients: the most that is confirmed, the least that is broken or not tried, and where
  // candidates end.
  struct State {
    std::size_t low;
    std::size_t high;
    std::size_t cap;
    bool is_broken;
  };

  double cost(std::size_t row) const { return sign_ * value_.number(row); }
  bool is_out(std::size_t row) const {
    const auto known = states_.find(scan_.choice_of(row));
    return known != states_.end() && row - known->first * clients_ >= known->second.cap;
  }

  const Question& question_;
  const Scan& scan_;
  std::size_t clients_;  // places of the ladder; 1 of a fixed load
  const ResultColumn& value_;
  double sign_;
  std::vector<std::size_t> rows_;
  std::size_t at_ = 0;
  std::map<std::size_t, State> states_;  // by choice
  std::size_t refined_ = kNone;          // a choice
};

// What a row is like by the closed form.
ServingEstimate estimate_of(const Scan& scan, std::size_t row) {
  Workspace workspace;
  return estimate(scan.points->scenario(row), workspace);
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
    for (;;) {
      std::map<std::size_t, std::size_t> group_of;  // by row
      for (std::size_t i = 0; i < groups_.size(); ++i) {
        const std::size_t row =
            groups_[i].tries < kMostTries ? candidates_[i].next(enough(groups_[i])) : kNone;
        if (row != kNone) {
          group_of[row] = i;
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
      keep_unlike(group);
      if (group.best.empty()) {
        find_nearest(question_, scan_, group);
      }
    }
    return std::move(groups_);
  }

 private:
  double cost(const RankedRow& row) const {
    return question_.objective.direction == Direction::maximize ? -row.value : row.value;
  }
  bool better(const RankedRow& a, const RankedRow& b) const {
    return cost(a) != cost(b) ? cost(a) < cost(b) : a.estimate.steady.tpot < b.estimate.steady.tpot;
  }

  // What a further answer must be better than.
  double enough(const Group& group) const {
    std::set<std::size_t> shapes;
    double best = std::numeric_limits<double>::infinity();
    for (const RankedRow& row : group.best) {
      shapes.insert(scan_.shape_of(row.row));
      best = std::min(best, cost(row));
    }
    return shapes.size() < kWanted ? std::numeric_limits<double>::infinity() : best;
  }

  // Of each deployment the best answer, the best first.
  void keep_unlike(Group& group) const {
    std::stable_sort(group.best.begin(), group.best.end(),
                     [&](const RankedRow& a, const RankedRow& b) { return better(a, b); });
    std::set<std::size_t> shapes;
    std::erase_if(group.best, [&](const RankedRow& row) {
      return !shapes.insert(scan_.shape_of(row.row)).second;
    });
  }

  void add_answer(Group& group, std::size_t row, Judgement judgement, ServingEstimate estimate) {
    const double value = question_.objective.metric->value(estimate);
    group.best.push_back({group.scan, row, std::move(judgement), std::move(estimate), value});
  }

  void estimate_only(const std::map<std::size_t, std::size_t>& group_of) {
    for (const auto& [row, group] : group_of) {
      columns_.set_text("replay", row, name(Verdict::estimated));
      add_answer(groups_[group], row, {Verdict::estimated, "--no-replay"}, estimate_of(scan_, row));
      candidates_[group].leave(row);
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
      ++group.tries;
      if (judgement.verdict == Verdict::estimated) {
        add_answer(group, rows[i], judgement, replayed[i].estimate);
        candidates_[at].leave(rows[i]);
        continue;
      }
      const bool confirmed = judgement.verdict == Verdict::confirmed;
      candidates_[at].take(rows[i], confirmed, replayed[i].estimate);
      if (confirmed) {
        columns_.keep_row(rows[i]);
        add_answer(group, rows[i], judgement, replayed[i].estimate);
      } else {
        group.broken_note = group.broken == 0 ? judgement.note : group.broken_note;
        ++group.broken;
        columns_.break_row(rows[i], judgement);
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
