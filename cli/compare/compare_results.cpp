// SPDX-License-Identifier: Apache-2.0
#include "cli/compare/compare_results.hpp"
#include "cli/provenance/provenance.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "base/csv/csv_file.hpp"
#include "cli/compare/comparison_report.hpp"
#include "cli/tables/front_table.hpp"
#include "cli/tables/metric_cells.hpp"
#include "cli/tables/say.hpp"
#include "cli/tables/text_table.hpp"
#include "cli/text/exit_code.hpp"
#include "cli/text/json_answer.hpp"
#include "sim/decide/result_comparison.hpp"
#include "sim/result/metrics.hpp"

namespace roofcast::cli {
namespace {

constexpr std::size_t kWorstRows = 10;
constexpr std::size_t kKeysAtOnce = 10'000;
constexpr sim::Tolerance kUsual{.value = 0.01};

struct Tables {
  base::CsvFile before;
  base::CsvFile after;
};

sim::ComparedMetric known_metric(const std::string& column) {
  const sim::Metric* metric = sim::find_metric(column);
  if (metric == nullptr || metric->better == sim::Better::none) {
    throw base::InputError(fmt::format(
        "error: nothing says whether more or less of \"{}\" is better; name it with --maximize or "
        "--minimize\n",
        column));
  }
  return {
      column,
      metric->better == sim::Better::higher ? sim::Direction::maximize : sim::Direction::minimize,
      kUsual};
}

std::vector<sim::ComparedMetric> metrics_of(const CompareResultsOptions& options,
                                            const Tables& tables) {
  std::vector<sim::ComparedMetric> metrics;
  for (const std::string& column : options.metrics) {
    tables.before.column(column);
    metrics.push_back(known_metric(column));
  }
  for (const std::string& column : options.maximize) {
    metrics.push_back({column, sim::Direction::maximize, kUsual});
  }
  for (const std::string& column : options.minimize) {
    metrics.push_back({column, sim::Direction::minimize, kUsual});
  }
  if (metrics.empty()) {
    for (const sim::Metric& metric : sim::metrics()) {
      // An interval that narrows is neither gain nor loss.
      if (metric.better != sim::Better::none && metric.bounds.empty() &&
          tables.before.find_column(metric.name) && tables.after.find_column(metric.name)) {
        metrics.push_back(known_metric(std::string(metric.name)));
      }
    }
  }
  if (metrics.empty()) {
    throw base::InputError(
        "error: the tables share no metric of roofcast; name columns with --maximize or "
        "--minimize\n");
  }
  for (auto at = metrics.begin(); at != metrics.end(); ++at) {
    if (std::any_of(metrics.begin(), at,
                    [&](const sim::ComparedMetric& other) { return other.column == at->column; })) {
      throw base::InputError(fmt::format("error: \"{}\" is named twice\n", at->column));
    }
  }
  return metrics;
}

void set_tolerances(const CompareResultsOptions& options,
                    std::vector<sim::ComparedMetric>& metrics) {
  for (const std::string& text : options.tolerances) {
    const auto equals = text.find('=');
    const bool for_all = equals == std::string::npos;
    const std::string column = for_all ? "" : text.substr(0, equals);
    const auto tolerance =
        sim::parse_tolerance(for_all ? text : std::string_view(text).substr(equals + 1));
    if (!tolerance || (for_all && !tolerance->relative)) {
      throw base::InputError(
          fmt::format("error: --tolerance {}: expects a share such as 1%, or COLUMN=1%, or "
                      "COLUMN=0.001 in the column's unit\n",
                      text));
    }
    bool found = false;
    for (sim::ComparedMetric& metric : metrics) {
      if (for_all || metric.column == column) {
        metric.tolerance = *tolerance;
        found = true;
      }
    }
    if (!found) {
      throw base::InputError(
          fmt::format("error: --tolerance {}: \"{}\" is not compared\n", text, column));
    }
  }
}

std::vector<std::string> key_of(const CompareResultsOptions& options, const Tables& tables,
                                const std::vector<sim::ComparedMetric>& metrics) {
  if (!options.key.empty()) {
    return options.key;
  }
  std::vector<std::string> key;
  for (const std::string& column : tables.before.columns()) {
    const bool compared =
        std::any_of(metrics.begin(), metrics.end(),
                    [&](const sim::ComparedMetric& metric) { return metric.column == column; });
    if (!compared && kind_of_column(column) == ColumnKind::axis &&
        tables.after.find_column(column)) {
      key.push_back(column);
    }
  }
  return key;
}

std::string percent(double moved) {
  if (!std::isfinite(moved)) {
    return "-";
  }
  const double share = 100.0 * moved;
  return moved == 0.0               ? "0%"
         : std::abs(share) < 1000.0 ? fmt::format("{:+.3g}%", share)
                                    : fmt::format("{:+.0f}%", share);
}

std::string metric_table(const sim::ResultComparison& result,
                         const std::vector<sim::ComparedMetric>& metrics) {
  TextTable text({"metric", "rows", "losses", "gains", "drifts", "median", "worst", "best"});
  for (std::size_t m = 0; m < metrics.size(); ++m) {
    const sim::MetricChange& change = result.metrics[m];
    if (change.compared > 0) {
      text.add({std::string(column_label(metrics[m].column)), fmt::format("{}", change.compared),
                fmt::format("{}", change.losses), fmt::format("{}", change.gains),
                fmt::format("{}", change.drifts), percent(change.median), percent(change.worst),
                percent(change.best)});
    }
  }
  return text.text();
}

// The rows that are lost, worst first.
std::vector<sim::ComparedRow> lost_rows(const sim::ResultComparison& result) {
  std::vector<sim::ComparedRow> lost;
  std::copy_if(result.rows.begin(), result.rows.end(), std::back_inserter(lost),
               [](const sim::ComparedRow& row) { return sim::is_lost(row.change); });
  std::stable_sort(
      lost.begin(), lost.end(), [](const sim::ComparedRow& a, const sim::ComparedRow& b) {
        return a.change != b.change ? a.change < b.change : std::abs(a.moved) > std::abs(b.moved);
      });
  return lost;
}

// Why a row no longer meets its conditions, as the new table says it.
std::string reason_of(const sim::ComparedRow& row, Tables& tables) {
  if (row.change != sim::Change::no_longer_meets || !tables.after.find_column("reason")) {
    return {};
  }
  const base::CsvTable after = tables.after.table({row.new_row});
  return std::string(after.cell(0, after.column("reason")));
}

std::string worst_table(const sim::ResultComparison& result,
                        const std::vector<sim::ComparedRow>& lost, Tables& tables,
                        const std::vector<std::string>& key,
                        const std::vector<sim::ComparedMetric>& metrics) {
  std::vector<std::string> header = {"lost"};
  for (const std::string& column : key) {
    header.push_back(column.substr(column.rfind('.') + 1));
  }
  header.insert(header.end(), {"metric or reason", "old", "new", "change"});
  TextTable text(header);
  for (std::size_t i = 0; i < std::min(lost.size(), kWorstRows); ++i) {
    const sim::ComparedRow& row = lost[i];
    const base::CsvTable before = tables.before.table({row.old_row});
    std::vector<std::string> cells = {std::string(sim::name(row.change))};
    for (const std::string& column : key) {
      cells.emplace_back(before.cell(0, before.column(column)));
    }
    if (const std::string why = reason_of(row, tables); !why.empty()) {
      cells.insert(cells.end(), {why, "-", "-", "-"});
    } else if (row.metric == sim::kNowhere) {
      cells.insert(cells.end(), {"-", "-", "-", "-"});
    } else {
      const std::string& column = metrics[row.metric].column;
      cells.insert(cells.end(), {std::string(column_label(column)),
                                 column_value(column, result.old_values[row.metric][row.old_row]),
                                 column_value(column, result.new_values[row.metric][row.new_row]),
                                 percent(row.moved)});
    }
    text.add(std::move(cells));
  }
  return text.text();
}

// The key, what happened, by which metric and how much, then every metric as it was and is.
void write_rows(const sim::ResultComparison& result, Tables& tables,
                const std::vector<std::string>& key,
                const std::vector<sim::ComparedMetric>& metrics, const std::string& file) {
  std::vector<std::string> columns = key;
  columns.insert(columns.end(), {"change", "metric", "moved"});
  for (const sim::ComparedMetric& metric : metrics) {
    columns.push_back(fmt::format("old_{}", metric.column));
    columns.push_back(fmt::format("new_{}", metric.column));
  }
  base::CsvWriter csv(std::filesystem::path(file), columns);
  const auto value = [](const std::vector<double>& values, std::size_t row) {
    return row == sim::kNowhere ? std::nan("") : values[row];
  };
  // Rows of the old table come first, then those of the new: keys are read in runs of one of them.
  for (std::size_t begin = 0; begin < result.rows.size();) {
    const bool is_new = result.rows[begin].old_row == sim::kNowhere;
    std::vector<std::size_t> run;
    for (std::size_t i = begin; i < result.rows.size() && run.size() < kKeysAtOnce &&
                                is_new == (result.rows[i].old_row == sim::kNowhere);
         ++i) {
      run.push_back(is_new ? result.rows[i].new_row : result.rows[i].old_row);
    }
    const base::CsvTable keys = (is_new ? tables.after : tables.before).table(run);
    std::vector<std::size_t> key_columns;
    for (const std::string& column : key) {
      key_columns.push_back(keys.column(column));
    }
    for (std::size_t i = 0; i < run.size(); ++i) {
      const sim::ComparedRow& row = result.rows[begin + i];
      for (const std::size_t column : key_columns) {
        csv.append(keys.cell(i, column));
      }
      const bool moved = row.metric != sim::kNowhere;
      csv.append(sim::name(row.change));
      csv.append(moved ? std::string_view(metrics[row.metric].column) : std::string_view());
      // From nothing, a share of the old value is not a number.
      csv.append(moved && std::isfinite(row.moved) ? row.moved : std::nan(""));
      for (std::size_t m = 0; m < metrics.size(); ++m) {
        csv.append(value(result.old_values[m], row.old_row));
        csv.append(value(result.new_values[m], row.new_row));
      }
      csv.end_row();
    }
    begin += run.size();
  }
  csv.close();
}

std::string counts(const sim::ResultComparison& result) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < sim::kChanges; ++i) {
    const auto change = static_cast<sim::Change>(i);
    if (const std::size_t count = result.count(change); count > 0) {
      parts.push_back(fmt::format("{} {}", count, sim::name(change)));
    }
  }
  return fmt::format("{} rows: {}", result.rows.size(),
                     parts.empty() ? "nothing" : fmt::format("{}", fmt::join(parts, ", ")));
}

