// SPDX-License-Identifier: Apache-2.0
#include "cli/compare/comparison_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "cli/assets/asset.hpp"
#include "cli/pages/html_page.hpp"
#include "cli/provenance/version.hpp"
#include "cli/tables/metric_cells.hpp"
#include "cli/text/json_answer.hpp"
#include "sim/decide/sweep.hpp"
#include "sim/result/metrics.hpp"

namespace roofcast::cli {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t kMostRows = 4'000;  // that a page holds

// The metrics that the chart begins with: the usual trade-off where both are compared, else the first ones.
std::vector<std::size_t> first_axes(const std::vector<sim::ComparedMetric>& metrics) {
  const sim::ParetoGoal goal = sim::default_goal();
  std::vector<std::string> names = goal.maximize;
  names.insert(names.end(), goal.minimize.begin(), goal.minimize.end());
  std::vector<std::size_t> axes;
  for (const std::string& name : names) {
    for (std::size_t m = 0; m < metrics.size(); ++m) {
      if (metrics[m].column == name) {
        axes.push_back(m);
      }
    }
  }
  for (std::size_t m = 0; m < metrics.size(); ++m) {
    if (std::find(axes.begin(), axes.end(), m) == axes.end()) {
      axes.push_back(m);
    }
  }
  axes.resize(2, axes.front());
  return axes;
}

// Rows of one table that are on the front of the two axes.
std::vector<bool> front_of(const std::vector<std::vector<double>>& values,
                           const std::vector<bool>& counts, const std::vector<std::size_t>& axes,
                           const std::vector<sim::ComparedMetric>& metrics) {
  std::vector<double> flat;
  for (std::size_t row = 0; row < counts.size(); ++row) {
    for (const std::size_t axis : axes) {
      flat.push_back(counts[row] ? values[axis][row] : std::nan(""));
    }
  }
  const auto ranks =
      sim::pareto_rank(flat, std::vector{metrics[axes[0]].direction, metrics[axes[1]].direction},
                       {.groups = {}, .max_rank = 1});
  std::vector<bool> front;
  for (const auto rank : ranks) {
    front.push_back(rank == 1);
  }
  return front;
}

struct Side {
  base::CsvFile& file;
  const std::vector<std::vector<double>>& values;
  std::vector<bool>
      counts;  // rows that meet the conditions, or fit where the table says nothing of conditions
  std::vector<bool> front;
  std::vector<std::string> groups;  // of each row
};

Side side_of(base::CsvFile& file, const std::vector<std::vector<double>>& values,
             const ComparedTables& tables, const std::vector<std::size_t>& axes,
             const std::string& group) {
  Side side{file, values, {}, {}, {}};
  base::CsvFile again(file.name());  // a file is read once
  auto verdict = again.find_column("meets");
  verdict = verdict ? verdict : again.find_column("fits");
  again.read({verdict.value_or(0), group.empty() ? 0 : again.column(group)},
             [&](std::span<const std::string_view> cells) {
               side.counts.push_back(!verdict || again.flag(cells[0], *verdict).value_or(false));
               side.groups.emplace_back(group.empty() ? "all rows" : cells[1]);
             });
  side.front = front_of(values, side.counts, axes, tables.metrics);
  return side;
}

// What rows are grouped by: their system, or the first column that tells them apart.
std::string group_column(const std::vector<std::string>& key) {
  const auto is_system = [](const std::string& column) { return column == "system"; };
  const auto system = std::find_if(key.begin(), key.end(), is_system);
  return system != key.end() ? *system : key.empty() ? "" : key.front();
}

// The best of each group before and after, in the order in which the groups come.
ordered_json groups_json(const Side& before, const Side& after, std::size_t metric,
                         sim::Direction direction) {
  std::vector<std::string> names;
  std::map<std::string, std::pair<double, double>, std::less<>> best;
  const auto take = [&](const Side& side, double std::pair<double, double>::*of) {
    for (std::size_t row = 0; row < side.counts.size(); ++row) {
      const double value = side.values[metric][row];
      if (!side.counts[row] || !std::isfinite(value)) {
        continue;
      }
      const std::string name = side.groups[row];
      const auto [at, is_new] = best.try_emplace(name, std::nan(""), std::nan(""));
      if (is_new) {
        names.push_back(name);
      }
      double& held = at->second.*of;
      const bool better = direction == sim::Direction::maximize ? value > held : value < held;
      held = std::isnan(held) || better ? value : held;
    }
  };
  take(before, &std::pair<double, double>::first);
  take(after, &std::pair<double, double>::second);
  ordered_json json = ordered_json::array();
  for (const std::string& name : names) {
    json.push_back({{"name", name},
                    {"old", json_number(best[name].first)},
                    {"new", json_number(best[name].second)}});
  }
  return json;
}

// Those on a front, then those that moved most.
std::vector<std::size_t> rows_to_show(const sim::ResultComparison& result, const Side& before,
                                      const Side& after) {
  std::vector<std::size_t> rows;
  for (std::size_t i = 0; i < result.rows.size(); ++i) {
    rows.push_back(i);
  }
  const auto on_front = [&](const sim::ComparedRow& row) {
    return (row.old_row != sim::kNowhere && before.front[row.old_row]) ||
           (row.new_row != sim::kNowhere && after.front[row.new_row]);
  };
  std::stable_sort(rows.begin(), rows.end(), [&](std::size_t a, std::size_t b) {
    const bool fa = on_front(result.rows[a]);
    const bool fb = on_front(result.rows[b]);
    return fa != fb ? fa : std::abs(result.rows[a].moved) > std::abs(result.rows[b].moved);
  });
  rows.resize(std::min(rows.size(), kMostRows));
  std::sort(rows.begin(), rows.end());
  return rows;
}

ordered_json side_json(const Side& side, std::size_t row) {
  if (row == sim::kNowhere) {
    return nullptr;
  }
  ordered_json json = {{"counts", bool(side.counts[row])}, {"values", ordered_json::array()}};
  for (const std::vector<double>& values : side.values) {
    json["values"].push_back(json_number(values[row]));
  }
  return json;
}

ordered_json metric_json(const sim::ComparedMetric& metric, const sim::MetricChange& change) {
  const sim::Metric* known = sim::find_metric(metric.column);
  return {{"name", metric.column},
          {"label", column_label(metric.column)},
          {"unit", known != nullptr ? known->unit : ""},
          {"sign", metric.direction == sim::Direction::maximize ? 1 : -1},
          {"compared", change.compared},
          {"losses", change.losses},
          {"gains", change.gains},
          {"drifts", change.drifts},
          {"median", json_number(change.median)},
          {"worst", json_number(change.worst)},
          {"best", json_number(change.best)}};
}

}  // namespace

