// SPDX-License-Identifier: Apache-2.0
//
// Whether a replay keeps what the estimate promised.
//
//   confirmed        the replay meets every condition; `note` says which estimates it is far from nevertheless
//   differs          of a row of a sweep: the replay meets them, but an objective lies outside the interval of the estimate
//   broken           it misses one; `note` says which, the simulated value, and by how much
//   estimated only   nothing was replayed; `note` says why
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/confirm/replayed_estimate.hpp"
#include "sim/result/condition.hpp"

namespace roofcast::sim {

// How far from its replay an estimate may be.
struct CheckedMetric {
  std::string_view name;  // of sim/result/metrics.hpp
  double tolerance;       // of estimate / replay - 1
};
inline constexpr std::array<CheckedMetric, 4> kChecked = {
    {{"ttft_mean_s", 0.10}, {"tpot_mean_s", 0.10}, {"ttft_p95_s", 0.15}, {"tpot_p95_s", 0.15}}};

// A metric whose estimate is farther off, by more than two standard errors of the replay.
struct Disagreement {
  const Metric* metric = nullptr;
  double ratio = 1.0;  // replay over estimate
  double error = 0.0;  // standard error of the replay, relative
};
std::vector<Disagreement> disagreements(const ServingEstimate& closed_form,
                                        const Replayed& replayed);
std::vector<Disagreement> disagreements(
    const std::function<double(const Metric& metric)>& estimate_of, const Replayed& replayed);
// Those that are farther off, but not by two standard errors: the replay cannot tell.
std::vector<Disagreement> undecided(const ServingEstimate& closed_form, const Replayed& replayed);

enum class Verdict : std::uint8_t { confirmed, differs, broken, estimated };
std::string_view name(Verdict verdict);

struct Judgement {
  Verdict verdict = Verdict::estimated;
  std::string note;
  bool far =
      false;  // confirmed, but the replay disagrees with an estimate; the note says with which
};
// The note where nobody wants replays.
inline constexpr const char* kNotAsked = "no replay was asked for";
// In the note of a confirmed row whose replay disagrees with an estimate.
inline constexpr std::string_view kFar = " times the estimate";
// Makes a confirmed judgement `far`, and says by which estimates.
void add(const std::vector<Disagreement>& disagreements, Judgement& judgement);
// A confirmed judgement of a row with these objectives becomes `differs` where the replay of one lies outside the interval of
// its estimate, by more than two standard errors and 2 %. The note says which.
void compare(const std::vector<const Metric*>& objectives, const Replayed& replayed,
             Judgement& judgement);
// A value within two standard errors of its bound is confirmed or broken like any other, unless it has to hold by so
// many; the note says that it is near.
Judgement judge(std::span<const Condition> conditions, const Replayed& replayed,
                double errors = 0.0);

// Whether every condition holds with its value worse by so many standard errors.
bool holds_by(std::span<const Condition> conditions, const Replayed& replayed, double errors);

// Unless it is null, or there already.
void add_metric(std::vector<const Metric*>& metrics, const Metric* metric);
// The simulated metrics of conditions, each once: what a replay is asked for.
std::vector<const Metric*> simulated_metrics(std::span<const Condition> conditions);

}  // namespace roofcast::sim
