// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <tuple>

#include "calibrate/operators/operator_rows.hpp"
#include "calibrate/operators/predict.hpp"
#include "calibrate/platforms/chip_platforms.hpp"
#include "cli/tables/say.hpp"
#include "cli/tables/text_table.hpp"
#include "cli/text/exit_code.hpp"
#include "cli/validate/validation.hpp"

namespace roofcast::cli {
int validate_operators(const ValidationOptions& options) {
  if (!options.against.empty()) {
    throw base::InputError("error: --against is of serving and requests\n");
  }
  const base::CsvTable table = base::read_csv(options.data);
  const RowFilter filter(table, options.where);
  const calibrate::OperatorRows rows(options.kind, table);
  calibrate::ChipPlatforms platforms(options.calibration, options.unmeasured());
  const bool power = options.kind == "gemm_power";
  const std::string unit = power ? "power_w" : "latency_ms";
  const double scale = power ? 1.0 : base::second / base::millisecond;
  ErrorsFile out(options.out, table, {"predicted_" + unit, "low90_" + unit, "high90_" + unit});
  std::vector<calibrate::Pair> all;
  std::map<std::tuple<std::string, std::string, std::string>, std::vector<calibrate::Pair>> groups;
  std::map<std::string, std::size_t> skipped_by_reason;
  std::size_t skipped = 0;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    if (!filter.keeps(row)) {
      continue;
    }
    calibrate::MeasuredOperator measured = rows.row(row);
    const sim::Platform* platform = calibrate::platform_of(measured, options.kind, platforms);
    measured.reason = platform == nullptr ? calibrate::no_system_with(measured.chip)
                                          : calibrate::reason_against(measured, platform->machine);
    const double predicted =
        measured.reason.empty() ? calibrate::predicted(measured, platform->machine) : NAN;
    if (measured.reason.empty() && !calibrate::positive(predicted)) {
      measured.reason = calibrate::kNoForecast;
    }
    if (!measured.reason.empty()) {
      out.add(row, {NAN, NAN, NAN}, "", measured.reason);
      ++skipped;
      ++skipped_by_reason[measured.reason];
      continue;
    }
    const calibrate::Interval within = calibrate::interval(
        predicted, calibrate::error_kind(measured, options.kind, platform->machine),
        platform->system.calibration);
    out.add(row, {scale * predicted, scale * within.low, scale * within.high},
            std::string(hardware::name(platform->system.provenance())), "");
    all.push_back({calibrate::measured(measured), predicted, within.low, within.high});
    groups[{measured.chip, measured.stack, measured.format}].push_back(all.back());
  }
  out.close();
  if (options.json != nullptr) {
    nlohmann::ordered_json& json = *options.json;
    json["all"] = error_json(calibrate::summarise(all));
    json["not_predicted"] = skipped_by_reason;
    for (const auto& [key, pairs] : groups) {
      const auto& [chip, stack, format] = key;
      json["groups"].push_back({{"chip", chip},
                                {"stack", stack},
                                {"format", format},
                                {"errors", error_json(calibrate::summarise(pairs))}});
    }
    return kDone;
  }

  if (!groups.empty()) {
    TextTable text({"chip", "stack", "format", "rows", "mape", "median", "p90", "bias", "in 90%"});
    for (const auto& [key, pairs] : groups) {
      const auto& [chip, stack, format] = key;
      std::vector<std::string> cells = {chip, stack, format, fmt::format("{}", pairs.size())};
      for (std::string& cell : error_cells(calibrate::summarise(pairs))) {
        cells.push_back(std::move(cell));
      }
      text.add(std::move(cells));
    }
    say("{}\n", text.text());
  }
  say("{}{}\n", skipped_table(skipped_by_reason),
      calibrate::summary_line(options.kind, calibrate::summarise(all), skipped));
  return kDone;
}

}  // namespace roofcast::cli
