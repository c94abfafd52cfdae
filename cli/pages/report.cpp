// SPDX-License-Identifier: Apache-2.0
#include "cli/pages/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "base/csv/csv.hpp"
#include "cli/assets/asset.hpp"
#include "cli/pages/brief.hpp"
#include "cli/pages/html_page.hpp"
#include "cli/provenance/made_by.hpp"
#include "cli/provenance/version.hpp"
#include "cli/tables/front_table.hpp"
#include "cli/tables/metric_cells.hpp"
#include "cli/tables/report_rows.hpp"
#include "cli/tables/result_csv.hpp"
#include "cli/text/explain.hpp"
#include "sim/result/metrics.hpp"
#include "sim/result/parent_figures.hpp"

namespace roofcast::cli {

namespace {

using nlohmann::ordered_json;

constexpr std::size_t kMaxPoints = 12;  // with operator detail

ordered_json column_json(const std::string& name, bool prompts) {
  const ColumnKind kind = kind_of_column(name);
  if (const sim::Metric* m = sim::find_metric(name)) {
    const MetricWords words = words_of(*m, prompts);
    return {{"name", name},
            {"label", words.label},
            {"unit", words.unit},
            {"description", m->description},
            {"kind", m->bounds.empty() ? "metric" : "bound"},
            {"bounds", m->bounds},
            {"better", m->better == sim::Better::higher  ? ordered_json("higher")
                       : m->better == sim::Better::lower ? ordered_json("lower")
                                                         : ordered_json()}};
  }
  const sim::Metric* replayed = sim::replayed_metric(name);
  std::string label = replayed != nullptr ? fmt::format("{}, replayed", replayed->label) : name;
  std::string description = replayed != nullptr ? "the value in the simulator" : "";
  for (const sim::TextMetric& text : sim::text_metrics()) {
    if (text.name == name) {
      label = text.label;
      description = text.description;
    }
  }
  return {{"name", name},
          {"label", label},
          {"unit", replayed != nullptr ? replayed->unit : ""},
          {"description", description},
          {"kind", kind == ColumnKind::axis ? "axis" : "status"},
          {"better", nullptr}};
}

ordered_json cell_json(const sim::ResultColumn& column, std::size_t row) {
  if (column.has_numbers()) {
    return column.is_empty(row) ? ordered_json() : ordered_json(column.number(row));
  }
  const std::string& cell = column.text(row);
  const auto number = base::parse_number(cell);
  if (column.name() == "reason") {
    return cell;
  }
  if (kind_of_column(column.name()) == ColumnKind::axis) {
    return number ? ordered_json(*number) : ordered_json(cell);
  }
  if (cell.empty()) {
    return nullptr;
  }
  if (const auto flag = base::parse_flag(cell)) {
    return *flag;
  }
  return number ? ordered_json(*number) : ordered_json(cell);
}

std::string label_of(const sim::SweepPoints& points, std::size_t point) {
  std::string label;
  for (std::size_t axis = 0; axis < points.sweep().axes.size(); ++axis) {
    const std::string& name = points.sweep().axes[axis].name;
    const std::string last = name.substr(name.rfind('.') + 1);
    const std::string& value = points.label(point, axis);
    const bool number = base::parse_number(value).has_value() || value[0] == 'x';
    label += axis > 0 ? " · " : "";
    label += number ? fmt::format("{} {}", last, value) : value;
  }
  return label;
}

// {first, mixers: [[calls, layers]], ffns, runs: [[mixer, ffn, layers]]}
ordered_json layers_json(const workloads::LayerCalls& calls) {
  ordered_json json = {{"first", calls.first}};
  for (const auto& [name, kinds] : {std::pair("mixers", &calls.mixers), {"ffns", &calls.ffns}}) {
    json[name] = ordered_json::array();
    for (const workloads::LayerCalls::Kind& kind : *kinds) {
      json[name].push_back({kind.calls, kind.layers});
    }
  }
  json["runs"] = ordered_json::array();
  for (const workloads::LayerCalls::Run& run : calls.runs) {
    json["runs"].push_back({run.mixer, run.ffn, run.layers});
  }
  return json;
}

ordered_json point_json(const sim::SweepPoints& points, std::size_t point, std::size_t row) {
  const sim::ScenarioView scenario = points.scenario(point);
  sim::Workspace workspace;
  const sim::ServingEstimate estimate = sim::estimate(scenario, workspace);
  const hardware::Chip& chip = scenario.platform->system.chip;
  ordered_json steps = explain_json(scenario, estimate);
  const std::vector<PhaseRows> rows = explain(scenario, estimate);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    steps[i]["layers"] = layers_json(rows[i].layers);
  }
  std::set<std::string> used;
  for (const auto& step : steps) {
    for (const auto& op : step["operators"]) {
      used.insert(op["format"].get<std::string>());
    }
  }
  ordered_json peaks = ordered_json::array();
  for (int i = 0; i < base::kMathTypes; ++i) {
    const auto type = static_cast<base::MathType>(i);
    if (used.contains(std::string(base::name(type)))) {
      peaks.push_back({{"format", base::name(type)}, {"flop_per_s", chip.peak(type).si()}});
    }
  }
  return {{"row", row},
          {"label", label_of(points, point)},
          {"chip", chip.id},
          {"hbm_bandwidth_bytes_per_s", chip.bandwidth.si()},
          {"peaks", std::move(peaks)},
          {"phases", std::move(steps)}};
}

ordered_json points_json(const sim::ResultTable& table, const sim::SweepPoints& points,
                         const std::vector<std::size_t>& chosen, const std::string& objective) {
  std::vector<std::size_t> front;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    if (table.is_on_front(chosen[i])) {
      front.push_back(chosen[i]);
    }
  }
  ordered_json json = ordered_json::array();
  const sim::ResultColumn& index = table.column("point");
  for (const std::size_t row : spread(table, front, objective, kMaxPoints)) {
    const auto point = static_cast<std::size_t>(index.is_empty(row) ? 0.0 : index.number(row));
    const auto at = std::lower_bound(chosen.begin(), chosen.end(), row) - chosen.begin();
    ordered_json detail = point_json(points, point, static_cast<std::size_t>(at));
    if (!detail["phases"].empty()) {  // a step of training or RL is reported by its metrics
      json.push_back(std::move(detail));
    }
  }
  return json;
}

