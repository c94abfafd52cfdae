// SPDX-License-Identifier: Apache-2.0
#include "cli/sweep/finished_sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "base/document/output_file.hpp"
#include "base/document/standard_streams.hpp"
#include "base/document/text_file.hpp"
#include "cli/pages/report.hpp"
#include "cli/program/progress.hpp"
#include "cli/provenance/made_by.hpp"
#include "cli/provenance/provenance.hpp"
#include "cli/provenance/report_parts.hpp"
#include "cli/tables/front_table.hpp"
#include "cli/tables/report_rows.hpp"
#include "cli/tables/result_csv.hpp"
#include "cli/tables/say.hpp"
#include "cli/text/cost_text.hpp"
#include "cli/text/json_answer.hpp"
#include "cli/text/missed_text.hpp"
#include "sim/confirm/replayed_rows.hpp"
#include "sim/decide/shown_columns.hpp"
#include "sim/decide/sweep_run.hpp"
#include "sim/recommend/scan.hpp"

namespace roofcast::cli {
namespace {

constexpr std::size_t kTableRows = 24;

// What the replays found, in a sentence or two.
std::string replay_text(const sim::ReplayedRows& r, bool all) {
  std::vector<std::string> parts;
  const auto add = [&](std::size_t count, const char* what, const std::string& note) {
    if (count > 0) {
      parts.push_back(
          fmt::format("{} {}{}", count, what, note.empty() ? "" : fmt::format(" ({})", note)));
    }
  };
  add(r.confirmed, "confirmed",
      r.far > 0
          ? fmt::format("the conditions hold; {} far from an estimate: see replay_note", r.far)
          : "");
  add(r.differs, "outside the interval of the estimate", "the conditions hold: see replay_note");
  add(r.broken, all ? "broken" : "broken and left out", r.broken_note);
  add(r.estimated, "estimated only", r.estimated_note);
  return parts.empty() ? ""
                       : fmt::format("{}: {}\n", all ? "replayed" : "recommended rows, replayed",
                                     fmt::join(parts, ", "));
}

// What the columns of replays say.
sim::ReplayedRows counted(const sim::ResultTable& table) {
  sim::ReplayedRows counts;
  const sim::ResultColumn& replay = table.column("replay");
  const sim::ResultColumn& note = table.column("replay_note");
  for (std::size_t row = 0; row < table.rows(); ++row) {
    if (replay.says(row, "confirmed")) {
      ++counts.confirmed;
      counts.far += note.text(row).find(sim::kFar) != std::string::npos ? 1U : 0U;
    } else if (replay.says(row, "differs")) {
      ++counts.differs;
    } else if (replay.says(row, "broken")) {
      counts.broken_note = counts.broken++ == 0 ? note.text(row) : counts.broken_note;
    } else if (replay.says(row, "estimated only")) {
      counts.estimated_note = counts.estimated++ == 0 ? note.text(row) : counts.estimated_note;
    }
  }
  return counts;
}

std::size_t front_size(const sim::ResultTable& table) {
  std::size_t size = 0;
  for (std::size_t i = 0; i < table.rows(); ++i) {
    size += table.is_on_front(i) ? 1U : 0U;
  }
  return size;
}

std::vector<std::size_t> front_of(const sim::ResultTable& table) {
  std::vector<std::size_t> front;
  front.reserve(front_size(table));
  for (std::size_t i = 0; i < table.rows(); ++i) {
    if (table.is_on_front(i)) {
      front.push_back(i);
    }
  }
  return front;
}

// The rows of the table that is printed.
std::vector<std::size_t> shown_of_front(const sim::SweepPoints& points,
                                        const sim::ResultTable& table) {
  const sim::ParetoGoal& goal = points.sweep().pareto;
  return spread(table, front_of(table),
                goal.maximize.empty() ? goal.minimize.front() : goal.maximize.front(), kTableRows);
}

std::vector<std::size_t> on_front(const sim::ResultTable& table, std::vector<std::size_t> rows) {
  std::erase_if(rows, [&](std::size_t row) { return !table.is_on_front(row); });
  return rows;
}

nlohmann::ordered_json answer_json(const sim::SweepPoints& points, const sim::ResultTable& table,
                                   const sim::ReplayedRows& replayed, const SweepOutputs& outputs) {
  nlohmann::ordered_json json = json_answer();
  json["question"] = points.sweep().question;
  json["points"] = points.size();
  json["meet"] = table.meeting();
  json["replays"] = {{"confirmed", replayed.confirmed},
                     {"far_from_estimate", replayed.far},
                     {"differs", replayed.differs},
                     {"broken", replayed.broken},
                     {"estimated_only", replayed.estimated}};
  json["front"] = front_json(table, front_of(table));
  json["csv"] = outputs.csv;
  if (!outputs.report.empty()) {
    json["report"] = outputs.report;
  }
  return json;
}

// Why no row meets: of the row that came nearest.
std::string none_text(const sim::SweepPoints& points, const sim::ResultTable& table) {
  const sim::Sweep& sweep = points.sweep();
  std::size_t nearest = 0;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t row = 0; row < table.rows(); ++row) {
    if (const double misses = sim::shortfall(sweep.where, table, row); misses < least) {
      least = misses;
      nearest = row;
    }
  }
  if (std::isinf(least)) {
    return fmt::format("No point meets every constraint; the first row says: {}\n",
                       table.column("reason").text(0));
  }
  return fmt::format("No point meets every constraint; the nearest is {}: {}\n",
                     point_text(points, nearest), missed_text(sweep.where, table, nearest));
}

// Of the systems on the front, where it has a cost.
std::string prices_text(const sim::SweepPoints& points, const sim::ResultTable& table) {
  std::string text;
  std::set<std::string> told;
  const sim::ResultColumn& cost = table.column("cost_usd_per_mtok");
  for (std::size_t row = 0; row < table.rows(); ++row) {
    if (!table.is_on_front(row)) {
      continue;
    }
    const base::Node document = cost.is_empty(row) ? base::Node() : points.document(row);
    const base::Node* system = document.find("system");
    const base::Node* prices = document.find("prices");
    if (system != nullptr &&
        told.insert(sim::label_of(*system) + (prices == nullptr ? "" : base::to_yaml(*prices)))
            .second) {
      const std::string price = price_text(document);
      text += text.find(price) == std::string::npos ? price : "";
    }
  }
  return text;
}

// Of the systems of all rows that meet the conditions.
std::string parents_text(const sim::SweepPoints& points, const sim::ResultTable& table) {
  std::string text;
  std::set<std::pair<const void*, const void*>> told;
  for (std::size_t row = 0; points.has_parent_figures() && row < table.rows(); ++row) {
    const sim::ScenarioView scenario = points.scenario(row);
    const void* pools = scenario.pools != nullptr ? scenario.pool_platforms : nullptr;
    if (table.meets(row) && told.insert({scenario.platform, pools}).second) {
      add_parents(scenario, text);
    }
  }
  return text;
}

void print_answer(const sim::SweepPoints& points, const sim::ResultTable& table,
                  const sim::ReplayedRows& replayed, const SweepOutputs& outputs) {
  const sim::Sweep& sweep = points.sweep();
  const sim::ResultColumn& rank = table.column("pareto_rank");
  const sim::ResultColumn& reason = table.column("reason");
  const std::size_t on_front = front_size(table);
  std::size_t left_out = 0;
  std::size_t first_left_out = 0;
  for (std::size_t i = 0; i < table.rows(); ++i) {
    if (!table.is_on_front(i) && table.meets(i) && rank.is_empty(i)) {
      first_left_out = left_out++ == 0 ? i : first_left_out;
    }
  }
  if (!sweep.question.empty()) {
    say("{}\n\n", sweep.question);
  }
  say("{} points, {} meet every constraint, {} on {}\n", points.size(), table.meeting(), on_front,
      fronts_text(points, table));
  say("{}", replay_text(replayed, outputs.simulate));
  if (left_out > 0) {
    say("{} of those that do are left out of the front; the first is {}\n", left_out,
        reason.text(first_left_out));
  }
  std::vector<std::string> objectives = sweep.pareto.maximize;
  objectives.insert(objectives.end(), sweep.pareto.minimize.begin(), sweep.pareto.minimize.end());
  if (on_front == 0) {
    say("{}", none_text(points, table));
  } else {
    say("\n{}", front_table(table, shown_of_front(points, table), objectives, kTableRows));
    if (on_front > kTableRows) {
      say("({} of {} shown, spread over the front)\n", kTableRows, on_front);
    }
    say("{}{}", prices_text(points, table), parents_text(points, table));
    std::vector<std::string> axes;
    std::size_t groups = 1;
    for (const std::size_t axis : sweep.group_axes()) {
      axes.push_back(sweep.axes[axis].name);
      groups *= sweep.axes[axis].values.size();
    }
    if (groups > 1 && groups <= kTableRows) {
      say("\n{}", best_table(table, axes, objectives));
    }
  }
  say("\nCSV     {}\n", outputs.csv);
  if (!outputs.report.empty()) {
    say("Report  {}\n", outputs.report);
  }
}

constexpr const char* kMadeBy = "made_by";

void add_made_by(sim::ResultTable& table) {
  table.add_column(kMadeBy, true);
  sim::ResultColumn& column = table.columns().back();
  const std::uint32_t id = column.code_of(made_by()["id"].get<std::string>());
  for (std::size_t row = 0; row < table.rows(); ++row) {
    column.set_code(row, id);
  }
}

}  // namespace

