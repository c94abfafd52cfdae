// SPDX-License-Identifier: Apache-2.0
#include "sim/confirm/replayed_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <mutex>
#include <set>

#include "base/threads.hpp"
#include "sim/decide/shown_columns.hpp"
#include "sim/decide/sweep_run.hpp"
#include "sim/estimate.hpp"
#include "sim/result/causes.hpp"

namespace roofcast::sim {
namespace {

constexpr std::size_t kMostRounds = 40;
constexpr std::size_t kMostRows = 4000;   // replayed of one sweep
constexpr std::size_t kMostGroups = 256;  // whose best rows are recommended beside the front
constexpr std::size_t kChunk = 16;        // rows that a thread takes at once

// Points that share the tables of their iterations, side by side.
void sort_by_parts(const SweepPoints& points, std::vector<std::size_t>& rows) {
  using Parts = std::array<const void*, 5>;
  std::vector<std::pair<Parts, std::size_t>> keyed;
  for (const std::size_t row : rows) {
    const ScenarioView s = points.scenario(row);
    keyed.push_back({{s.platform, s.model, s.precision, s.mapping, s.serving}, row});
  }
  std::sort(keyed.begin(), keyed.end());
  std::transform(keyed.begin(), keyed.end(), rows.begin(),
                 [](const auto& each) { return each.second; });
}

// Replays rows on all threads. `take` is called by one thread at a time, in any order.
template <class Take>
void replay_rows(const SweepPoints& points, std::vector<std::size_t> rows, const ReplayPlan& plan,
                 const ReplayedRowsOptions& options, const Take& take) {
  if (options.progress != nullptr) {
    options.progress->total += rows.size();
  }
  sort_by_parts(points, rows);
  const bool explained = explains_rows(points.sweep());
  const unsigned threads = base::thread_count(options.threads);
  const std::size_t chunk = std::clamp<std::size_t>(rows.size() / (4 * threads), 1, kChunk);
  std::atomic<std::size_t> next{0};
  std::mutex turn;
  base::on_threads(threads, [&](unsigned) {
    ReplaySpace space;
    Workspace workspace;
    const auto estimated = [&](const ScenarioView& s, std::size_t row) {
      if (!options.estimates.empty()) {
        return options.estimates[row];
      }
      ServingEstimate e = estimate(s, workspace);
      if (explained) {
        tell_causes(s, e, workspace);
      }
      return e;
    };
    for (std::size_t begin = next.fetch_add(chunk); begin < rows.size();
         begin = next.fetch_add(chunk)) {
      for (std::size_t i = begin; i < std::min(rows.size(), begin + chunk); ++i) {
        const ScenarioView s = points.scenario(rows[i]);
        const ServingEstimate closed_form = estimated(s, rows[i]);
        const Replayed replayed = replay(s, points.stream(rows[i]), closed_form, plan, space);
        {
          const std::lock_guard<std::mutex> lock(turn);
          take(rows[i], replayed);
        }
        if (options.progress != nullptr) {
          ++options.progress->done;
        }
      }
    }
  });
}

// The best row of each group by a metric.
void add_best(const SweepPoints& points, const ResultTable& table, const Metric& metric,
              std::set<std::size_t>& rows) {
  const PointGroups groups(points);
  if (groups.count() > kMostGroups) {
    return;
  }
  const ResultColumn& column = table.column(metric.name);
  const double sign = metric.better == Better::lower ? 1.0 : -1.0;
  std::vector<std::size_t> best(groups.count(), table.rows());
  for (std::size_t row = 0; row < table.rows(); ++row) {
    if (!table.meets(row) || std::isnan(column.number(row))) {
      continue;
    }
    std::size_t& known = best[groups.of(row)];
    if (known == table.rows() || sign * column.number(row) < sign * column.number(known)) {
      known = row;
    }
  }
  for (const std::size_t row : best) {
    if (row != table.rows()) {
      rows.insert(row);
    }
  }
}

// Those of the front, and the best of each group. They may be all rows, so they are not kept.
class Recommended {
 public:
  Recommended(const SweepPoints& points, const ResultTable& table, const Metric* decisive)
      : table_(table) {
    std::vector<const Metric*> goals = goals_of(points.sweep());
    add_metric(goals, find_metric("cost_usd_per_mtok"));
    add_metric(goals, decisive);
    for (const Metric* goal : goals) {
      if (goal->better != Better::none) {
        add_best(points, table, *goal, best_);
      }
    }
  }

