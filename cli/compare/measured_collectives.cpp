// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>

#include "base/units/unit_text.hpp"
#include "calibrate/platforms/named_parts.hpp"
#include "cli/compare/compare_measured.hpp"
#include "cli/tables/text_table.hpp"
#include "models/operators/operator_cost.hpp"
#include "sim/scenario/references.hpp"
#include "sim/scenario/section_readers.hpp"
#include "sim/scenario/usual_sections.hpp"

namespace roofcast::cli {
namespace {

workloads::Collective collective(const calibrate::CollectiveLog& log, double bytes) {
  workloads::Collective op;
  op.kind = log.kind;
  op.bytes = bytes;
  op.ranks = log.ranks;
  return op;
}

// The rest of the scenario has no part in it.
sim::Platform platform_of(base::Node document) {
  base::Problems problems;
  sim::fill_usual_sections(document);
  sim::load_references(document, problems);
  sim::Platform platform = sim::read_platform(document, problems);
  problems.throw_if_any();
  return platform;
}

std::string size_text(double bytes) { return base::format_quantity(base::Bytes::from_si(bytes)); }

}  // namespace

MeasuredComparison compare_collectives(const CompareMeasuredOptions& options,
                                       const calibrate::CollectiveLog& log) {
  const sim::Platform platform = platform_of(options.scenarios.of_collectives(log.name));
  const hardware::System& system = platform.system;
  const models::Machine& machine = platform.machine;
  if (log.ranks > system.chips) {
    throw base::InputError(fmt::format("{}: error: {} ranks, and {} has {} GPUs\n", log.name,
                                       log.ranks, system.name, system.chips));
  }
  MeasuredComparison comparison;
  comparison.log = log.name;
  comparison.scenario = fmt::format("{}, parameters of {}", system.name, system.calibration.name);
  comparison.said.push_back(fmt::format(
      "{} of {} ranks{}{}", workloads::name(log.kind), log.ranks,
      log.hosts > 0 ? fmt::format(" on {} {}", log.hosts, log.hosts == 1 ? "host" : "hosts") : "",
      log.gpu.empty() ? "" : fmt::format(", {}", log.gpu)));
  const hardware::Chip* chip = calibrate::chip_called(log.gpu);
  if (chip != nullptr && !system.chip.id.empty() && chip->id != system.chip.id) {
    comparison.matches = false;
    refuse_contradictions(options,
                          {fmt::format("system: the log is of {}, the scenario of {} with {}",
                                       log.gpu, system.name, system.chip.name)},
                          comparison);
  }
  const double link = system.scale_up.bandwidth.si();
  const double factor = calibrate::bus_factor(log.kind, log.ranks);
  const models::Spread spread = machine.uncertainty.kinds[static_cast<std::size_t>(
      models::error_kind(collective(log, log.times.front().bytes), machine.scale_up_domain))];
  comparison.columns = {"bytes_b",
                        "measured_s",
                        "forecast_s",
                        "low90_s",
                        "high90_s",
                        "ratio",
                        "inside",
                        "measured_algbw_b_per_s",
                        "measured_busbw_b_per_s",
                        "forecast_busbw_b_per_s",
                        "measured_share_of_link",
                        "algorithm"};
  TextTable table({"size", "measured", "forecast", "90 % interval", "forecast / measured",
                   "measured inside", "busbw", "forecast", "busbw of link", "by"});
  for (const calibrate::CollectiveTime& time : log.times) {
    const models::Cost cost = models::cost_of(collective(log, time.bytes), machine);
    const double forecast = cost.time.si();
    const double low = forecast * (1.0 - spread.below);
    const double high = forecast * (1.0 + spread.above);
    const double algorithm = time.bytes / time.seconds;
    const double forecast_bus = factor * time.bytes / forecast;
    const std::string in = inside(time.seconds, low, high);
    table.add({size_text(time.bytes), display(time.seconds, "s"), display(forecast, "s"),
               fmt::format("{} to {}", display(low, "s"), display(high, "s")),
               ratio_text(forecast, time.seconds), in,
               fmt::format("{:.1f} GB/s", 1e-9 * factor * algorithm),
               fmt::format("{:.1f} GB/s", 1e-9 * forecast_bus),
               fmt::format("{:.0f}%", 100.0 * factor * algorithm / link),
               std::string(models::name(cost.algorithm))});
    comparison.rows.push_back({time.bytes, time.seconds, forecast, low, high,
                               forecast / time.seconds, in, algorithm, factor * algorithm,
                               forecast_bus, factor * algorithm / link,
                               std::string(models::name(cost.algorithm))});
  }
  comparison.table = table.text();
  comparison.notes.push_back(
      fmt::format("busbw is algbw x {:.4g}; the link carries {} in each direction. Reductions in "
                  "the switch send "
                  "less than a ring, so that their busbw may exceed it",
                  factor, base::format_quantity(system.scale_up.bandwidth)));
  if (log.hosts > 1 && log.ranks <= system.scale_up_domain) {
    comparison.notes.push_back(fmt::format(
        "The ranks are on {} hosts, and fit into one domain of the scenario's system", log.hosts));
  }
  return comparison;
}

}  // namespace roofcast::cli
