// SPDX-License-Identifier: Apache-2.0
#include "sim/decide/sweep_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <functional>
#include <limits>
#include <mutex>
#include <span>

#include "base/threads.hpp"
#include "sim/class_attainment.hpp"
#include "sim/decide/pareto.hpp"
#include "sim/decide/shown_columns.hpp"
#include "sim/estimate.hpp"
#include "sim/sweep_workspaces.hpp"

namespace roofcast::sim {
namespace {

// Points that a thread takes at once: neighbours have much in common (sim/iteration/iteration_cache.hpp).
constexpr std::size_t kMostTaken = 4096;
constexpr std::size_t kChunk = 64;  // estimates that it has at once

// Estimates of consecutive points, by the thread that made them; chunks end in any order.
using Chunk = std::function<void(std::size_t first, std::span<ServingEstimate> estimates)>;

// What is recommended of a scan by formulas is explained later.
bool explains(const SweepPoints& points) {
  return !points.scans() && explains_rows(points.sweep());
}

void estimate_points(const SweepPoints& points, unsigned threads, const Chunk& take,
                     SweepWorkspaces& workspaces) {
  std::atomic<std::size_t> next{0};
  const bool explained = explains(points);
  const unsigned most_workers = base::thread_count(threads);
  const std::size_t most =
      std::clamp<std::size_t>(points.size() / (8 * most_workers), 16, kMostTaken);
  const auto workers = static_cast<unsigned>(
      std::clamp<std::size_t>((points.size() + most - 1) / most, 1, most_workers));
  workspaces.reserve(workers);
  base::on_threads(workers, [&](unsigned worker) {
    SweepWorkspace& workspace = workspaces.of(worker);
    std::vector<ServingEstimate> estimates(std::min(kChunk, points.size()));
    for (std::size_t taken = next.fetch_add(most); taken < points.size();
         taken = next.fetch_add(most)) {
      const std::size_t end = std::min(taken + most, points.size());
      for (std::size_t begin = taken; begin < end; begin += kChunk) {
        const std::size_t count = std::min(kChunk, end - begin);
        for (std::size_t i = 0; i < count; ++i) {
          const ScenarioView scenario = points.scenario(begin + i);
          estimates[i] = estimate(scenario, workspace.of(scenario));
          if (explained) {
            tell_causes(scenario, estimates[i], workspace.of(scenario));
          }
        }
        take(begin, std::span(estimates).first(count));
      }
    }
  });
}

// Why a point that meets all conditions does not compete: it has no value of an objective.
std::string lacks(const Sweep& sweep, const ServingEstimate& estimate) {
  for (const auto* objectives : {&sweep.pareto.maximize, &sweep.pareto.minimize}) {
    for (const std::string& name : *objectives) {
      if (std::isnan(find_metric(name)->value(estimate))) {
        const std::string_view gap = reason(estimate.score.gap);
        return fmt::format("not on the front, has no {}{}{}", name, gap.empty() ? "" : ": ", gap);
      }
    }
  }
  return {};
}

// Why a point does not compete: it does not fit, misses a condition, or has no value of an objective.
std::string reason_of(const Sweep& sweep, const ServingEstimate& estimate) {
  std::string why = missed(sweep.where, estimate);
  return why.empty() ? lacks(sweep, estimate) : why;
}

// Of the first point; empty where it has no classes with objectives.
std::vector<std::string> classes_of(const SweepPoints& points) {
  std::vector<std::string> names;
  if (points.size() > 0 && has_classes(points.scenario(0))) {
    for (const workloads::RequestClass& each : points.scenario(0).traffic->classes) {
      names.push_back(each.name);
    }
  }
  return names;
}

// The columns of classes.
class ClassColumns {
 public:
  ClassColumns(const SweepPoints& points, ResultTable& table) : points_(points) {
    for (const std::string& name : classes_of(points)) {
      ResultColumn& attainment = table.column("attainment_" + name);
      ResultColumn& goodput = table.column("goodput_" + name);
      attainment.fill();
      goodput.fill();
      columns_.push_back({name, &attainment, &goodput});
    }
  }

  bool empty() const { return columns_.empty(); }

