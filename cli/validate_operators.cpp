// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "calibrate/chip_platforms.hpp"
#include "calibrate/operator_rows.hpp"
#include "cli/commands.hpp"
#include "cli/text_table.hpp"
#include "cli/validation.hpp"
#include "models/operator_cost.hpp"

namespace roofcast::cli {
namespace {

// Seconds, or the reason why there are none.
double predict(calibrate::MeasuredOperator& measured, const sim::Platform* platform) {
  if (measured.reason.empty() && platform == nullptr) {
    measured.reason = "no system with " + measured.chip + " in the catalog";
  }
  double seconds = 0.0;
  for (const workloads::Operator& op : measured.operators) {
    if (!measured.reason.empty()) {
      return NAN;
    }
    const base::MathType math = models::math_of(op, platform->machine);
    if (!platform->machine.supports(math)) {
      measured.reason = fmt::format("{} has no {} tensor rate", measured.chip, base::name(math));
      return NAN;
    }
    seconds += models::cost_of(op, platform->machine).time / base::second;
  }
  if (measured.eager) {
    seconds = std::max(seconds, platform->machine.calibration.eager_launch / base::second);
  }
  return seconds;
}

}  // namespace

int validate_operators(const ValidationOptions& options) {
  const base::CsvTable table = base::read_csv(options.data);
  const RowFilter filter(table, options.where);
  const calibrate::OperatorRows rows(options.kind, table);
  calibrate::ChipPlatforms platforms;
  ErrorsFile out(options.out, table, {"predicted_latency_ms"});
  std::vector<calibrate::Pair> all;
  std::map<std::tuple<std::string, std::string, std::string>, std::vector<calibrate::Pair>> groups;
  std::map<std::string, std::size_t> skipped_by_reason;
  std::size_t skipped = 0;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    if (!filter.keeps(row)) {
      continue;
    }
    calibrate::MeasuredOperator measured = rows.row(row);
    const sim::Platform* platform = platforms.find(measured.chip);
    const double seconds = predict(measured, platform);
    if (!measured.reason.empty()) {
      out.add(row, {NAN}, "", measured.reason);
      ++skipped;
      ++skipped_by_reason[measured.reason];
      continue;
    }
    out.add(row, {seconds * (base::second / base::millisecond)},
            std::string(hardware::name(platform->system.provenance())), "");
    all.push_back({measured.measured_s, seconds});
    groups[{measured.chip, measured.stack, measured.format}].push_back(all.back());
  }
  out.close();

  if (!groups.empty()) {
    TextTable text({"chip", "stack", "format", "rows", "mape", "median", "p90", "bias"});
    for (const auto& [key, pairs] : groups) {
      const auto& [chip, stack, format] = key;
      std::vector<std::string> cells = {chip, stack, format, fmt::format("{}", pairs.size())};
      for (std::string& cell : error_cells(calibrate::summarise(pairs))) {
        cells.push_back(std::move(cell));
      }
      text.add(std::move(cells));
    }
    fmt::print("{}\n", text.text());
  }
  fmt::print("{}{}\n", skipped_table(skipped_by_reason),
             calibrate::summary_line(options.kind, calibrate::summarise(all), skipped));
  return kDone;
}

}  // namespace roofcast::cli
