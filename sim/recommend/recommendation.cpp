// SPDX-License-Identifier: Apache-2.0
#include "sim/recommend/recommendation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "base/no_number.hpp"
#include "sim/class_attainment.hpp"
#include "sim/decide/solve.hpp"
#include "sim/decide/sweep_run.hpp"
#include "sim/estimate.hpp"
#include "sim/result/causes.hpp"

namespace roofcast::sim {
namespace {

constexpr std::size_t kBeyond = 3;     // steps of clients beyond what the estimate allows
constexpr double kMostTokens = 1.2e8;  // of a replay; about two seconds of one core
constexpr double kGain = 0.01;         // of the objective, that more clients must bring to be tried
constexpr double kStandardErrors = 2.0;  // standard errors by which conditions hold
constexpr std::size_t kLooks = 8;        // at rows that are near to the conditions
constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
using base::kInfinity;

constexpr std::size_t kStepsBack = 8;  // of clients, at most

// The steps of clients to pass over, by how much a condition is missed.
std::size_t steps_back(double misses) {
  return misses < 0.03 ? 1 : misses < 0.1 ? 2 : misses < 0.4 ? 4 : kStepsBack;
}

double least_slack(const Question& q, const RankedRow& row) {
  double least = kInfinity;
  for (const Condition& condition : q.where) {
    least = std::fmin(least, slack(condition, row.estimate));
  }
  return least;
}

// By the objective. Of those that the standard errors cannot tell from the best that is left, the one with fewer GPUs,
// then with more slack, then with less TPOT is first.
std::vector<const RankedRow*> ranked(const Question& q, std::vector<const RankedRow*> left) {
  const double sign = q.objective.direction == Direction::maximize ? -1.0 : 1.0;
  std::stable_sort(left.begin(), left.end(), [&](const RankedRow* a, const RankedRow* b) {
    return sign * a->value < sign * b->value;
  });
  std::vector<const RankedRow*> order;
  const auto before = [&](const RankedRow* a, const RankedRow* b) {
    const double of_a = least_slack(q, *a);
    const double of_b = least_slack(q, *b);
    return a->estimate.gpus != b->estimate.gpus ? a->estimate.gpus < b->estimate.gpus
           : of_a != of_b                       ? of_a > of_b
                                                : a->estimate.steady.tpot < b->estimate.steady.tpot;
  };
  while (!left.empty()) {
    const RankedRow& best = *left.front();
    const auto end = std::find_if(left.begin(), left.end(), [&](const RankedRow* row) {
      return std::abs(row->value - best.value) > std::hypot(row->error, best.error);
    });
    const auto first = std::min_element(left.begin(), end, before);
    order.push_back(*first);
    left.erase(first);
  }
  return order;
}

// Which row of a group is next. `cost` is the objective, less being better.
class Candidates {
 public:
  Candidates(const Question& question, const Scan& scan, std::size_t system)
      : question_(question),
        scan_(scan),
        clients_(scan.clients()),
        value_(scan.table.column(question.objective.metric->name)),
        sign_(question.objective.direction == Direction::maximize ? -1.0 : 1.0) {
    for (std::size_t row = 0; row < scan.table.rows(); ++row) {
      if (scan.system_of(row) != system || !scan.is_legal(row) || !scan.table.meets(row) ||
          std::isnan(cost(row))) {
        continue;
      }
      ++met_;
      if (choices_.empty() || choices_.back().first != row - row % clients_) {
        choices_.push_back({row - row % clients_, clients_, family_of(row), {row}});
      } else if (const double before = cost(choices_.back().rows.back());
                 cost(row) < before - kGain * std::abs(before)) {
        choices_.back().rows.push_back(row);
      }
    }
  }

  std::size_t met() const { return met_; }

  // kNone where nothing is left that could be better than `best`.
  std::size_t next(double best) {
    if (refined_ != nullptr) {
      for (std::size_t at = (refined_->low + refined_->high) / 2; at > refined_->low; --at) {
        const std::size_t row = refined_->first + at;
        if (scan_.table.fits(row) && cost(row) < cost(refined_->first + refined_->low)) {
          return row;
        }
      }
      refined_ = nullptr;
    }
    const Choice* next = nullptr;
    double least = best;
    for (const Choice& choice : choices_) {
      if (!choice.rows.empty() &&
          (hope(choice) < least || (least == kInfinity && next == nullptr))) {
        next = &choice;
        least = hope(choice);
      }
    }
    return next == nullptr ? kNone : next->rows.back();
  }