  // `shares` by class; none where they are not known.
  void set(std::size_t row, const ServingEstimate& e, const std::vector<double>& shares) {
    const workloads::RequestClasses& classes = points_.scenario(row).traffic->classes;
    for (const Columns& columns : columns_) {
      const auto of = std::find_if(classes.begin(), classes.end(),
                                   [&](const auto& each) { return each.name == columns.name; });
      const auto which = static_cast<std::size_t>(of - classes.begin());
      const double share = e.fits() && which < shares.size() ? shares[which] : std::nan("");
      columns.attainment->set(row, share);
      columns.goodput->set(row, which < classes.size()
                                    ? share * of->share * e.steady.requests_per_second
                                    : std::nan(""));
    }
  }
  // What a row that competes says.
  std::string gap(std::size_t row, const ServingEstimate& e) const {
    const std::string_view why = e.fits() ? class_gap(points_.scenario(row)) : "";
    return why.empty() ? std::string() : fmt::format("no attainment by class: {}", why);
  }

 private:
  struct Columns {
    std::string name;
    ResultColumn* attainment;
    ResultColumn* goodput;
  };
  const SweepPoints& points_;
  std::vector<Columns> columns_;
};

// A column of "true" and "false".
struct TruthColumn {
  explicit TruthColumn(ResultColumn& of) : column(of) {}
  void set(std::size_t row, bool value) { column.set_code(row, value ? yes : no); }

  ResultColumn& column;
  std::uint32_t yes = column.code_of("true");
  std::uint32_t no = column.code_of("false");
};

// Fills the rows of one sweep, in chunks and from many threads.
class Rows {
 public:
  Rows(const SweepPoints& points, ResultTable& table)
      : points_(points),
        point_(table.column("point")),
        reason_(table.column("reason")),
        fits_(table.column("fits")),
        meets_(table.column("meets")),
        classes_(points, table) {
    point_.fill();
    for (const Axis& axis : points.sweep().axes) {
      ResultColumn& column = table.column(axis.name);
      axes_.push_back({&column, {}});
      for (const AxisValue& value : axis.values) {
        axes_.back().codes.push_back(column.code_of(value.label));
      }
    }
    for (const Metric& metric : metrics()) {
      metrics_.emplace_back(metric, table.column(metric.name));
    }
    for (const TextMetric& text : text_metrics()) {
      if (!text.of_parents || points.has_parent_figures()) {
        texts_.push_back({&text, &table.column(text.name)});
      }
    }
  }

  void fill(std::size_t first, std::span<const ServingEstimate> estimates) {
    std::vector<std::string> reasons;
    Workspace workspace;  // of classes
    for (std::size_t i = 0; i < estimates.size(); ++i) {
      const std::size_t row = first + i;
      point_.set(row, static_cast<double>(points_.first() + row));
      for (std::size_t axis = 0; axis < axes_.size(); ++axis) {
        axes_[axis].column->set_code(row, axes_[axis].codes[points_.value_index(row, axis)]);
      }
      const ServingEstimate& e = estimates[i];
      fits_.set(row, e.fits());
      std::string why = missed(points_.sweep().where, e);
      meets_.set(row, why.empty());
      reasons.push_back(why.empty() ? lacks(points_.sweep(), e) : std::move(why));
      if (!classes_.empty()) {
        classes_.set(
            row, e,
            e.fits() ? class_attainment(points_.scenario(row), workspace) : std::vector<double>());
        reasons.back() = reasons.back().empty() ? classes_.gap(row, e) : reasons.back();
      }
    }
    for (Numbers& numbers : metrics_) {
      for (std::size_t i = 0; i < estimates.size(); ++i) {
        const double value =
            estimates[i].fits() ? numbers.metric->value(estimates[i]) : std::nan("");
        if (!numbers.filled.load(std::memory_order_acquire)) {
          if (std::isnan(value)) {
            continue;
          }
          fill(numbers);
        }
        numbers.column->set(first + i, value);
      }
    }
    const std::lock_guard<std::mutex> turn(turn_);
    for (const Texts& texts : texts_) {
      // Runs of rows say the same.
      std::string_view before;
      std::uint32_t code = texts.column->code_of(before);
      for (std::size_t i = 0; i < estimates.size(); ++i) {
        const ServingEstimate& e = estimates[i];
        const std::string_view text = e.fits() ? texts.metric->value(e) : "";
        if (text != before) {
          code = texts.column->code_of(text);
          before = text;
        }
        texts.column->set_code(first + i, code);
      }
    }
    for (std::size_t i = 0; i < estimates.size(); ++i) {
      reason_.set_code(first + i, reason_.code_of(reasons[i]));
    }
  }

