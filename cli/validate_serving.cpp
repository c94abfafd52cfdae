// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>
#include <tuple>

#include "calibrate/serving_rows.hpp"
#include "cli/commands.hpp"
#include "cli/text_table.hpp"
#include "cli/validation.hpp"

namespace roofcast::cli {
namespace {

// Predictions of one quantity each, beside what was measured.
struct Errors {
  std::vector<calibrate::Pair> tpot;
  std::vector<calibrate::Pair> ttft;
  void add(const calibrate::MeasuredServer& measured, const calibrate::ServerForecast& predicted) {
    tpot.push_back({measured.tpot_ms, predicted.tpot_ms});
    ttft.push_back({measured.ttft_ms, predicted.ttft_ms});
  }
};

std::vector<std::string> cells(std::vector<std::string> row, const Errors& errors) {
  row.push_back(fmt::format("{}", errors.tpot.size()));
  for (const auto* pairs : {&errors.tpot, &errors.ttft}) {
    for (std::string& cell : error_cells(calibrate::summarise(*pairs))) {
      row.push_back(std::move(cell));
    }
  }
  return row;
}

std::vector<std::string> header(std::vector<std::string> first) {
  for (const char* column : {"rows", "tpot mape", "median", "p90", "bias", "in 90%", "ttft mape",
                             "median", "p90", "bias", "in 90%"}) {
    first.emplace_back(column);
  }
  return first;
}

}  // namespace

int validate_serving(const ValidationOptions& options) {
  const base::CsvTable table = base::read_csv(options.data);
  const RowFilter filter(table, options.where);
  calibrate::ServingRows rows(table, options.calibration, options.measured());
  ErrorsFile out(options.out, table, {"predicted_tpot_ms", "predicted_ttft_ms"});
  sim::Workspace workspace;
  Errors all;
  std::map<bool, Errors> by_speculation;
  std::map<std::tuple<std::string, std::string, std::string>, Errors> groups;
  std::map<std::string, std::size_t> skipped_by_reason;
  std::size_t skipped = 0;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    if (!filter.keeps(row)) {
      continue;
    }
    const calibrate::MeasuredServer measured = rows.row(row);
    const calibrate::ServerForecast predicted = calibrate::forecast(measured, workspace);
    if (!predicted.predicted()) {
      out.add(row, {NAN, NAN}, "", predicted.explanation);
      ++skipped;
      ++skipped_by_reason[predicted.reason];
      continue;
    }
    out.add(row, {predicted.tpot_ms, predicted.ttft_ms}, predicted.provenance, "");
    all.add(measured, predicted);
    by_speculation[measured.may_speculate].add(measured, predicted);
    groups[{measured.model, measured.chip, measured.stack}].add(measured, predicted);
  }
  out.close();

  if (!groups.empty()) {
    TextTable table_of_groups(header({"model", "chip", "stack"}));
    for (const auto& [key, errors] : groups) {
      const auto& [model, chip, stack] = key;
      table_of_groups.add(cells({model, chip, stack}, errors));
    }
    fmt::print("{}\n", table_of_groups.text());
    TextTable parts(header({"rows that"}));
    for (const auto& [speculates, errors] : by_speculation) {
      parts.add(cells({speculates ? "may speculate (mtp-suspect)" : "do not speculate"}, errors));
    }
    fmt::print("{}\n", parts.text());
  }
  fmt::print("{}", skipped_table(skipped_by_reason));
  fmt::print("{}\n{}\n", calibrate::summary_line("tpot", calibrate::summarise(all.tpot), skipped),
             calibrate::summary_line("ttft", calibrate::summarise(all.ttft), skipped));
  return kDone;
}

}  // namespace roofcast::cli
