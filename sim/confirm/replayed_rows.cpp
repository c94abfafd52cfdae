// SPDX-License-Identifier: Apache-2.0
#include "sim/confirm/replayed_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <mutex>
#include <set>

#include "base/threads.hpp"
#include "sim/decide/sweep_run.hpp"
#include "sim/estimate.hpp"

namespace roofcast::sim {
namespace {

constexpr std::size_t kMostRounds = 40;
constexpr std::size_t kMostRows = 4000;   // replayed of one sweep
constexpr std::size_t kMostGroups = 256;  // whose best rows are recommended beside the front
constexpr std::size_t kChunk = 16;        // rows that a thread takes at once
constexpr std::string_view kAlways[] = {"ttft_p95_s", "tpot_p95_s", "attainment"};

std::vector<const Metric*> goals_of(const Sweep& sweep) {
  std::vector<const Metric*> goals;
  for (const auto* names : {&sweep.pareto.maximize, &sweep.pareto.minimize}) {
    for (const std::string& name : *names) {
      goals.push_back(find_metric(name));
    }
  }
  return goals;
}

void add(std::vector<const Metric*>& metrics, const Metric* metric) {
  if (metric != nullptr && std::find(metrics.begin(), metrics.end(), metric) == metrics.end()) {
    metrics.push_back(metric);
  }
}

std::vector<const Metric*> shown_metrics(const Sweep& sweep) {
  std::vector<const Metric*> shown = simulated_metrics(sweep.where);
  for (const Metric* goal : goals_of(sweep)) {
    add(shown, is_simulated(*goal) ? goal : nullptr);
  }
  for (const std::string_view name : kAlways) {
    add(shown, find_metric(name));
  }
  return shown;
}

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
  const unsigned threads = base::thread_count(options.threads);
  const std::size_t chunk = std::clamp<std::size_t>(rows.size() / (4 * threads), 1, kChunk);
  std::atomic<std::size_t> next{0};
  std::mutex turn;
  base::on_threads(threads, [&](unsigned) {
    ReplaySpace space;
    Workspace estimates;
    for (std::size_t begin = next.fetch_add(chunk); begin < rows.size();
         begin = next.fetch_add(chunk)) {
      for (std::size_t i = begin; i < std::min(rows.size(), begin + chunk); ++i) {
        const ScenarioView s = points.scenario(rows[i]);
        const Replayed replayed =
            replay(s, points.stream(rows[i]), estimate(s, estimates), plan, space);
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
  const std::vector<std::size_t> axes = points.sweep().group_axes();
  std::size_t count = 1;
  for (const std::size_t axis : axes) {
    count *= points.sweep().axes[axis].values.size();
    if (count > kMostGroups) {
      return;
    }
  }
  const ResultColumn& column = table.column(metric.name);
  const double sign = metric.better == Better::lower ? 1.0 : -1.0;
  std::vector<std::size_t> best(count, table.rows());
  for (std::size_t row = 0; row < table.rows(); ++row) {
    if (!table.meets(row) || std::isnan(column.number(row))) {
      continue;
    }
    std::size_t group = 0;
    for (const std::size_t axis : axes) {
      group = group * points.sweep().axes[axis].values.size() + points.value_index(row, axis);
    }
    std::size_t& known = best[group];
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

std::set<std::size_t> recommended(const SweepPoints& points, const ResultTable& table,
                                  const Metric* decisive) {
  std::vector<const Metric*> goals = goals_of(points.sweep());
  add(goals, find_metric("cost_usd_per_mtok"));
  add(goals, decisive);
  std::set<std::size_t> rows;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    if (table.is_on_front(row)) {
      rows.insert(row);
    }
  }
  for (const Metric* goal : goals) {
    if (goal->better != Better::none) {
      add_best(points, table, *goal, rows);
    }
  }
  return rows;
}

// The columns of replays.
class Columns {
 public:
  Columns(const SweepPoints& points, ResultTable& table, bool replay)
      : where_(points.sweep().where), table_(table) {
    for (const std::string& name : replay_columns(points, replay)) {
      table_.add_column(name);
    }
    for (const Metric* metric : shown_metrics(points.sweep())) {
      const std::string name = fmt::format("replayed_{}", metric->name);
      if (table_.find(name) != nullptr) {
        shown_.emplace_back(metric, &table_.column(name));
      }
    }
  }

  Judgement set(std::size_t row, const Replayed& replayed) {
    const Judgement judgement = judge(where_, replayed);
    set_text("replay", row, name(judgement.verdict));
    set_text("replay_note", row, judgement.note);
    for (const auto& [metric, column] : shown_) {
      column->set(row, replayed.done() ? metric->value(replayed.estimate) : NAN);
    }
    return judgement;
  }
  void set_text(std::string_view name, std::size_t row, std::string_view text) {
    ResultColumn& column = table_.column(name);
    column.set_code(row, column.code_of(text));
  }
  bool is_set(std::size_t row) const { return !table_.column("replay").is_empty(row); }

 private:
  const std::vector<Condition>& where_;
  ResultTable& table_;
  std::vector<std::pair<const Metric*, ResultColumn*>> shown_;
};

void count(const Judgement& judgement, ReplayedRows& result) {
  const auto first = [](std::string& kept, const std::string& note) {
    kept = kept.empty() ? note : kept;
  };
  switch (judgement.verdict) {
    case Verdict::confirmed:
      ++result.confirmed;
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

ReplayPlan plan_of(const Sweep& sweep, const Metric* decisive) {
  ReplayPlan plan;
  plan.asked = simulated_metrics(sweep.where);
  for (const Metric* goal : goals_of(sweep)) {
    add(plan.asked, is_simulated(*goal) ? goal : nullptr);
  }
  add(plan.asked, decisive != nullptr && is_simulated(*decisive) ? decisive : nullptr);
  return plan;
}

}  // namespace

std::vector<std::string> replay_columns(const SweepPoints& points, bool replay) {
  std::vector<std::string> columns = {"replay"};
  if (!replay) {
    return columns;
  }
  columns.emplace_back("replay_note");
  for (const Metric* metric : shown_metrics(points.sweep())) {
    if (points.scenario(0).training == nullptr) {
      columns.push_back(fmt::format("replayed_{}", metric->name));
    }
  }
  return columns;
}

ReplayedRows replay_recommended(const SweepPoints& points, ResultTable& table,
                                const ReplayedRowsOptions& options) {
  Columns columns(points, table, options.replay);
  ReplayedRows result;
  if (!options.replay) {
    for (const std::size_t row : recommended(points, table, options.decisive)) {
      columns.set_text("replay", row, name(Verdict::estimated));
      count({Verdict::estimated, "--no-replay"}, result);
    }
    return result;
  }
  const ReplayPlan plan = plan_of(points.sweep(), options.decisive);
  std::size_t replayed = 0;
  for (std::size_t round = 0;; ++round) {
    std::vector<std::size_t> rows;
    for (const std::size_t row : recommended(points, table, options.decisive)) {
      if (!columns.is_set(row)) {
        rows.push_back(row);
      }
    }
    if (rows.empty()) {
      break;
    }
    if (round == kMostRounds || replayed + rows.size() > kMostRows) {
      const std::string why = round == kMostRounds
                                  ? fmt::format("not replayed: gave up after {} rounds", round)
                                  : fmt::format("not replayed: more than {} rows", kMostRows);
      Replayed none;
      none.why_not = why;
      for (const std::size_t row : rows) {
        count(columns.set(row, none), result);
      }
      result.gave_up = true;
      break;
    }
    replayed += rows.size();
    std::vector<Replayed> by_row(rows.size());
    replay_rows(points, rows, plan, options, [&](std::size_t row, const Replayed& r) {
      by_row[static_cast<std::size_t>(std::lower_bound(rows.begin(), rows.end(), row) -
                                      rows.begin())] = r;
    });
    bool any_broken = false;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const Judgement judgement = columns.set(rows[i], by_row[i]);
      count(judgement, result);
      if (judgement.verdict == Verdict::broken) {
        any_broken = true;
        columns.set_text("meets", rows[i], "false");
        columns.set_text("reason", rows[i], fmt::format("broken: {}", judgement.note));
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
  Columns columns(points, table, true);
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
      set_row(points, table, row, replayed.estimate);
    }
  });
  for (const std::size_t row : rows) {
    count(judgements[row], result);
  }
  rank_rows(points, table);
  return result;
}

}  // namespace roofcast::sim