 private:
  struct Labels {
    ResultColumn* column;
    std::vector<std::uint32_t> codes;  // by value of the axis
  };
  struct Numbers {
    Numbers(const Metric& of, ResultColumn& in) : metric(&of), column(&in) {}
    const Metric* metric;
    ResultColumn* column;
    std::atomic<bool> filled{false};  // the column has room: some row has a value
  };
  struct Texts {
    const TextMetric* metric;
    ResultColumn* column;
  };

  void fill(Numbers& numbers) {
    const std::lock_guard<std::mutex> turn(turn_);
    if (!numbers.filled.load(std::memory_order_relaxed)) {
      numbers.column->fill();
      numbers.filled.store(true, std::memory_order_release);
    }
  }

  const SweepPoints& points_;
  std::vector<Labels> axes_;
  std::deque<Numbers> metrics_;
  std::vector<Texts> texts_;
  ResultColumn& point_;
  ResultColumn& reason_;
  TruthColumn fits_;
  TruthColumn meets_;
  ClassColumns classes_;
  std::mutex turn_;
};

}  // namespace

void rank_rows(const SweepPoints& points, ResultTable& table, bool front_alone) {
  const Sweep& sweep = points.sweep();
  std::vector<Direction> directions(sweep.pareto.maximize.size(), Direction::maximize);
  directions.resize(directions.size() + sweep.pareto.minimize.size(), Direction::minimize);
  if (directions.empty()) {
    return;
  }
  std::vector<const ResultColumn*> columns;
  for (const auto* objectives : {&sweep.pareto.maximize, &sweep.pareto.minimize}) {
    for (const std::string& name : *objectives) {
      columns.push_back(&table.column(name));
    }
  }
  std::vector<std::size_t> groups;  // axes
  for (std::size_t axis = 0; axis < sweep.axes.size(); ++axis) {
    const auto& by = sweep.pareto.by;
    if (std::find(by.begin(), by.end(), sweep.axes[axis].name) != by.end()) {
      groups.push_back(axis);
    }
  }
  ParetoPoints competing{.size = points.size(),
                         .value =
                             [&](std::size_t row, std::size_t objective) {
                               return objective > 0 || table.meets(row)
                                          ? columns[objective]->number(row)
                                          : std::numeric_limits<double>::quiet_NaN();
                             },
                         .group = {}};
  if (!groups.empty()) {
    competing.group = [&](std::size_t row) {
      std::size_t group = 0;
      for (const std::size_t axis : groups) {
        group = group * sweep.axes[axis].values.size() + points.value_index(row, axis);
      }
      return static_cast<std::uint32_t>(group);
    };
  }
  ResultColumn& column = table.column("pareto_rank");
  for (std::size_t row = 0; row < points.size(); ++row) {
    column.set(row, std::nan(""));
  }
  pareto_rank(competing, directions, front_alone ? 1 : std::numeric_limits<std::uint32_t>::max(),
              [&](std::size_t row, std::uint32_t rank) { column.set(row, rank); });
}

namespace {

// Whether some rows fit, and none of them has a value of the metric.
bool all_lack(const ResultTable& table, const Metric& metric) {
  const ResultColumn& column = table.column(metric.name);
  bool fits = false;
  bool has_value = false;
  for (std::size_t row = 0; row < table.rows() && !has_value; ++row) {
    fits = fits || table.fits(row);
    has_value = table.fits(row) && !std::isnan(column.number(row));
  }
  return fits && !has_value;
}

}  // namespace

void refuse_without_value(const SweepPoints& points, const ResultTable& table) {
  for (const Condition& condition : points.sweep().where) {
    if (!condition.metric.empty() && all_lack(table, *find_metric(condition.metric))) {
      throw base::InputError(fmt::format(
          "error: where: {}\n", without_value(condition, points.scenario(0).training != nullptr)));
    }
  }
}

void refuse_objectives_without_value(const SweepPoints& points, const ResultTable& table) {
  const ParetoGoal& pareto = points.sweep().pareto;
  for (const auto& [key, objectives] :
       {std::pair{"maximize", &pareto.maximize}, std::pair{"minimize", &pareto.minimize}}) {
    for (const std::string& name : *objectives) {
      const Metric& metric = *find_metric(name);
      // A score that nobody published is a reason of each row.
      const workloads::Accuracy* scores = points.scenario(0).accuracy;
      const bool has_reasons = metric.of_answers && scores != nullptr && !scores->benchmark.empty();
      if (!has_reasons && all_lack(table, metric)) {
        throw base::InputError(fmt::format("error: pareto.{}: {}\n", key,
                                           without_value(metric, "no point is on the front",
                                                         points.scenario(0).training != nullptr)));
      }
    }
  }
}

void set_row(const SweepPoints& points, ResultTable& table, std::size_t row,
             const ServingEstimate& estimate, const std::vector<double>& class_shares) {
  const auto set = [&](std::string_view name, std::string_view text) {
    ResultColumn& column = table.column(name);
    column.set_code(row, column.code_of(text));
  };
  const auto& where = points.sweep().where;
  set("fits", estimate.fits() ? "true" : "false");
  set("meets", missed(where, estimate).empty() ? "true" : "false");
  set("reason", reason_of(points.sweep(), estimate));
  // What was told of the row before stays.
  const bool explained = !estimate.fits() || estimate.causes != nullptr;
  for (const Metric& metric : metrics()) {
    if (explained || !metric.of_causes) {
      table.column(metric.name).set(row, estimate.fits() ? metric.value(estimate) : std::nan(""));
    }
  }
  for (const TextMetric& text : text_metrics()) {
    if ((explained || !text.of_causes) && (!text.of_parents || points.has_parent_figures())) {
      set(text.name, estimate.fits() ? text.value(estimate) : "");
    }
  }
  if (ClassColumns classes(points, table); !classes.empty()) {
    classes.set(row, estimate, class_shares);
  }
}

void tell_limits(const SweepPoints& points, ResultTable& table,
                 const std::vector<std::size_t>& rows) {
  Workspace workspace;
  for (const std::size_t row : rows) {
    if (explains(points) || !table.fits(row)) {
      continue;
    }
    const ScenarioView scenario = points.scenario(row);
    ServingEstimate e = estimate(scenario, workspace);
    tell_causes(scenario, e, workspace);
    for (const Metric& metric : limit_metrics()) {
      table.column(metric.name).set(row, metric.value(e));
    }
    for (const TextMetric& text : text_metrics()) {
      if (text.of_causes) {
        ResultColumn& column = table.column(text.name);
        column.set_code(row, column.code_of(text.value(e)));
      }
    }
  }
}

std::vector<std::string> result_columns(const SweepPoints& points) {
  std::vector<std::string> columns = {"point"};
  for (const Axis& axis : points.sweep().axes) {
    columns.push_back(axis.name);
  }
  columns.insert(columns.end(), {"fits", "meets", "pareto_rank", "reason"});
  for (const Metric& metric : metrics()) {
    columns.emplace_back(metric.name);
  }
  for (const TextMetric& text : text_metrics()) {
    if (!text.of_parents || points.has_parent_figures()) {
      columns.emplace_back(text.name);
    }
  }
  for (const std::string& name : classes_of(points)) {
    columns.push_back("attainment_" + name);
    columns.push_back("goodput_" + name);
  }
  return columns;
}

namespace {

ResultTable table_of(const SweepPoints& points, unsigned threads, std::atomic<std::size_t>* done,
                     std::vector<ServingEstimate>* kept, SweepWorkspaces& workspaces) {
  ResultTable table("sweep", result_columns(points));
  table.resize(points.size());
  Rows rows(points, table);
  if (kept != nullptr) {
    kept->resize(points.size());
  }
  estimate_points(
      points, threads,
      [&](std::size_t first, std::span<ServingEstimate> estimates) {
        rows.fill(first, estimates);
        if (done != nullptr) {
          *done += estimates.size();
        }
        if (kept != nullptr) {
          std::move(estimates.begin(), estimates.end(),
                    kept->begin() + static_cast<std::ptrdiff_t>(first));
        }
      },
      workspaces);
  rank_rows(points, table);
  return table;
}

}  // namespace

ResultTable run_sweep(const SweepPoints& points, unsigned threads, std::atomic<std::size_t>* done,
                      std::vector<ServingEstimate>* kept) {
  SweepWorkspaces own;
  return table_of(points, threads, done, kept, own);
}

ResultTable run_sweep(const SweepPoints& points, unsigned threads, std::atomic<std::size_t>* done,
                      std::vector<ServingEstimate>* kept, SweepWorkspaces& workspaces) {
  return table_of(points, threads, done, kept, workspaces);
}

std::vector<ServingEstimate> sweep_estimates(const SweepPoints& points, unsigned threads) {
  std::vector<ServingEstimate> all(points.size());
  SweepWorkspaces own;
  estimate_points(
      points, threads,
      [&](std::size_t first, std::span<ServingEstimate> estimates) {
        std::move(estimates.begin(), estimates.end(),
                  all.begin() + static_cast<std::ptrdiff_t>(first));
      },
      own);
  return all;
}

}  // namespace roofcast::sim
