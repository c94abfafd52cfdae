// SPDX-License-Identifier: Apache-2.0
//
// One self-contained HTML file out of a result: trade-off chart, roofline, time by operator,
// table.
//
// The page, its data contract and its drawings are cli/assets/report.*; this writer fills in the
// data.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cli/pages/brief.hpp"
#include "sim/decide/result_table.hpp"
#include "sim/decide/sweep_points.hpp"

namespace roofcast::cli {

// Lines in one chart.
struct ReportCurves {
  struct Line {
    std::string name;
    std::vector<double> values;  // NaN where there is none
  };
  std::string heading;
  std::string caption;
  std::string x_label;
  std::vector<double> x;
  std::string y_label;
  bool is_share = true;
  bool doubles = true;  // x is a count that doubles from value to value
  std::vector<Line> lines;
};

// `points` (nullptr when the sweep is not known) gives operator detail of chosen rows; `sweep_text`
// is shown as the scenario that made the rows.
void write_report(const sim::ResultTable& table, const sim::SweepPoints* points,
                  const std::string& sweep_text, const std::filesystem::path& file,
                  const std::vector<ReportCurves>& curves = {});

// A row of a table that is a point of some sweep.
struct PointOfTable {
  std::size_t row = 0;
  const sim::SweepPoints* points = nullptr;
  std::size_t point = 0;
};

// What a page says of rows that several sweeps made.
struct ReportHead {
  std::string question;
  Answer answer;
  std::string scenario;                // shown as what made the rows
  sim::ParetoGoal goal;                // its first two are the axes of the chart
  std::vector<PointOfTable> detailed;  // kept in the page whatever its size, with operator detail
};
void write_report(const sim::ResultTable& table, const ReportHead& head,
                  const std::filesystem::path& file, const std::vector<ReportCurves>& curves = {});

}  // namespace roofcast::cli
