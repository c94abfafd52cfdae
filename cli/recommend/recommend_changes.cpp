// SPDX-License-Identifier: Apache-2.0
#include "cli/recommend/recommend_changes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "cli/recommend/recommended_row.hpp"
#include "cli/tables/metric_cells.hpp"
#include "cli/tables/text_table.hpp"
#include "cli/text/cost_text.hpp"
#include "sim/decide/overridden_scenario.hpp"
#include "sim/decide/solve.hpp"
#include "sim/result/infeasible.hpp"
#include "sim/scenario/sections.hpp"
#include "workloads/architecture/precision.hpp"

namespace roofcast::cli {
namespace {

using sim::RankedRow;
using sim::Recommendation;

constexpr double kMostLooser = 0.1;
constexpr std::size_t kLooks = 8;  // for a row behind a limit

bool is_better(const sim::Question& q, double a, double b) {
  return q.objective.direction == sim::Direction::maximize ? a > b : a < b;
}

struct NextRow {
  const sim::Scan* scan = nullptr;
  std::size_t row = 0;
  double value = 0.0;    // of the objective
  double reached = 0.0;  // of the limit's metric
};

// Whether the others hold.
template <class... Row>
bool breaks_alone(const sim::Question& q, const sim::Condition& limit, const Row&... row) {
  return std::all_of(q.where.begin(), q.where.end(), [&](const sim::Condition& c) {
    return &c == &limit || c.metric.empty() || sim::holds(c, row...);
  });
}

// The rows of scans that break this condition alone, and that by no more than kMostLooser. The best first.
std::vector<NextRow> behind(const sim::Question& q, const Recommendation& r,
                            const sim::Condition& limit, double now) {
  std::vector<NextRow> rows;
  for (const sim::Scan& scan : r.scans) {
    const sim::ResultColumn& values = scan.table.column(q.objective.metric->name);
    const sim::ResultColumn& metric = scan.table.column(limit.metric);
    for (std::size_t row = 0; row < scan.table.rows(); ++row) {
      if (scan.is_legal(row) && scan.table.fits(row) && !sim::holds(limit, scan.table, row) &&
          -sim::slack(limit, metric.number(row)) <= kMostLooser &&
          std::isfinite(values.number(row)) && is_better(q, values.number(row), now) &&
          breaks_alone(q, limit, scan.table, row)) {
        rows.push_back({&scan, row, values.number(row), metric.number(row)});
      }
    }
  }
  std::stable_sort(rows.begin(), rows.end(), [&](const NextRow& a, const NextRow& b) {
    return is_better(q, a.value, b.value);
  });
  return rows;
}

// The first of them of which that is so when it is estimated as other scenarios are.
std::optional<NextRow> estimated_behind(const sim::Question& q, const Recommendation& r,
                                        const sim::Condition& limit, double now) {
  std::vector<NextRow> rows = behind(q, r, limit, now);
  rows.resize(std::min(rows.size(), kLooks));
  sim::Workspace workspace;
  for (NextRow& next : rows) {
    const sim::ServingEstimate e = sim::estimate(next.scan->points->scenario(next.row), workspace);
    next.value = q.objective.metric->value(e);
    next.reached = sim::find_metric(limit.metric)->value(e);
    if (e.fits() && -sim::slack(limit, e) <= kMostLooser && is_better(q, next.value, now) &&
        breaks_alone(q, limit, e)) {
      return next;
    }
  }
  return std::nullopt;
}

// The answer as it was replayed, times the ratio of two estimates.
std::string looser_limit(const sim::Question& q, const Recommendation& r,
                         const sim::Condition& limit) {
  const sim::Metric* metric = sim::find_metric(limit.metric);
  if (metric == nullptr || limit.relation == sim::Condition::Relation::equal) {
    return {};
  }
  const RankedRow& best = *r.answers.front();
  const double now = r.scans[best.scan].table.column(q.objective.metric->name).number(best.row);
  const std::optional<NextRow> next = estimated_behind(q, r, limit, now);
  if (!next) {
    return fmt::format("a limit of {} that is 10 % looser brings nothing better", metric->label);
  }
  return fmt::format("with {} of {} in place of {}: {}, estimated only: {} ({:+.2g} %)",
                     metric->label, column_value(limit.metric, next->reached),
                     column_value(limit.metric, limit.bound),
                     fmt::join(labels_of(*next->scan->points, next->row), ", "),
                     display(best.value * next->value / now, q.objective.metric->unit),
                     100.0 * (next->value - now) / std::abs(now));
}

// At which price of its GPU the best answer of another system is as good. Costs are linear in the price.
std::string price_of_other_system(const sim::Question& q, const Recommendation& r) {
  if (q.objective.metric->unit.find("USD") == std::string_view::npos) {
    return {};
  }
  const RankedRow& best = *r.answers.front();
  const auto system = [&](const RankedRow& row) {
    return r.scans[row.scan].points->label(row.row, 0);
  };
  const auto other = std::find_if(r.answers.begin(), r.answers.end(), [&](const RankedRow* row) {
    return system(*row) != system(best);
  });
  if (other == r.answers.end()) {
    return {};
  }
  const sim::OverriddenScenario scenario(scenario_of(r, **other), "--set");
  const bool owned = scenario.scenario().prices.pay == hardware::Pay::ownership;
  const std::string path = owned ? "system.purchase.price" : "system.price.per_gpu_hour";
  const base::Node* price = scenario.document().find_path(path);
  if (price == nullptr) {
    return {};
  }
  const sim::Metric& metric = *q.objective.metric;
  const double now = metric.value(scenario.estimate({}).estimate);
  const double half = metric.value(scenario.estimate({path + "=x0.5"}).estimate);
  const double share = (now - half) / (0.5 * now);  // of the cost that the price makes
  const double factor = 1.0 + (best.value / (*other)->value - 1.0) / share;
  return std::isfinite(factor) && factor > 0.0
             ? fmt::format("{} is as good where {} is {} in place of {}", system(**other), path,
                           scaled_text(price->text, factor), price->text)
             : fmt::format("no {} makes {} as good", path, system(**other));
}

// The precisions of the catalog that the answer's chip multiplies in, without those of other models.
std::string other_precisions(const sim::Question& q, const Recommendation& r) {
  if (q.precisions.size() > 1) {
    return {};
  }
  base::Node document = scenario_of(r, *r.answers.front());
  const std::string tried = sim::read_scenario(document).precision.id;
  std::vector<std::string> others;
  for (const std::string& id : base::catalog_ids(workloads::precision_catalog())) {
    document["precision"] = base::scalar_node(id, document.place);
    try {
      sim::Workspace workspace;
      const sim::Scenario scenario = sim::read_scenario(document);
      if (id != tried &&
          (id == scenario.model.native_precision ||
           workloads::is_meant_for(scenario.precision, scenario.model.id)) &&
          sim::estimate(sim::view(scenario), workspace).fits()) {
        others.push_back(id);
      }
    } catch (const base::InputError&) {  // not a precision of such a model
    }
  }
  return others.empty()
             ? std::string()
             : fmt::format(
                   "no other precision was tried; this deployment also runs in {}: "
                   "--precision {},{}",
                   fmt::join(others, ", "), tried.empty() ? "PRECISION" : tried, others.front());
}

}  // namespace

std::vector<std::string> changes_of(const sim::Question& q, const Recommendation& r) {
  std::vector<std::string> changes;
  const auto add = [&](std::string sentence) {
    if (!sentence.empty()) {
      changes.push_back(std::move(sentence));
    }
  };
  for (const sim::Condition& limit : q.where) {
    add(looser_limit(q, r, limit));
  }
  add(price_of_other_system(q, r));
  add(other_precisions(q, r));
  return changes;
}

}  // namespace roofcast::cli
