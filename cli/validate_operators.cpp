// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>
#include <tuple>

#include "calibrate/chip_platforms.hpp"
#include "calibrate/operator_rows.hpp"
#include "calibrate/predict.hpp"
#include "cli/commands.hpp"
#include "cli/text_table.hpp"
#include "cli/validation.hpp"

namespace roofcast::cli {
int validate_operators(const ValidationOptions& options) {
  const base::CsvTable table = base::read_csv(options.data);
  const RowFilter filter(table, options.where);
  const calibrate::OperatorRows rows(options.kind, table);
  calibrate::ChipPlatforms platforms(options.calibration);
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
    measured.reason = platform == nullptr ? "no system with " + measured.chip + " in the catalog"
                                          : calibrate::reason_against(measured, platform->machine);
    if (!measured.reason.empty()) {
      out.add(row, {NAN}, "", measured.reason);
      ++skipped;
      ++skipped_by_reason[measured.reason];
      continue;
    }
    const double seconds = calibrate::predicted_s(measured, platform->machine);
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