void check_sweep_beside(const std::string& csv, const std::string& sweep_text) {
  if (has_provenance(csv)) {
    const std::filesystem::path file = sweep_file_beside(csv);
    const std::filesystem::path target = base::output_path(file);
    base::check_beside(file, csv,
                       base::bytes_of(target) == sweep_text || is_as_written(target, csv));
  }
}

base::CsvWriter open_result(const sim::SweepPoints& points, const std::string& sweep_text,
                            const SweepOutputs& outputs) {
  note_question("sweep", base::parse_document("sweep", sweep_text));
  std::vector<std::string> columns = sim::result_columns(points);
  for (std::string& column : sim::replay_columns(points, outputs.replay)) {
    columns.push_back(std::move(column));
  }
  check_sweep_beside(outputs.csv, sweep_text);
  if (!outputs.report.empty() && !base::is_standard_stream(outputs.report) &&
      base::real_path(outputs.report) == base::real_path(sweep_file_beside(outputs.csv))) {
    throw base::InputError(fmt::format("error: {} is written beside {}: choose another name\n",
                                       sweep_file_beside(outputs.csv).string(), outputs.csv));
  }
  columns = sim::shown_columns(points.sweep(), columns);
  if (outputs.made_by) {
    columns.emplace_back(kMadeBy);
  }
  return base::CsvWriter(std::filesystem::path(outputs.csv), columns);
}