// What the replays of the new rows said.
std::string replays(const std::string& path) {
  base::CsvFile file(path);  // one is read once
  const auto column = file.find_column("replay");
  std::map<std::string, std::size_t, std::less<>> verdicts;
  if (column) {
    file.read({*column}, [&](std::span<const std::string_view> cells) {
      if (!cells.front().empty()) {
        ++verdicts[std::string(cells.front())];
      }
    });
  }
  std::vector<std::string> parts;
  for (const auto& [verdict, count] : verdicts) {
    parts.push_back(fmt::format("{} {}", count, verdict));
  }
  return parts.empty()
             ? "new rows: estimated only"
             : fmt::format("new rows that were replayed: {}; the others are estimated only",
                           fmt::join(parts, ", "));
}

// A share of nothing is null. `lost`: as many rows as are read at once, the worst first.
nlohmann::ordered_json json_of(const sim::ResultComparison& result,
                               const std::vector<sim::ComparedRow>& lost, Tables& tables,
                               const std::vector<std::string>& key,
                               const std::vector<sim::ComparedMetric>& metrics) {
  nlohmann::ordered_json json = {{"rows", result.rows.size()}, {"matched_by", key}};
  for (std::size_t i = 0; i < sim::kChanges; ++i) {
    const auto change = static_cast<sim::Change>(i);
    json["changes"][std::string(sim::name(change))] = result.count(change);
  }
  for (std::size_t m = 0; m < metrics.size(); ++m) {
    const sim::MetricChange& change = result.metrics[m];
    json["metrics"][metrics[m].column] = {{"compared", change.compared}, {"losses", change.losses},
                                          {"gains", change.gains},       {"drifts", change.drifts},
                                          {"median", change.median},     {"worst", change.worst},
                                          {"best", change.best}};
  }
  json["lost"] = nlohmann::ordered_json::array();
  for (const sim::ComparedRow& row : lost) {
    const base::CsvTable before = tables.before.table({row.old_row});
    nlohmann::ordered_json each = {{"change", sim::name(row.change)}};
    for (const std::string& column : key) {
      each["key"][column] = before.cell(0, before.column(column));
    }
    if (row.metric != sim::kNowhere) {
      each["metric"] = metrics[row.metric].column;
      each["old"] = result.old_values[row.metric][row.old_row];
      each["new"] = result.new_values[row.metric][row.new_row];
      each["moved"] = row.moved;
    }
    json["lost"].push_back(std::move(each));
    if (json["lost"].size() == kKeysAtOnce) {
      break;
    }
  }
  return json;
}

}  // namespace

