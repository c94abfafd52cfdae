// SPDX-License-Identifier: Apache-2.0
#include "cli/tables/front_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "cli/tables/metric_cells.hpp"
#include "cli/tables/text_table.hpp"
#include "sim/result/metrics.hpp"

namespace roofcast::cli {
namespace {

constexpr std::string_view kStatus[] = {"point",  "fits",   "meets",       "pareto_rank",
                                        "reason", "replay", "replay_note", "made_by"};
constexpr std::string_view kUsual[] = {"throughput_tok_per_s_per_gpu",
                                       "interactivity_tok_per_s_per_user", "ttft_p50_s",
                                       "cost_usd_per_mtok", "memory_b_per_gpu"};
constexpr std::string_view kLimit = "limited_by_tpot";
constexpr std::string_view kBounds[] = {kLimit, "replay"};

// What limits a row, with its share where it has one: "HBM (43 %)".
std::string limit_cell(const sim::ResultTable& table, const sim::ResultColumn& column,
                       std::size_t row) {
  const sim::ResultColumn* share = table.find("limited_share_tpot");
  return share == nullptr || share->is_empty(row)
             ? column.cell(row)
             : fmt::format("{} ({:.0f} %)", column.cell(row), 100.0 * share->number(row));
}

// Whether the point of a row serves prompts.
bool serves_prompts(const sim::ResultTable& table, std::size_t row) {
  const auto is_filled = [&](std::string_view name) {
    const sim::ResultColumn* column = table.find(name);
    return column != nullptr && !column->is_empty(row);
  };
  return !is_filled("step_s") || is_filled("rollout_s");
}

}  // namespace

bool serves_prompts(const sim::ResultTable& table) {
  for (std::size_t row = 0; row < table.rows(); ++row) {
    if (!serves_prompts(table, row)) {
      return false;
    }
  }
  return true;
}

std::string fronts_text(const sim::SweepPoints& points, const sim::ResultTable& table) {
  const std::vector<std::string>& by = points.sweep().pareto.by;
  if (by.empty()) {
    return "the Pareto front";
  }
  const sim::PointGroups groups(points);
  const sim::ResultColumn& point = table.column("point");
  std::set<std::size_t> with_front;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    if (table.is_on_front(row)) {
      with_front.insert(groups.of(static_cast<std::size_t>(point.number(row))));
    }
  }
  return with_front.size() == 1
             ? "the Pareto front"
             : fmt::format("the fronts of {} groups ({})", with_front.size(), fmt::join(by, ", "));
}

ColumnKind kind_of_column(std::string_view name) {
  const auto& texts = sim::text_metrics();
  if (sim::find_metric(name) != nullptr) {
    return ColumnKind::metric;
  }
  const bool status =
      sim::replayed_metric(name) != nullptr || sim::class_metric(name) != nullptr ||
      std::find(std::begin(kStatus), std::end(kStatus), name) != std::end(kStatus) ||
      std::any_of(texts.begin(), texts.end(),
                  [&](const sim::TextMetric& t) { return t.name == name; });
  return status ? ColumnKind::status : ColumnKind::axis;
}

std::vector<std::size_t> spread(const sim::ResultTable& table, std::vector<std::size_t> rows,
                                const std::string& column, std::size_t limit) {
  const sim::ResultColumn& by = table.column(column);
  const bool lower = by.metric() != nullptr && by.metric()->better == sim::Better::lower;
  std::stable_sort(rows.begin(), rows.end(), [&](std::size_t a, std::size_t b) {
    return lower ? by.number(a) < by.number(b) : by.number(a) > by.number(b);
  });
  if (rows.size() <= limit) {
    return rows;
  }
  std::vector<std::size_t> chosen;
  for (std::size_t i = 0; i < limit; ++i) {
    chosen.push_back(rows[i * (rows.size() - 1) / (limit - 1)]);
  }
  return chosen;
}

