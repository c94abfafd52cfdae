// SPDX-License-Identifier: Apache-2.0
#include "cli/recommend/recommend_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "base/csv/csv.hpp"
#include "cli/pages/report.hpp"
#include "cli/recommend/recommend_changes.hpp"
#include "cli/recommend/recommended_row.hpp"
#include "cli/tables/metric_cells.hpp"
#include "cli/tables/result_csv.hpp"
#include "sim/decide/pareto.hpp"

namespace roofcast::cli {
namespace {

using sim::RankedRow;
using sim::Recommendation;

std::vector<std::string> columns_of(const Recommendation& r) {
  return r.scans.front().table.names();
}

sim::ResultTable legal_rows(const Recommendation& r) {
  sim::ResultTable all("recommend", columns_of(r));
  all.resize(r.rows);
  std::size_t to = 0;
  for (const sim::Scan& scan : r.scans) {
    for (std::size_t row = 0; row < scan.table.rows(); ++row) {
      if (!scan.is_legal(row)) {
        continue;
      }
      for (std::size_t c = 0; c < all.columns().size(); ++c) {
        const sim::ResultColumn& from = scan.table.columns()[c];
        sim::ResultColumn& column = all.columns()[c];
        if (from.has_numbers()) {
          column.set(to, from.number(row));
        } else {
          column.set_code(to, column.code_of(from.text(row)));
        }
      }
      all.column("point").set(to, static_cast<double>(to));
      ++to;
    }
  }
  return all;
}

// Which of the legal rows it is.
std::size_t place_of(const Recommendation& r, const RankedRow& ranked) {
  std::size_t place = 0;
  for (std::size_t i = 0; i <= ranked.scan; ++i) {
    const sim::Scan& scan = r.scans[i];
    const std::size_t end = i == ranked.scan ? ranked.row : scan.table.rows();
    for (std::size_t row = 0; row < end; ++row) {
      place += scan.is_legal(row) ? 1 : 0;
    }
  }
  return place;
}

std::string cited_row(const Recommendation& r, const RankedRow& row) {
  return fmt::format("[{}]", place_of(r, row) + 1);
}

std::string deployment_text(const Recommendation& r, const RankedRow& row) {
  return fmt::format("{}", fmt::join(labels_of(*r.scans[row.scan].points, row.row), ", "));
}

std::string objective_value(const sim::Question& q, const RankedRow& row) {
  return display(row.value, q.objective.metric->unit);
}

Answer spoken_answer(const sim::Question& q, const Recommendation& r) {
  Answer answer;
  if (!r.found()) {
    answer.sentences = {"Nothing meets the conditions."};
  } else {
    const RankedRow& best = *r.answers.front();
    answer.sentences = {
        fmt::format("{}: {} {}.", deployment_text(r, best), finding(q, best), cited_row(r, best)),
        fmt::format("It is {}.", verdict_text(best))};
    if (const std::string limit = nearest_limit(q, best); !limit.empty()) {
      answer.sentences.push_back(limit + ".");
    }
    if (r.answers.size() > 1) {
      const RankedRow& next = *r.answers[1];
      answer.sentences.push_back(fmt::format("{} comes next: {} {}.", deployment_text(r, next),
                                             objective_value(q, next), cited_row(r, next)));
    }
    answer.changes = changes_of(q, r);
  }
  const std::vector<std::string> missing = missing_groups(q, r);
  if (!missing.empty()) {
    answer.sentences.push_back(fmt::format("Without an answer: {}.", fmt::join(missing, "; ")));
  }
  for (const sim::Group& group : r.groups) {
    if (!group.best.empty()) {
      const RankedRow& row = group.best.front();
      const std::string limit(limit_of(row.estimate, "tpot_mean_s"));
      answer.best.push_back(fmt::format("{}: {}{}, {} {}", deployment_text(r, row),
                                        objective_value(q, row), limit.empty() ? "" : ", " + limit,
                                        sim::name(row.judgement.verdict), cited_row(r, row)));
    }
  }
  answer.sentences.emplace_back("Rows with an empty replay are a scan's, and rough.");
  return answer;
}

// The objective against how fast tokens come.
sim::ParetoGoal goal_of(const sim::Question& q) {
  constexpr const char* kSpeed = "interactivity_tok_per_s_per_user";
  sim::ParetoGoal goal;
  const std::string objective(q.objective.metric->name);
  (q.objective.direction == sim::Direction::maximize ? goal.maximize : goal.minimize) = {objective};
  goal.maximize.emplace_back(objective == kSpeed ? "throughput_tok_per_s_per_gpu" : kSpeed);
  return goal;
}

// On the front of all rows that meet the conditions by these goals, which are those of the chart.
void set_front(const sim::ParetoGoal& goal, sim::ResultTable& table) {
  std::vector<double> values;
  std::vector<std::size_t> rows;
  std::vector<sim::Direction> directions(goal.maximize.size(), sim::Direction::maximize);
  directions.resize(goal.maximize.size() + goal.minimize.size(), sim::Direction::minimize);
  for (std::size_t row = 0; row < table.rows(); ++row) {
    if (!table.meets(row)) {
      continue;
    }
    rows.push_back(row);
    for (const auto* names : {&goal.maximize, &goal.minimize}) {
      for (const std::string& name : *names) {
        values.push_back(table.column(name).number(row));
      }
    }
  }
  const std::vector<std::uint32_t> ranks = sim::pareto_rank(values, directions);
  sim::ResultColumn& column = table.column("pareto_rank");
  for (std::size_t i = 0; i < rows.size(); ++i) {
    column.set(rows[i], ranks[i] > 0 ? static_cast<double>(ranks[i]) : std::nan(""));
  }
}

}  // namespace

void write_rows(const Recommendation& r, const std::string& file) {
  base::CsvWriter csv(std::filesystem::path(file), columns_of(r));
  write_results(legal_rows(r), 0, csv);
}

void write_rows_page(const sim::Question& q, const Heading& heading, const Recommendation& r,
                     const std::string& file) {
  ReportHead head{heading.title, spoken_answer(q, r), "", goal_of(q), {}};
  if (r.found()) {
    head.scenario = base::to_yaml(scenario_of(r, *r.answers.front()));
  }
  for (const sim::Group& group : r.groups) {
    if (!group.best.empty()) {
      const RankedRow& row = group.best.front();
      head.detailed.push_back({place_of(r, row), r.scans[row.scan].points.get(), row.row});
    }
  }
  sim::ResultTable rows = legal_rows(r);
  set_front(head.goal, rows);
  write_report(rows, head, file);
}

}  // namespace roofcast::cli