ordered_json notes_json(const sim::ResultTable& table) {
  constexpr std::pair<std::string_view, std::string_view> kNotes[] = {
      {"datasheet",
       "Not calibrated: rows marked \"datasheet\" use one generic set of efficiencies for every "
       "chip. Trust ratios between rows more than their absolute values."},
      {"assumed",
       "Rows marked \"assumed\" are of a chip that is not published in full: some of its figures "
       "are assumptions, named in the chip's file."},
  };
  ordered_json notes = ordered_json::array();
  const sim::ResultColumn* origin = table.find("provenance");
  for (const auto& [provenance, note] : kNotes) {
    for (std::size_t row = 0; origin != nullptr && row < table.rows(); ++row) {
      if (origin->says(row, provenance)) {
        notes.push_back(std::string(note));
        break;
      }
    }
  }
  return notes;
}

// A page without its question and answer.
struct Page {
  ordered_json data;
  std::vector<std::size_t> rows;  // of the table
};

Page page_of(const sim::ResultTable& table, const ShownColumns& columns,
             const sim::ParetoGoal& goal, const std::set<std::size_t>& kept,
             const std::filesystem::path& file) {
  ordered_json data;
  data["title"] = file.stem().string();
  data["generated_by"] = "roofcast " + version();
  data["columns"] = ordered_json::array();
  const bool prompts = serves_prompts(table);
  for (const sim::ResultColumn* column : columns) {
    data["columns"].push_back(column_json(column->name(), prompts));
  }
  const std::string series = series_of(table, columns);
  std::vector<std::size_t> chosen = rows_to_show(table, series, kept);
  ordered_json rows = ordered_json::array();
  for (const std::size_t row : chosen) {
    ordered_json cells = ordered_json::array();
    for (const sim::ResultColumn* column : columns) {
      cells.push_back(cell_json(*column, row));
    }
    rows.push_back(std::move(cells));
  }
  data["rows"] = std::move(rows);
  data["total_rows"] = table.rows();
  data["meeting_rows"] = table.meeting();
  data["shown_rows"] = chosen.size();
  data["pareto"] = {{"maximize", goal.maximize}, {"minimize", goal.minimize}};
  data["series_column"] = series;
  data["notes"] = notes_json(table);
  return {std::move(data), std::move(chosen)};
}

