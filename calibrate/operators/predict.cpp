// SPDX-License-Identifier: Apache-2.0
#include "calibrate/operators/predict.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "calibrate/operators/power_rows.hpp"
#include "hardware/spreads.hpp"
#include "models/operators/operator_cost.hpp"
#include "models/uncertainty.hpp"

namespace roofcast::calibrate {
namespace {

double kernels_s(const MeasuredOperator& measured, const models::Machine& machine) {
  double seconds = measured.overhead_s;
  for (const workloads::Operator& op : measured.operators) {
    seconds += models::cost_of(op, machine).time / base::second;
  }
  return seconds;
}

}  // namespace

std::string reason_against(const MeasuredOperator& measured, const models::Machine& machine) {
  if (!measured.reason.empty()) {
    return measured.reason;
  }
  for (const workloads::Operator& op : measured.operators) {
    const base::MathType math = models::math_of(op, machine);
    if (!machine.supports(math)) {
      return fmt::format("{} has no {} tensor rate", measured.chip, base::name(math));
    }
  }
  return measured.measured_w > 0.0 ? reason_against_power(measured, machine) : std::string();
}

bool has_kernels_of(std::string_view kind, std::string_view row_stack, std::string_view stack) {
  return row_stack == stack || row_stack == "nccl" ||
         (kind.starts_with("deepep") && stack != "trtllm");
}

std::string_view tuned_like(std::string_view kind, std::string_view format,
                            std::string_view stack) {
  return kind == "gemm" && format == "nvfp4" && stack == "trtllm" ? "vllm" : "";
}

const sim::Platform* platform_of(const MeasuredOperator& row, std::string_view kind,
                                 ChipPlatforms& platforms) {
  if (has_kernels_of(kind, row.stack, "vllm")) {
    return platforms.find_timed(row.chip, "vllm", row.stack == "vllm" ? row.version : "");
  }
  return platforms.find_timed(row.chip, row.stack, row.version);
}

Interval interval(double predicted, std::string_view kind,
                  const hardware::Calibration& calibration) {
  for (const hardware::KindError& e : calibration.errors) {
    if (e.kind == kind) {
      const hardware::Ends ends = hardware::interval(e);
      return {predicted * ends.low, predicted * ends.high};
    }
  }
  return {};
}

double host_s(const MeasuredOperator& measured, const models::Machine& machine) {
  const bool packs = machine.supports(base::MathType::fp4);
  const double launches = measured.host.launches + (packs ? measured.host.packing : 0.0);
  return launches * (machine.calibration.eager_launch / base::second);
}

double predicted_s(const MeasuredOperator& measured, const models::Machine& machine) {
  return std::max(kernels_s(measured, machine), host_s(measured, machine));
}

std::string_view error_kind(const MeasuredOperator& measured, std::string_view kind,
                            const models::Machine& machine) {
  const double host = host_s(measured, machine);
  const auto& errors = machine.calibration.errors;
  const bool waits =
      host > 0.0 && std::any_of(errors.begin(), errors.end(), [](const hardware::KindError& e) {
        return e.kind == hardware::kHostLaunches;
      });
  if (waits && host > kernels_s(measured, machine)) {
    return hardware::kHostLaunches;
  }
  const bool between_hosts = std::any_of(
      measured.operators.begin(), measured.operators.end(), [&](const workloads::Operator& op) {
        return models::error_kind(op, machine.scale_up_domain) == models::ErrorKind::nccl_hosts;
      });
  return between_hosts ? models::name(models::ErrorKind::nccl_hosts) : kind;
}

double measured(const MeasuredOperator& row) {
  return row.measured_w > 0.0 ? row.measured_w : row.measured_s;
}

double predicted(const MeasuredOperator& row, const models::Machine& machine) {
  return row.measured_w > 0.0 ? predicted_w(row, machine) : predicted_s(row, machine);
}

}  // namespace roofcast::calibrate