  // It cannot be replayed. With fewer clients it may be.
  void pass_over(std::size_t row) {
    Choice& choice = choice_of(row);
    while (!choice.rows.empty() && choice.rows.back() + kStepsBack > row) {
      choice.rows.pop_back();
    }
    choice.high = std::min(choice.high, row - choice.first);
    refined_ = nullptr;
  }

  // Nothing of this deployment and of these clients is to be tried again.
  void leave(std::size_t row) { choice_of(row).rows.clear(); }

  void take(std::size_t row, bool confirmed, const ServingEstimate& replayed) {
    Choice& choice = choice_of(row);
    const std::size_t at = row - choice.first;
    if (confirmed) {
      choice.rows.clear();
      choice.low = at;
      choice.high = choice.is_broken ? choice.high : std::min(choice.high, at + kBeyond);
      refined_ = &choice;
      return;
    }
    choice.high = at;
    choice.is_broken = true;
    const std::size_t back = steps_back(shortfall(question_.where, replayed));
    while (!choice.rows.empty() && choice.rows.back() - choice.first + back > at) {
      choice.rows.pop_back();
    }
    const double reached = sign_ * question_.objective.metric->value(replayed);
    if (!std::isnan(reached) && refined_ == nullptr) {
      choice.floor = std::max(choice.floor, reached);
      const auto [family, is_new] = floors_.try_emplace(choice.family, reached);
      family->second = std::min(family->second, reached);
    }
  }

 private:
  // Rows that differ in clients alone.
  struct Choice {
    std::size_t first;  // its row with the fewest clients; the others follow
    std::size_t high;   // the least place that is broken or not to be tried
    std::pair<std::size_t, std::int64_t> family;
    std::vector<std::size_t> rows;  // candidates: more clients, less cost
    std::size_t low = 0;            // the most that is confirmed
    bool is_broken = false;
    double floor = -kInfinity;  // cost of a broken replay: with fewer clients it is no less
  };

  double cost(std::size_t row) const { return sign_ * value_.number(row); }
  // Estimates of deployments with equal attention DP, precision and stack are alike too hopeful.
  std::pair<std::size_t, std::int64_t> family_of(std::size_t row) const {
    return {row / (clients_ * scan_.shapes.size()),
            scan_.shapes[scan_.shape_of(row)].main.mapping.data_parallel};
  }
  // What the best candidate of a choice may cost.
  double hope(const Choice& choice) const {
    const auto family = floors_.find(choice.family);
    const double floor = choice.floor > -kInfinity ? choice.floor
                         : family == floors_.end() ? -kInfinity
                                                   : family->second;
    // A broken row hides what lies between it and the next to be tried.
    const std::size_t most = choice.first + choice.high - 1;
    const bool hidden = choice.is_broken && choice.high > 0 && scan_.table.fits(most);
    return std::max(cost(hidden ? most : choice.rows.back()), floor);
  }
  Choice& choice_of(std::size_t row) {
    return *std::find_if(choices_.begin(), choices_.end(), [&](const Choice& choice) {
      return choice.first == row - row % clients_;
    });
  }

  const Question& question_;
  const Scan& scan_;
  std::size_t clients_;  // places of the ladder; 1 of a fixed load
  const ResultColumn& value_;
  double sign_;
  std::size_t met_ = 0;
  std::vector<Choice> choices_;
  std::map<std::pair<std::size_t, std::int64_t>, double> floors_;  // by family, the least
  Choice* refined_ = nullptr;
};

// The groups of one scan.
class ScanReplays {
 public:
  ScanReplays(const Question& q, Scan& scan, std::size_t number, const RecommendOptions& options)
      : question_(q),
        scan_(scan),
        number_(number),
        options_(options),
        estimated_(scan.table.rows()),
        unconfirmed_(scan.systems()),
        columns_(*scan.points, scan.table, options.replay, kStandardErrors) {
    for (std::size_t system = 0; system < scan.systems(); ++system) {
      estimate_nearest(system);
      candidates_.emplace_back(q, scan, system);
      Group& group = groups_.emplace_back();
      group.scan = number;
      group.system = system;
      group.met = candidates_.back().met();
    }
  }