ordered_json report_json(const sim::ResultTable& table, const sim::SweepPoints* points,
                         const std::string& sweep_text, const std::filesystem::path& file) {
  const sim::ParetoGoal goal = points != nullptr ? points->sweep().pareto : sim::default_goal();
  auto [data, chosen] =
      page_of(table, points != nullptr ? shown(table, points->sweep()) : every_column(table), goal,
              {}, file);
  data["question"] = points != nullptr ? points->sweep().question : "";
  data["fronts"] = points != nullptr ? fronts_text(*points, table) : "the Pareto front";
  data["scenario"] = seen_from_here(sweep_text);
  const std::string objective =
      goal.maximize.empty() ? goal.minimize.front() : goal.maximize.front();
  const sim::Metric* metric = sim::find_metric(objective);
  // Rows of a part of a sweep, or without its replays, do not answer its question.
  if (points != nullptr && points->size() == table.rows() && metric != nullptr &&
      table.find(objective) != nullptr) {
    const Answer answer = answer_of(*points, table, *metric);
    data["answer"] = answer.sentences;
    data["best"] = answer.best;
  }
  for (std::size_t i = 0; points != nullptr && points->has_parent_figures() && i < chosen.size();
       ++i) {
    for (std::string& sentence : sim::parent_sentences(points->scenario(chosen[i]))) {
      if (std::find(data["notes"].begin(), data["notes"].end(), sentence) == data["notes"].end()) {
        data["notes"].push_back(std::move(sentence));
      }
    }
  }
  data["points"] =
      points != nullptr ? points_json(table, *points, chosen, objective) : ordered_json::array();
  return data;
}

void add_curves(ordered_json& data, const std::vector<ReportCurves>& curves) {
  for (const ReportCurves& each : curves) {
    ordered_json lines = ordered_json::array();
    for (const ReportCurves::Line& line : each.lines) {
      lines.push_back({{"name", line.name}, {"values", line.values}});  // null for NaN
    }
    data["curves"].push_back(
        {{"heading", each.heading},
         {"caption", each.caption},
         {"x", {{"label", each.x_label}, {"values", each.x}, {"doubles", each.doubles}}},
         {"y", each.y_label},
         {"unit", each.is_share ? "fraction" : ""},
         {"lines", std::move(lines)}});
  }
}

void write_data(const ordered_json& data, const std::filesystem::path& file) {
  write_page(asset_report_html(),
             {asset_report_table_js(), asset_report_filter_js(), asset_report_tradeoff_js(),
              asset_report_curves_js(), asset_report_parallel_js(), asset_report_attainment_js(),
              asset_report_operators_js(), asset_report_timeline_js(), asset_report_downloads_js(),
              asset_report_js()},
             data, file);
}

}  // namespace

void write_report(const sim::ResultTable& table, const sim::SweepPoints* points,
                  const std::string& sweep_text, const std::filesystem::path& file,
                  const std::vector<ReportCurves>& curves) {
  ordered_json data = report_json(table, points, sweep_text, file);
  add_curves(data, curves);
  write_data(data, file);
}

void write_report(const sim::ResultTable& table, const ReportHead& head,
                  const std::filesystem::path& file, const std::vector<ReportCurves>& curves) {
  std::set<std::size_t> kept;
  for (const PointOfTable& each : head.detailed) {
    kept.insert(each.row);
  }
  auto [data, chosen] = page_of(table, every_column(table), head.goal, kept, file);
  data["question"] = head.question;
  data["scenario"] = head.scenario;
  data["answer"] = head.answer.sentences;
  data["best"] = head.answer.best;
  data["changes"] = head.answer.changes;
  data["points"] = ordered_json::array();
  for (const PointOfTable& each : head.detailed) {
    const auto at = std::lower_bound(chosen.begin(), chosen.end(), each.row) - chosen.begin();
    data["points"].push_back(point_json(*each.points, each.point, static_cast<std::size_t>(at)));
  }
  add_curves(data, curves);
  write_data(data, file);
}

}  // namespace roofcast::cli
