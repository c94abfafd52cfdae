// SPDX-License-Identifier: Apache-2.0
#include "calibrate/operators/power_rows.hpp"

#include <algorithm>
#include <cmath>

#include "models/operators/operator_cost.hpp"
#include "models/power.hpp"

namespace roofcast::calibrate {
namespace {

constexpr double kMostRuns = 3000;
constexpr double kSensorSecond = 1.0;
constexpr std::int64_t kFirstRows = 8192;
constexpr double kHostPace = 0.6e-3;  // seconds
constexpr double kLeastShare = 0.75;

// Sets of weights in a run.
double weights_of(const MeasuredOperator& measured, const workloads::Gemm& gemm,
                  const models::Machine& machine) {
  const auto copies = static_cast<double>(gemm.copies);
  if (measured.stack == "vllm") {
    return copies;
  }
  const base::Bytes one = static_cast<double>(gemm.n * gemm.k) *
                          std::floor(base::bits(gemm.weights)) / 8.0 * base::byte;
  return std::clamp(std::ceil(machine.l2_capacity / one), 1.0, std::max(1.0, copies));
}

bool too_short(const MeasuredOperator& measured, const workloads::Gemm& gemm, double seconds,
               const models::Machine& machine) {
  const bool sustained = measured.stack == kBench;  // for 3 s, whatever the shape
  return !sustained && kMostRuns * weights_of(measured, gemm, machine) * seconds < kSensorSecond;
}

// Whether a row draws less than its neighbour by more than its rate is lower.
bool draws_too_little(const MeasuredOperator& measured, const workloads::Gemm& gemm,
                      const PowerRun& beside, const models::Machine& machine) {
  workloads::Gemm other = gemm;
  other.m = beside.m;
  if (too_short(measured, other, beside.seconds, machine)) {
    return false;
  }
  const double rate = static_cast<double>(gemm.m) / measured.measured_s;
  const double rate_beside = static_cast<double>(beside.m) / beside.seconds;
  return measured.measured_w < kLeastShare * std::min(1.0, rate / rate_beside) * beside.watts;
}

}  // namespace

std::string reason_against_power(const MeasuredOperator& measured, const models::Machine& machine) {
  if (!machine.power.known()) {
    return measured.chip + " has no published TDP";
  }
  const auto& gemm = std::get<workloads::Gemm>(measured.operators.back());
  if (too_short(measured, gemm, measured.measured_s, machine)) {
    return "runs of less than the second that the power sensor averages";
  }
  if (measured.stack == "vllm" && measured.format == "fp8_block" &&
      measured.measured_s < kHostPace) {
    return "timed at the pace of the host that launches it";
  }
  const bool packed = measured.format == "fp8_block" || measured.format == "nvfp4";
  if (measured.stack == "trtllm" && (packed || gemm.m >= kFirstRows)) {
    return "the power sensor averages the pause before it";
  }
  const bool little = std::any_of(
      measured.neighbours.begin(), measured.neighbours.end(),
      [&](const PowerRun& run) { return draws_too_little(measured, gemm, run, machine); });
  return little ? "draws too little beside the same weights with fewer or more rows" : "";
}

double predicted_w(const MeasuredOperator& measured, const models::Machine& machine) {
  models::Activity activity;
  activity.running = base::Seconds::from_si(measured.overhead_s);
  for (const workloads::Operator& op : measured.operators) {
    const models::Cost cost = models::cost_of(op, machine);
    activity.add(cost, models::math_of(op, machine), 1.0, cost.time, machine);
  }
  return models::drawn(activity, machine.power).power().si();
}

}  // namespace roofcast::calibrate