  std::vector<Group> run(std::size_t& replays) {
    ReplayPlan plan = plan_of(scan_.points->sweep());
    plan.most_tokens = kMostTokens;
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
    for (std::size_t i = 0; i < groups_.size(); ++i) {
      Group& group = groups_[i];
      if (group.best.empty()) {
        group.best = std::move(unconfirmed_[i]);
      }
      keep_unlike(group);
      if (group.best.empty()) {
        find_nearest(group);
      }
    }
    return std::move(groups_);
  }

 private:
  double cost(const RankedRow& row) const {
    return question_.objective.direction == Direction::maximize ? -row.value : row.value;
  }
  // What a further answer must be better than: the last of those that are wanted.
  double enough(const Group& group) const {
    std::map<std::size_t, double> costs;  // by shape, the least
    for (const RankedRow& row : group.best) {
      const auto [known, is_new] = costs.try_emplace(scan_.shape_of(row.row), cost(row));
      known->second = std::min(known->second, cost(row));
    }
    if (costs.size() < kWantedAnswers) {
      return kInfinity;
    }
    std::vector<double> order;
    for (const auto& [shape, least] : costs) {
      order.push_back(least);
    }
    std::nth_element(order.begin(), order.begin() + (kWantedAnswers - 1), order.end());
    return order[kWantedAnswers - 1];
  }

  // Of each deployment the best answer, the best first.
  void keep_unlike(Group& group) const {
    std::set<std::size_t> shapes;
    std::vector<const RankedRow*> all;
    for (const RankedRow& row : group.best) {
      all.push_back(&row);
    }
    std::vector<RankedRow> best;
    for (const RankedRow* row : ranked(question_, std::move(all))) {
      if (shapes.insert(scan_.shape_of(row->row)).second) {
        best.push_back(*row);
      }
    }
    group.best = std::move(best);
  }

  // In place of what the scan said of it.
  void set_estimate(std::size_t row, const ServingEstimate& e) {
    Workspace workspace;
    set_row(*scan_.points, scan_.table, row, e,
            class_attainment(scan_.points->scenario(row), workspace));
    estimated_[row] = true;
  }
  ServingEstimate estimate_again(std::size_t row) {
    Workspace workspace;
    ServingEstimate e = estimate(scan_.points->scenario(row), workspace);
    set_estimate(row, e);
    return e;
  }

  // Of a system's rows that are among those asked for, the one that misses the conditions least; kNone where none fits.
  template <class Asked>
  std::size_t nearest_row(std::size_t system, Asked is_asked) const {
    std::size_t nearest = kNone;
    double least = kInfinity;
    for (std::size_t row = 0; row < scan_.table.rows(); ++row) {
      if (scan_.system_of(row) != system || !scan_.is_legal(row) || !is_asked(row)) {
        continue;
      }
      if (const double misses = shortfall(question_.where, scan_.table, row); misses < least) {
        least = misses;
        nearest = row;
      }
    }
    return nearest;
  }

  double cost(std::size_t row) const {
    const double value = scan_.table.column(question_.objective.metric->name).number(row);
    return question_.objective.direction == Direction::maximize ? -value : value;
  }

  // A scan follows few requests. Where it says that a deployment does not meet the conditions, the nearest ones may, or
  // miss them by more. They are looked at if they would be better than all that meet.
  void estimate_nearest(std::size_t system) {
    const std::size_t clients = scan_.clients();
    std::set<std::size_t> met;  // deployments
    double best = kInfinity;
    const auto note = [&](std::size_t row) {
      if (scan_.table.meets(row)) {
        met.insert(row / clients);
        best = std::fmin(best, cost(row));
      }
    };
    for (std::size_t row = 0; row < scan_.table.rows(); ++row) {
      if (scan_.system_of(row) == system && scan_.is_legal(row)) {
        note(row);
      }
    }
    for (std::size_t looks = 0; looks < kLooks; ++looks) {
      const std::size_t row = nearest_row(system, [&](std::size_t each) {
        return !estimated_[each] && !met.contains(each / clients) && !(cost(each) >= best);
      });
      if (row == kNone) {
        return;
      }
      estimate_again(row);
      note(row);
    }
  }