int compare_results(const CompareResultsOptions& options) {
  Tables tables{base::CsvFile(options.old_results), base::CsvFile(options.new_results)};
  std::vector<sim::ComparedMetric> metrics = metrics_of(options, tables);
  set_tolerances(options, metrics);
  const std::vector<std::string> key = key_of(options, tables, metrics);
  const sim::ResultComparison result =
      sim::compare_results(tables.before, tables.after, key, metrics);
  const std::vector<sim::ComparedRow> lost = lost_rows(result);

  const std::string makers = foreign_provenance(options.old_results) +
                             foreign_provenance(options.new_results) +
                             difference_of_makers(provenance_beside(options.old_results),
                                                  provenance_beside(options.new_results));
  if (options.json) {
    nlohmann::ordered_json json = json_of(result, lost, tables, key, metrics);
    json["makers"] = makers;
    json["replays"] = replays(options.new_results);
    print_json(json);
  } else {
    say("{}", makers);
    say("{}\n", counts(result));
    say("matched by {}\n",
        key.empty() ? "nothing: one row in each" : fmt::format("{}", fmt::join(key, ", ")));
    say("{}\n", replays(options.new_results));
    say("\n{}", metric_table(result, metrics));
    if (!lost.empty()) {
      say("\n{}", worst_table(result, lost, tables, key, metrics));
      if (lost.size() > kWorstRows) {
        say("…\n");
      }
    }
  }
  if (!options.csv.empty()) {
    write_rows(result, tables, key, metrics, options.csv);
    if (!options.json) {
      say("\nCSV     {}\n", options.csv);
    }
  }
  if (!options.report.empty()) {
    write_report(result, {tables.before, tables.after, key, metrics},
                 makers.empty() ? std::vector<std::string>{} : std::vector{makers}, options.report);
    if (!options.json) {
      say("\nreport  {}\n", options.report);
    }
  }
  return options.strict && !lost.empty() ? kInfeasible : kDone;
}

}  // namespace roofcast::cli
