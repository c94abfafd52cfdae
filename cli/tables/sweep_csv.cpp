// SPDX-License-Identifier: Apache-2.0
#include "cli/tables/sweep_csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <sstream>
#include <vector>

#include "base/csv/csv.hpp"
#include "base/threads.hpp"
#include "cli/tables/metric_cells.hpp"
#include "sim/result/metrics.hpp"

namespace roofcast::cli {

std::string row_reason(const sim::Sweep& sweep, const sim::ServingEstimate& estimate) {
  if (std::string missed = sim::missed(sweep.where, estimate); !missed.empty()) {
    return missed;
  }
  for (const auto* objectives : {&sweep.pareto.maximize, &sweep.pareto.minimize}) {
    for (const std::string& name : *objectives) {
      if (std::isnan(sim::find_metric(name)->value(estimate))) {
        const std::string_view gap = sim::reason(estimate.score.gap);
        return fmt::format("not on the front, has no {}{}{}", name, gap.empty() ? "" : ": ", gap);
      }
    }
  }
  return {};
}

base::CsvWriter open_sweep_csv(const sim::Sweep& sweep, const std::filesystem::path& file) {
  std::vector<std::string> columns = {"point"};
  for (const sim::Axis& axis : sweep.axes) {
    columns.push_back(axis.name);
  }
  columns.insert(columns.end(), {"fits", "meets", "pareto_rank", "reason"});
  add_metric_columns(columns);
  return base::CsvWriter(file, columns);
}

namespace {

constexpr std::size_t kBlock = 4096;  // rows that a thread writes at once

void write_rows(const sim::SweepPoints& points, const sim::SweepResult& result, std::size_t from,
                std::size_t to, base::CsvWriter& csv) {
  for (std::size_t i = from; i < to; ++i) {
    const sim::ServingEstimate& e = result.estimates[i];
    csv.append(i);
    for (std::size_t axis = 0; axis < points.sweep().axes.size(); ++axis) {
      csv.append(points.label(i, axis));
    }
    csv.append(e.fits() ? "true" : "false");
    csv.append(result.meets[i] != 0 ? "true" : "false");
    if (result.pareto_rank[i] != 0) {
      csv.append(result.pareto_rank[i]);
    } else {
      csv.append(std::string_view());
    }
    csv.append(row_reason(points.sweep(), e));
    append_metrics(csv, e);
    csv.end_row();
  }
}

}  // namespace

void write_sweep_csv(const sim::SweepPoints& points, const sim::SweepResult& result,
                     unsigned threads, base::CsvWriter& csv) {
  const unsigned count = base::thread_count(threads);
  for (std::size_t start = 0; start < points.size(); start += count * kBlock) {
    std::vector<std::ostringstream> blocks(count);
    base::on_threads(count, [&](unsigned block) {
      base::CsvWriter apart = csv.apart(blocks[block]);
      const std::size_t from = std::min(points.size(), start + block * kBlock);
      write_rows(points, result, from, std::min(points.size(), from + kBlock), apart);
      apart.close();
    });
    for (const std::ostringstream& block : blocks) {
      csv.add_rows(block.str());
    }
  }
  csv.close();
}

std::string sweep_text(const base::Node& document, const sim::Sweep& sweep) {
  base::Node whole = document;
  whole["base"] = sweep.base;
  return base::to_yaml(whole);
}

std::filesystem::path sweep_file_beside(const std::filesystem::path& csv) {
  std::filesystem::path stem = csv;
  if (stem.extension() == ".gz") {
    stem.replace_extension();
  }
  return stem.replace_extension(".sweep.yaml");
}

}  // namespace roofcast::cli