void write_report(const sim::ResultComparison& result, const ComparedTables& tables,
                  const std::vector<std::string>& notes, const std::filesystem::path& file) {
  const auto name = [](const base::CsvFile& of) {
    return std::filesystem::path(of.name()).filename().string();
  };
  ordered_json data = {{"title", file.stem().string()},
                       {"generated_by", "roofcast " + version()},
                       {"question", fmt::format("What changed from {} to {}?", name(tables.before),
                                                name(tables.after))},
                       {"scenario", ""},
                       {"notes", notes},
                       {"key", ordered_json::array()},
                       {"metrics", ordered_json::array()}};
  const std::vector<std::size_t> axes = first_axes(tables.metrics);
  const std::string group = group_column(tables.key);
  for (const std::string& column : tables.key) {
    data["key"].push_back(column.substr(column.rfind('.') + 1));
  }
  for (std::size_t m = 0; m < tables.metrics.size(); ++m) {
    data["metrics"].push_back(metric_json(tables.metrics[m], result.metrics[m]));
  }
  Side before = side_of(tables.before, result.old_values, tables, axes, group);
  Side after = side_of(tables.after, result.new_values, tables, axes, group);
  data["group"] = group.substr(group.rfind('.') + 1);
  data["groups"] = groups_json(before, after, axes.front(), tables.metrics[axes.front()].direction);
  data["axes"] = axes;
  data["counts"] = ordered_json::array();
  for (std::size_t i = 0; i < sim::kChanges; ++i) {
    const auto change = static_cast<sim::Change>(i);
    if (const std::size_t count = result.count(change); count > 0) {
      data["counts"].push_back({count, sim::name(change)});
    }
  }
  data["total_rows"] = result.rows.size();
  data["rows"] = ordered_json::array();
  for (const std::size_t i : rows_to_show(result, before, after)) {
    const sim::ComparedRow& row = result.rows[i];
    const bool is_new = row.old_row == sim::kNowhere;
    Side& of = is_new ? after : before;
    const base::CsvTable keys = of.file.table({is_new ? row.new_row : row.old_row});
    ordered_json cells = ordered_json::array();
    for (const std::string& column : tables.key) {
      cells.push_back(keys.cell(0, keys.column(column)));
    }
    data["rows"].push_back(
        {{"key", std::move(cells)},
         {"group", of.groups[is_new ? row.new_row : row.old_row]},
         {"change", sim::name(row.change)},
         {"metric", row.metric == sim::kNowhere ? ordered_json() : ordered_json(row.metric)},
         {"moved", json_number(row.moved)},
         {"old", side_json(before, row.old_row)},
         {"new", side_json(after, row.new_row)}});
  }
  write_page(asset_comparison_html(), {asset_report_tradeoff_js(), asset_comparison_js()}, data,
             file);
}

}  // namespace roofcast::cli