  template <class Take>
  void each(const Take& take) const {
    for (std::size_t row = 0; row < table_.rows(); ++row) {
      if (table_.is_on_front(row) || best_.contains(row)) {
        take(row);
      }
    }
  }

 private:
  const ResultTable& table_;
  std::set<std::size_t> best_;
};

void count(const Judgement& judgement, ReplayedRows& result) {
  const auto first = [](std::string& kept, const std::string& note) {
    kept = kept.empty() ? note : kept;
  };
  switch (judgement.verdict) {
    case Verdict::confirmed:
      ++result.confirmed;
      result.far += judgement.far ? 1U : 0U;
      break;
    case Verdict::differs:
      ++result.differs;
      break;
    case Verdict::broken:
      ++result.broken;
      first(result.broken_note, judgement.note);
      break;
    case Verdict::estimated:
      ++result.estimated;
      first(result.estimated_note, judgement.note);
      break;
  }
}

}  // namespace

std::vector<Replayed> replays_of(const SweepPoints& points, const std::vector<std::size_t>& rows,
                                 const ReplayPlan& plan, const ReplayedRowsOptions& options) {
  std::vector<Replayed> by_row(rows.size());
  replay_rows(points, rows, plan, options, [&](std::size_t row, const Replayed& r) {
    by_row[static_cast<std::size_t>(std::lower_bound(rows.begin(), rows.end(), row) -
                                    rows.begin())] = r;
  });
  return by_row;
}

ReplayedRows replay_recommended(const SweepPoints& points, ResultTable& table,
                                const ReplayedRowsOptions& options) {
  ReplayColumns columns(points, table, options.replay);
  ReplayedRows result;
  if (!options.replay) {
    Recommended(points, table, options.decisive).each([&](std::size_t row) {
      columns.set_text("replay", row, name(Verdict::estimated));
      count({Verdict::estimated, kNotAsked}, result);
    });
    return result;
  }
  const ReplayPlan plan = plan_of(points.sweep(), options.decisive);
  std::size_t replayed = 0;
  for (std::size_t round = 0;; ++round) {
    const Recommended recommended(points, table, options.decisive);
    std::vector<std::size_t> rows;
    std::size_t more = 0;
    recommended.each([&](std::size_t row) {
      if (columns.is_set(row)) {
        return;
      }
      if (replayed + rows.size() < kMostRows) {
        rows.push_back(row);
      } else {
        ++more;
      }
    });
    if (rows.empty() && more == 0) {
      break;
    }
    if (round == kMostRounds || more > 0) {
      Replayed none;
      none.why_not = round == kMostRounds
                         ? fmt::format("not replayed: gave up after {} rounds", round)
                         : fmt::format("not replayed: more than {} rows", kMostRows);
      recommended.each([&](std::size_t row) {
        if (!columns.is_set(row)) {
          count(columns.set(row, none), result);
        }
      });
      result.gave_up = true;
      break;
    }
    if (options.fetch) {
      options.fetch(rows);
    }
    replayed += rows.size();
    const std::vector<Replayed> by_row = replays_of(points, rows, plan, options);
    bool any_broken = false;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const Judgement judgement = columns.set(rows[i], by_row[i]);
      count(judgement, result);
      if (judgement.verdict == Verdict::broken) {
        any_broken = true;
        columns.break_row(rows[i], judgement);
      }
    }
    if (any_broken) {
      rank_rows(points, table, true);
    }
  }
  if (result.broken > 0) {
    rank_rows(points, table);
  }
  return result;
}

ReplayedRows replay_all(const SweepPoints& points, ResultTable& table,
                        const ReplayedRowsOptions& options) {
  ReplayColumns columns(points, table, true);
  ReplayedRows result;
  std::vector<std::size_t> rows;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    if (table.fits(row)) {
      rows.push_back(row);
    }
  }
  ReplayPlan plan = plan_of(points.sweep(), options.decisive);
  plan.once = true;
  std::vector<Judgement> judgements(table.rows());
  replay_rows(points, rows, plan, options, [&](std::size_t row, const Replayed& replayed) {
    judgements[row] = columns.set(row, replayed);
    if (replayed.done()) {
      set_row(points, table, row, replayed.estimate, replayed.class_attainment);
    }
  });
  for (const std::size_t row : rows) {
    count(judgements[row], result);
  }
  rank_rows(points, table);
  return result;
}

}  // namespace roofcast::sim