  // The row that misses the conditions least, or why most rows do not fit.
  void find_nearest(Group& group) const {
    const ResultColumn& reason = scan_.table.column("reason");
    group.nearest = nearest_row(group.system, [&](std::size_t row) { return estimated_[row]; });
    group.has_nearest = group.nearest != kNone;
    if (group.has_nearest) {
      group.reason = reason.text(group.nearest);
      return;
    }
    std::map<std::string, std::size_t> reasons;
    for (std::size_t row = 0; row < scan_.table.rows(); ++row) {
      if (scan_.system_of(row) == group.system && scan_.is_legal(row)) {
        ++reasons[reason.text(row)];
      }
    }
    const auto most =
        std::max_element(reasons.begin(), reasons.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    group.reason =
        most == reasons.end() ? "no mapping divides the model on these GPUs" : most->first;
  }

  void add_answer(std::vector<RankedRow>& answers, std::size_t row, Judgement judgement,
                  ServingEstimate estimate, double error = 0.0) {
    const double value = question_.objective.metric->value(estimate);
    tell_causes(scan_.points->scenario(row), estimate);
    answers.push_back({number_, row, std::move(judgement), std::move(estimate), value, error});
  }

  void estimate_only(const std::map<std::size_t, std::size_t>& group_of) {
    for (const auto& [row, group] : group_of) {
      ServingEstimate e = estimate_again(row);
      columns_.set_text("replay", row, name(Verdict::estimated));
      ++groups_[group].tries;
      if (scan_.table.meets(row)) {
        add_answer(groups_[group].best, row, {Verdict::estimated, kNotAsked}, std::move(e));
        candidates_[group].leave(row);
      } else {
        candidates_[group].take(row, false, e);
      }
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
      set_estimate(rows[i], replayed[i].closed_form);
      const Judgement judgement = columns_.set(rows[i], replayed[i]);
      ++group.tries;
      if (judgement.verdict == Verdict::estimated) {
        candidates_[at].pass_over(rows[i]);
        if (unconfirmed_[at].empty()) {
          add_answer(unconfirmed_[at], rows[i], judgement, replayed[i].estimate);
        }
        continue;
      }
      const bool meets = judgement.verdict != Verdict::broken;
      candidates_[at].take(rows[i], meets, replayed[i].estimate);
      if (meets) {
        columns_.keep_row(rows[i]);
        add_answer(group.best, rows[i], judgement, replayed[i].estimate,
                   replayed[i].error(*question_.objective.metric));
      } else {
        group.broken_note = group.broken == 0 ? judgement.note : group.broken_note;
        ++group.broken;
        columns_.break_row(rows[i], judgement);
      }
    }
  }

  const Question& question_;
  Scan& scan_;
  std::size_t number_;
  const RecommendOptions& options_;
  std::vector<bool> estimated_;                      // rows that are not as the scan said
  std::vector<std::vector<RankedRow>> unconfirmed_;  // the first of each group
  ReplayColumns columns_;
  std::vector<Candidates> candidates_;
  std::vector<Group> groups_;
};

}  // namespace

Recommendation recommend(const Question& q, const RecommendOptions& options) {
  Recommendation r;
  r.scans = scan_deployments(q, options.threads);
  if (r.scans.empty()) {
    throw base::InputError("error: no deployment of this kind is possible on these GPUs\n");
  }
  refuse_without_value(*r.scans.front().points, r.scans.front().table);
  for (std::size_t i = 0; i < r.scans.size(); ++i) {
    Scan& scan = r.scans[i];
    for (std::size_t row = 0; row < scan.table.rows(); ++row) {
      r.rows += scan.is_legal(row) ? 1 : 0;
    }
    for (Group& group : ScanReplays(q, scan, i, options).run(r.replays)) {
      r.groups.push_back(std::move(group));
    }
  }
  for (const Group& group : r.groups) {
    for (const RankedRow& row : group.best) {
      r.answers.push_back(&row);
    }
  }
  r.answers = ranked(q, std::move(r.answers));
  const auto place = [&](const Group& group) {
    return group.best.empty() ? r.answers.end()
                              : std::find(r.answers.begin(), r.answers.end(), &group.best.front());
  };
  std::stable_sort(r.groups.begin(), r.groups.end(),
                   [&](const Group& a, const Group& b) { return place(a) < place(b); });
  return r;
}

}  // namespace roofcast::sim