void finish_sweep(const sim::SweepPoints& points, sim::ResultTable& table,
                  std::span<const sim::ServingEstimate> estimates, const std::string& sweep_text,
                  const SweepOutputs& outputs, base::CsvWriter& csv, const PartsOnDisk* parts) {
  const auto start = std::chrono::steady_clock::now();
  const auto replay = [&] {
    sim::ReplayProgress rows;
    const Progress progress(rows.done, rows.total, "rows replayed", outputs.quiet);
    sim::ReplayedRowsOptions how{outputs.threads, outputs.replay, nullptr, &rows, estimates};
    if (parts != nullptr) {
      how.fetch = [&](const std::vector<std::size_t>& replayed) {
        parts->parts.fetch(parts->folders, replayed, table);
      };
    }
    return outputs.simulate ? sim::replay_all(points, table, how)
                            : sim::replay_recommended(points, table, how);
  };
  if (!outputs.simulate) {
    sim::refuse_without_value(points, table);
    sim::refuse_objectives_without_value(points, table);
  }
  const bool is_replayed = table.find("replay") != nullptr;
  const sim::ReplayedRows replayed = is_replayed ? counted(table) : replay();
  if (is_replayed) {
    sim::rank_rows(points, table);
  }
  if (outputs.simulate) {
    sim::refuse_without_value(points, table);
    sim::refuse_objectives_without_value(points, table);
  }
  if (outputs.json || !outputs.quiet || !outputs.report.empty()) {
    const bool all = outputs.json || (!outputs.report.empty() && parts == nullptr);
    std::vector<std::size_t> told = all ? front_of(table) : shown_of_front(points, table);
    if (!all && !outputs.report.empty()) {
      const std::vector<std::size_t> sampled = on_front(table, sampled_rows(table));
      told.insert(told.end(), sampled.begin(), sampled.end());
    }
    std::sort(told.begin(), told.end());
    if (parts != nullptr) {
      parts->parts.fetch(parts->folders, told, table);
    }
    sim::tell_limits(points, table, told);
  }
  const std::chrono::duration<double> replays = std::chrono::steady_clock::now() - start;
  if (outputs.made_by) {
    add_made_by(table);
  }
  if (parts != nullptr) {
    std::vector<std::string> columns;
    for (const sim::ResultColumn* column : shown(table, points.sweep())) {
      columns.push_back(column->name());
    }
    parts->parts.copy(parts->folders, table, columns, csv);
  } else {
    write_results(table, shown(table, points.sweep()), outputs.threads, csv);
  }
  if (has_provenance(outputs.csv)) {
    base::write_text(sweep_file_beside(outputs.csv), sweep_text, base::Output::beside);
  }
  if (!outputs.report.empty()) {
    if (parts != nullptr) {
      const std::vector<std::size_t> shown_rows = fetch_rows_to_show(points, *parts, table);
      sim::tell_limits(points, table, on_front(table, shown_rows));
    }
    write_report(table, &points, sweep_text, outputs.report);
  }
  if (outputs.json) {
    print_json(answer_json(points, table, replayed, outputs));
  } else if (!outputs.quiet) {
    print_answer(points, table, replayed, outputs);
  }
  if (!outputs.quiet && !is_replayed) {
    fmt::print(stderr, "{} replays in {:.2f} s\n",
               replayed.confirmed + replayed.differs + replayed.broken, replays.count());
  }
}

void finish_parts(const sim::SweepPoints& points, const PartsOnDisk& parts,
                  const std::string& sweep_text, const SweepOutputs& outputs,
                  base::CsvWriter& csv) {
  const bool copies = !outputs.simulate;
  sim::ResultTable table =
      copies ? parts.parts.read_thin(parts.folders) : parts.parts.read(parts.folders);
  sim::rank_rows(points, table);
  finish_sweep(points, table, {}, sweep_text, outputs, csv, copies ? &parts : nullptr);
}

}  // namespace roofcast::cli
