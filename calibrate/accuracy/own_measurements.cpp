// SPDX-License-Identifier: Apache-2.0
#include "calibrate/accuracy/own_measurements.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/document/catalog.hpp"
#include "base/statistics/quantile.hpp"
#include "calibrate/fit/fit.hpp"
#include "calibrate/fit/parameter_spread.hpp"
#include "calibrate/operators/operator_rows.hpp"
#include "calibrate/operators/predict.hpp"
#include "calibrate/platforms/chip_platforms.hpp"
#include "calibrate/platforms/measurements.hpp"
#include "hardware/chip.hpp"
#include "models/operators/operator_cost.hpp"
#include "models/power.hpp"

namespace roofcast::calibrate {
namespace {

// The stack whose GEMMs are cuBLASLt's too, and whose attention is a library's.
constexpr const char* kStack = "trtllm";

struct OwnTable {
  const char* kind;
  const char* name;
  const char* kernels;  // only rows of these; empty: of all
};
constexpr OwnTable kTables[] = {
    {"gemm", "gemm", ""},
    {"gemm_power", "gemm_power", ""},
    {"attention_context", "attention_forward", "torch_cudnn"},
    {"mamba2", "mamba2", "selective_state_update"},
};

// Seconds of a row's operators where they run on and on.
double kept_up(const MeasuredOperator& row, const models::Machine& machine) {
  models::Activity activity;
  for (const workloads::Operator& op : row.operators) {
    const models::Cost cost = models::cost_of(op, machine);
    activity.add(cost, models::math_of(op, machine), 1.0, cost.time, machine);
  }
  return models::drawn(activity, machine.power).time / base::second;
}

void add_forecasts(const std::string& chip, const std::filesystem::path& folder,
                   std::vector<OwnErrors>& all) {
  ChipPlatforms platforms;
  const sim::Platform* platform = platforms.find_timed(chip, kStack);
  for (const OwnTable& own : kTables) {
    const auto file = find_table(folder, own.name);
    if (platform == nullptr || !file) {
      continue;
    }
    const base::CsvTable table = base::read_csv(*file);
    const OperatorRows rows(own.kind, table);
    const std::size_t kernels = table.column("kernel_source");
    std::map<std::string, std::vector<Pair>> by_format;
    for (std::size_t i = 0; i < table.rows(); ++i) {
      const MeasuredOperator row = rows.row(i);
      if ((*own.kernels != '\0' && table.cell(i, kernels) != own.kernels) ||
          !reason_against(row, platform->machine).empty()) {
        continue;
      }
      if (row.measured_w > 0.0) {
        by_format["time at the power limit"].push_back(
            {row.measured_s, kept_up(row, platform->machine)});
      }
      const double value = predicted(row, platform->machine);
      const Interval within = interval(value, own.kind, platform->system.calibration);
      const std::string of = row.measured_w > 0.0 ? "power"
                             : std::string_view(own.kind) == "gemm"
                                 ? row.format
                                 : std::string(table.cell(i, kernels));
      by_format[of].push_back({measured(row), value, within.low, within.high});
    }
    for (auto& [format, pairs] : by_format) {
      all.push_back({chip, fmt::format("{}, {}", own.kind, format), std::move(pairs)});
    }
  }
}

void add_repeated(const std::string& chip, const std::filesystem::path& folder,
                  const std::filesystem::path& tables, std::vector<RepeatedGemms>& all) {
  const auto file = find_table(folder, "gemm");
  const auto others = find_table(tables, "gemm");
  if (!file || !others) {
    return;
  }
  constexpr std::string_view kFormat = "bfloat16";
  const base::CsvTable own_table = base::read_csv(*file);
  const OperatorRows own("gemm", own_table);
  std::map<std::string, double> times;  // by shape
  for (std::size_t i = 0; i < own_table.rows(); ++i) {
    if (const MeasuredOperator row = own.row(i); row.format == kFormat && row.reason.empty()) {
      times[own.shape(i)] = row.measured_s;
    }
  }
  const base::CsvTable table = base::read_csv(*others);
  const OperatorRows rows("gemm", table);
  std::map<std::string, std::vector<double>> found;  // by stack
  for (std::size_t i = 0; i < table.rows(); ++i) {
    if (rows.format(i) != kFormat || rows.chip(i) != chip) {
      continue;
    }
    if (const auto same = times.find(rows.shape(i)); same != times.end()) {
      found[std::string(rows.stack(i))].push_back(rows.row(i).measured_s / same->second);
    }
  }
  for (auto& [stack, ratios] : found) {
    all.push_back({chip, stack, std::move(ratios)});
  }
}

std::string shipped_text(const std::string& chip, const std::string& path) {
  for (const ParameterSpread& spread : parameter_spreads()) {
    if (spread.path == path) {
      const auto placed = std::find_if(
          spread.placed.begin(), spread.placed.end(), [&](const PlacedParameter& each) {
            return each.calibration == fmt::format("{}.{}", chip, kStack);
          });
      return placed == spread.placed.end() ? spread.generic : placed->text;
    }
  }
  return {};
}

void add_alone(const std::string& chip, const std::filesystem::path& folder, OwnMeasurements& all) {
  const auto file = find_table(folder, "gemm");
  if (!file) {
    return;
  }
  const FittedCalibration fitted = fit_calibration({chip, kStack, {{*file}, {}}});
  for (const KindErrors& errors : fitted.kinds) {
    if (errors.kind == "gemm") {
      all.alone.push_back({chip, "gemm, shapes held back", errors.pairs});
    }
  }
  for (const FittedParameter& parameter : fitted.parameters) {
    all.parameters.push_back(
        {chip, parameter.path, parameter.text, shipped_text(chip, parameter.path)});
  }
}

}  // namespace

hardware::RepeatedSpread repeated_spread(const OwnMeasurements& own) {
  std::vector<double> apart;
  for (const RepeatedGemms& gemms : own.repeated) {
    for (const double ratio : gemms.ratios) {
      apart.push_back(std::abs(std::log(ratio)));
    }
  }
  return {"gemm", apart.empty() ? 0.0 : base::quantile(apart, 0.9)};
}

OwnMeasurements own_measurements(const std::filesystem::path& tables) {
  OwnMeasurements all;
  for (const std::string& chip : base::catalog_ids(hardware::chip_catalog())) {
    const std::filesystem::path folder = tables.parent_path() / chip;
    if (std::filesystem::is_directory(folder)) {
      add_forecasts(chip, folder, all.forecasts);
      add_repeated(chip, folder, tables, all.repeated);
      add_alone(chip, folder, all);
    }
  }
  return all;
}

}  // namespace roofcast::calibrate
