// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "cli/compare/compare_measured.hpp"
#include "cli/tables/text_table.hpp"
#include "cli/text/explain.hpp"
#include "cli/text/scenario_text.hpp"
#include "sim/scenario/sections.hpp"
#include "sim/training/training.hpp"

namespace roofcast::cli {
namespace {

using base::Seconds;

constexpr std::size_t kNamed = 5;  // kernels that nothing maps
constexpr std::size_t kLongName = 90;

struct KindTime {
  Seconds measured;  // of one iteration and GPU; NaN where the log cannot tell
  Seconds forecast;
  Seconds low;
  Seconds high;
  Seconds light;
  std::int64_t kernels = 0;  // of one iteration and GPU, measured
  std::string longest;
  Seconds lost() const { return measured - light; }
};

// The phases of one iteration: of decodes alone, or with prompts; with those of its draft model. Of training, both passes.
std::vector<PhaseRows> phases_of(const CompareMeasuredOptions& options, bool trains,
                                 const std::vector<PhaseRows>& all) {
  if (trains) {
    return all;
  }
  const std::string_view wanted =
      options.iteration == "decode" ? "decode iteration" : "iteration with prompts";
  std::vector<PhaseRows> phases;
  std::copy_if(all.begin(), all.end(), std::back_inserter(phases),
               [&](const PhaseRows& phase) { return phase.name.starts_with(wanted); });
  return phases;
}

std::string short_name(const std::string& name) {
  return name.size() <= kLongName ? name : name.substr(0, kLongName) + "…";
}

// How often a GPU runs each phase of an iteration. A step runs the passes of each micro-batch, a stage its share of them.
double times_of(const sim::ScenarioView& scenario) {
  return scenario.training != nullptr && scenario.training->trains()
             ? static_cast<double>(sim::micro_batches(scenario).count) /
                   static_cast<double>(scenario.mapping->pipeline_parallel)
             : 1.0;
}

void add_forecast(std::map<std::string, KindTime>& kinds, const std::vector<PhaseRows>& phases,
                  double times) {
  for (const PhaseRows& phase : phases) {
    for (const OperatorRow& row : phase.operators) {
      const double runs = times * static_cast<double>(phase.runs);
      KindTime& kind = kinds[row.category];
      kind.forecast += runs * row.time_s * base::second;
      kind.low += runs * row.low_s * base::second;
      kind.high += runs * row.high_s * base::second;
      kind.light += runs * row.light_s * base::second;
    }
  }
}

std::string time_text(Seconds time) { return display(time / base::second, "s"); }

std::string over(Seconds part, Seconds whole) {
  return whole > Seconds{} && part > Seconds{} ? fmt::format("{:.3g}", part / whole) : "-";
}

}  // namespace

MeasuredComparison compare_kernels(const CompareMeasuredOptions& options,
                                   const calibrate::KernelProfile& profile) {
  const sim::Scenario scenario = sim::read_scenario(options.scenarios.of_profile(profile.name));
  const sim::ScenarioView view = sim::view(scenario);
  sim::Workspace workspace;
  const sim::ServingEstimate e = sim::estimate(view, workspace);
  MeasuredComparison comparison;
  comparison.log = profile.name;
  comparison.scenario = title(scenario);
  comparison.runs = e.fits();
  const std::int64_t counted = options.iterations > 0 ? options.iterations : profile.iterations;
  if (counted < 1) {
    throw base::InputError(
        fmt::format("{}: error: tells no iterations; --iterations says how many it holds (of a "
                    "summary of several GPUs, "
                    "times the GPUs)\n",
                    profile.name));
  }
  const double iterations = static_cast<double>(counted) * static_cast<double>(profile.gpus);
  std::map<std::string, KindTime> kinds;
  Seconds measured;
  Seconds other;
  std::vector<std::string> unmatched;
  for (const calibrate::KernelTime& kernel : profile.kernels) {
    const std::string_view name = calibrate::kernel_kind(kernel.name);
    KindTime& kind = kinds[std::string(name)];
    kind.measured += kernel.seconds / iterations * base::second;
    kind.kernels += kernel.runs;
    kind.longest = kind.longest.empty() ? kernel.name : kind.longest;
    measured += kernel.seconds / iterations * base::second;
    if (name == "other") {
      other += kernel.seconds / iterations * base::second;
      unmatched.push_back(kernel.name);
    }
  }
  const Seconds idle = (profile.span - profile.busy) / iterations;
  const bool trains = scenario.training.trains();
  const std::vector<PhaseRows> phases =
      e.fits() ? phases_of(options, trains, explain(view, e)) : std::vector<PhaseRows>();
  add_forecast(kinds, phases, times_of(view));
  kinds["host"].measured = idle;

  comparison.said.push_back(fmt::format(
      "{} {} on {} {}: {} in kernels of an iteration{}", counted,
      counted == 1 ? "iteration" : "iterations", profile.gpus, profile.gpus == 1 ? "GPU" : "GPUs",
      time_text(measured),
      std::isfinite(idle.si()) ? fmt::format(", {} in which none runs", time_text(idle)) : ""));
  if (!e.fits()) {
    comparison.said.push_back(fmt::format("does not run: {}", sim::reason(e)));
  } else if (phases.empty()) {
    comparison.said.push_back("the scenario has no such iteration");
  } else if (trains) {
    comparison.said.push_back(fmt::format(
        "beside one optimizer step: passes of {} micro-batches on the mean of {} {}, without the "
        "update, the exchange of gradients and the trainer's slowdown",
        sim::micro_batches(view).count, view.mapping->pipeline_parallel,
        view.mapping->pipeline_parallel == 1 ? "stage" : "stages"));
  } else {
    comparison.said.push_back(
        fmt::format("beside one {}: {}", phases.front().name, phases.front().batch));
  }

  // Most time lost against the roofline first.
  std::vector<std::pair<std::string, KindTime>> order(kinds.begin(), kinds.end());
  const auto rank = [](const KindTime& kind) {
    return std::isnan(kind.measured.si()) ? -Seconds::infinity() : kind.lost();
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](const auto& a, const auto& b) { return rank(a.second) > rank(b.second); });
  comparison.columns = {"kind",          "measured_s", "kernels",
                        "forecast_s",    "low90_s",    "high90_s",
                        "roofline_s",    "lost_s",     "forecast_over_measured",
                        "longest_kernel"};
  TextTable table({"kind", "kernels", "measured", "forecast", "90 % interval",
                   "forecast / measured", "roofline", "measured / roofline", "lost"});
  for (const auto& [name, kind] : order) {
    const double kernels = static_cast<double>(kind.kernels) / iterations;
    table.add(
        {name == "host" ? "no kernel (host)" : name,
         kind.kernels > 0 ? fmt::format("{:.4g}", kernels) : "-", time_text(kind.measured),
         kind.forecast > Seconds{} ? time_text(kind.forecast) : "-",
         kind.high > kind.low ? fmt::format("{} to {}", time_text(kind.low), time_text(kind.high))
                              : std::string(),
         over(kind.forecast, kind.measured), kind.light > Seconds{} ? time_text(kind.light) : "-",
         over(kind.measured, kind.light), time_text(kind.lost())});
    comparison.rows.push_back({name, kind.measured.si(), kernels, kind.forecast.si(), kind.low.si(),
                               kind.high.si(), kind.light.si(), kind.lost().si(),
                               kind.measured > Seconds{} ? kind.forecast / kind.measured
                                                         : std::numeric_limits<double>::quiet_NaN(),
                               kind.longest});
  }
  comparison.table = table.text();
  comparison.notes.emplace_back(
      "(of one iteration and GPU; roofline: the forecast's work at the datasheet's FLOP/s, memory "
      "and "
      "link "
      "bandwidth; lost: measured beyond that)");
  if (!unmatched.empty()) {
    std::vector<std::string> named;
    for (std::size_t i = 0; i < std::min(unmatched.size(), kNamed); ++i) {
      named.push_back(short_name(unmatched[i]));
    }
    comparison.notes.push_back(fmt::format(
        "other: {} kernels whose names tell nothing, {:.1f}% of the time: {}{}", unmatched.size(),
        100.0 * other / measured, fmt::join(named, "; "), unmatched.size() > kNamed ? "; …" : ""));
  }
  return comparison;
}

}  // namespace roofcast::cli