std::string front_table(const sim::ResultTable& table, const std::vector<std::size_t>& rows,
                        const std::vector<std::string>& objectives, std::size_t limit) {
  const bool prompts = rows.empty() || serves_prompts(table, rows.front());
  std::vector<const sim::ResultColumn*> columns;
  std::vector<std::string> header;
  const auto add = [&](const sim::ResultColumn* column) {
    if (column != nullptr && std::find(columns.begin(), columns.end(), column) == columns.end()) {
      columns.push_back(column);
      const std::string& name = column->name();
      header.emplace_back(column->metric() != nullptr ? words_of(*column->metric(), prompts).label
                                                      : name.substr(name.rfind('.') + 1));
    }
  };
  for (const sim::ResultColumn& column : table.columns()) {
    if (kind_of_column(column.name()) == ColumnKind::axis) {
      add(&column);
    }
  }
  for (const std::string& name : objectives) {
    add(table.find(name));
  }
  const auto add_if_filled = [&](std::string_view name) {  // of a training step few are
    const sim::ResultColumn* column = table.find(name);
    if (column != nullptr && std::any_of(rows.begin(), rows.end(),
                                         [&](std::size_t row) { return !column->is_empty(row); })) {
      add(column);
    }
  };
  std::for_each(std::begin(kUsual), std::end(kUsual), add_if_filled);
  std::for_each(std::begin(kBounds), std::end(kBounds), add_if_filled);
  TextTable text(header);
  for (const std::size_t row : spread(table, rows, objectives.front(), limit)) {
    std::vector<std::string> cells;
    for (const sim::ResultColumn* column : columns) {
      cells.push_back(column->metric() != nullptr
                          ? display(column->number(row), words_of(*column->metric(), prompts).unit)
                      : column->name() == kLimit ? limit_cell(table, *column, row)
                                                 : column->cell(row));
    }
    text.add(std::move(cells));
    if (text.rows().size() == 2) {
      text.mark_last();
    }
  }
  return text.text();
}

nlohmann::ordered_json front_json(const sim::ResultTable& table,
                                  const std::vector<std::size_t>& rows) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const std::size_t row : rows) {
    nlohmann::ordered_json object;
    for (const sim::ResultColumn& column : table.columns()) {
      if (!column.is_empty(row)) {
        object[column.name()] = column.has_numbers() ? nlohmann::ordered_json(column.number(row))
                                                     : nlohmann::ordered_json(column.text(row));
      }
    }
    all.push_back(std::move(object));
  }
  return all;
}

std::string best_table(const sim::ResultTable& table, const std::vector<std::string>& axes,
                       const std::vector<std::string>& objectives) {
  std::vector<const sim::ResultColumn*> columns;
  for (const std::string& name : objectives) {
    columns.push_back(&table.column(name));
  }
  if (const sim::ResultColumn* cost = table.find("cost_usd_per_mtok");
      cost != nullptr && std::find(columns.begin(), columns.end(), cost) == columns.end()) {
    columns.push_back(cost);
  }
  std::vector<const sim::ResultColumn*> by;
  for (const std::string& axis : axes) {
    by.push_back(&table.column(axis));
  }
  using Best = std::pair<std::vector<std::string>, std::vector<double>>;
  std::vector<Best> best;  // in the axes' order
  bool prompts = true;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    const auto is_of = [&](const Best& b) {
      return std::equal(by.begin(), by.end(), b.first.begin(),
                        [&](const sim::ResultColumn* column, const std::string& text) {
                          return column->says(row, text);
                        });
    };
    auto at = std::find_if(best.begin(), best.end(), is_of);
    if (at == best.end()) {
      std::vector<std::string> group;
      for (const sim::ResultColumn* column : by) {
        group.push_back(column->text(row));
      }
      at = best.insert(at, {group, std::vector<double>(columns.size(), std::nan(""))});
    }
    prompts = prompts && (!table.meets(row) || serves_prompts(table, row));
    for (std::size_t c = 0; c < columns.size() && table.meets(row); ++c) {
      const double candidate = columns[c]->number(row);
      double& known = at->second[c];
      known = columns[c]->metric()->better == sim::Better::lower ? std::fmin(known, candidate)
                                                                 : std::fmax(known, candidate);
    }
  }
  std::vector<std::string> header = axes;
  for (const sim::ResultColumn* column : columns) {
    const sim::Metric* metric = column->metric();
    header.push_back(fmt::format("{} {}", metric->better == sim::Better::lower ? "lowest" : "best",
                                 words_of(*metric, prompts).label));
  }
  TextTable text(header);
  for (const auto& [group, values] : best) {
    std::vector<std::string> cells = group;
    for (std::size_t c = 0; c < columns.size(); ++c) {
      cells.push_back(display(values[c], words_of(*columns[c]->metric(), prompts).unit));
    }
    text.add(std::move(cells));
  }
  return text.text();
}

}  // namespace roofcast::cli
