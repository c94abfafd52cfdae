// SPDX-License-Identifier: Apache-2.0
#include "calibrate/accuracy/better_hardware.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <optional>

#include "base/statistics/batch_means.hpp"
#include "sim/confirm/doubt.hpp"
#include "sim/estimate.hpp"
#include "sim/replay/simulate.hpp"
#include "sim/scenario/knob.hpp"
#include "sim/scenario/references.hpp"
#include "sim/scenario/section_readers.hpp"
#include "workloads/traffic/request_stream.hpp"

namespace roofcast::calibrate {
namespace {

base::Seconds end_to_end(const sim::ServingEstimate& e) {
  return e.task.per_second > 0.0 ? e.task.mean : e.steady.end_to_end;
}

double capacity(const sim::ServingEstimate& e) {
  return e.steady.saturation > 0.0 ? e.steady.saturation : e.steady.requests_per_second;
}

WithBetter compared(const sim::ServingEstimate& without, const sim::ServingEstimate& with) {
  const bool fits = without.fits() && with.fits();
  return fits ? WithBetter{1.0 - capacity(with) / capacity(without),
                           end_to_end(with) / end_to_end(without) - 1.0}
              : WithBetter{base::kNoNumber, base::kNoNumber};
}

constexpr std::size_t kBatches = 10;
constexpr double kOverload = 3.0;  // of the rate at which an estimate saturates

using Batches = std::array<double, kBatches>;

// Mean time from end to end of each batch of requests after the warm-up, in the order of the stream.
Batches times(const sim::Simulation& simulation, double warm_up) {
  const auto n = static_cast<double>(simulation.requests.size());
  Batches means = {};
  for (std::size_t i = 0; i < kBatches; ++i) {
    const auto at = [&](std::size_t batch) {
      const double share = static_cast<double>(batch) / static_cast<double>(kBatches);
      return static_cast<std::size_t>((warm_up + share * (1.0 - warm_up)) * n);
    };
    double count = 0.0;
    for (std::size_t r = at(i); r < at(i + 1); ++r) {
      const sim::ServedRequest& request = simulation.requests[r];
      if (!request.rejected) {
        means[i] += (request.last_token - request.arrival).si();
        count += 1.0;
      }
    }
    means[i] /= std::max(1.0, count);
  }
  return means;
}

// Time of each batch of answers, in the order of their ends: of the middle half, where the queue is not empty.
Batches services(const sim::Simulation& simulation) {
  std::vector<double> ends;
  for (const sim::ServedRequest& request : simulation.requests) {
    ends.push_back(request.last_token.si());
  }
  std::sort(ends.begin(), ends.end());
  Batches lasts = {};
  for (std::size_t i = 0; i < kBatches; ++i) {
    const std::size_t from = ends.size() / 4 + i * (ends.size() / 2) / kBatches;
    lasts[i] = ends[from + ends.size() / 2 / kBatches] - ends[from];
  }
  return lasts;
}

// The same requests on both.
void simulate_both(const sim::ScenarioView& without, const sim::ScenarioView& better,
                   const RandomScenario& s, std::int64_t as_long, std::optional<double> overload,
                   WithBetter& with) {
  workloads::RequestStream stream = s.streamed.stream;
  if (stream.requests) {
    *stream.requests *= as_long;
  }
  if (overload) {
    stream.arrivals = workloads::Arrivals{};
    stream.arrivals->rate = *overload * base::hertz;
  }
  const workloads::Requests drawn = workloads::draw_requests(stream);
  const auto batches = [&](const sim::ScenarioView& view) {
    const sim::Simulation simulation = sim::simulate(view, drawn, stream.concurrency);
    return overload ? services(simulation) : times(simulation, s.warm_up);
  };
  const Batches before = batches(without);
  const Batches after = batches(better);
  Batches more;
  std::transform(after.begin(), after.end(), before.begin(), more.begin(), std::minus<>());
  const double whole = base::mean_of_batches(before).mean;
  const auto [difference, error] = base::mean_of_batches(more);
  with.simulated = difference / whole;
  with.error = error / whole;
}

// What breaks the law, again: with more requests until the sample keeps it, or the simulation is sure that it does not. A
// server that changes between two ways to meet its requests needs the most: its batches are no independent ones.
void look_again(const sim::ScenarioView& without, const sim::ScenarioView& better,
                const RandomScenario& s, sim::Workspace& workspace, WithBetter& with) {
  for (const std::int64_t more : {1, 4}) {
    sim::ScenarioView long_without = without;
    sim::ScenarioView long_better = better;
    long_without.sample = long_better.sample = kLonger * more;
    const sim::ServingEstimate estimate = sim::estimate(long_without, workspace);
    const WithBetter longer = compared(estimate, sim::estimate(long_better, workspace));
    const bool late = longer.slower > kWorse;
    with.longer = late ? longer.slower : longer.lost;
    if (!late && longer.lost <= kWorse) {
      with.law = Law::sample;
      return;
    }
    const bool saturates = !late && s.streamed.stream.arrivals;
    simulate_both(without, better, s, more,
                  saturates ? std::optional(kOverload * capacity(estimate)) : std::nullopt, with);
    const double sure = 2.0 * with.error;
    const bool as_much = with.simulated + sure >= 0.5 * with.longer;
    with.law = !as_much               ? Law::contradicted
               : with.simulated > 0.0 ? Law::confirmed
                                      : Law::undecided;
    if (with.law == Law::confirmed && with.simulated > sure) {
      return;
    }
  }
}

}  // namespace

const sim::Platform& BetterHardware::changed(const RandomScenario& s, std::string_view setting) {
  const sim::Scenario& scenario = s.streamed.scenario;
  const std::lock_guard lock(reading_);
  auto& entry = known_[fmt::format("{} {} {}", scenario.platform.system.id,
                                   scenario.serving.stack.id, setting)];
  if (entry == nullptr) {
    base::Problems problems;
    base::Node document = base::parse_document("random scenario", s.yaml);
    sim::load_references(document, problems);
    sim::set_knob(document, {"better hardware", std::string(setting), {}}, problems);
    entry = std::make_unique<const sim::Platform>(sim::read_platform(document, problems));
    problems.throw_if_any();
  }
  return *entry;
}

std::vector<WithBetter> BetterHardware::with(const RandomScenario& s,
                                             const sim::ServingEstimate& estimate,
                                             sim::Workspace& workspace) {
  std::vector<WithBetter> all;
  for (const std::string_view setting : kBetterHardware) {
    sim::ScenarioView view = sim::view(s.streamed.scenario);
    view.platform = &changed(s, setting);
    const sim::ServingEstimate better = sim::estimate(view, workspace);
    WithBetter compare = compared(estimate, better);
    if (compare.slower > kWorse || compare.lost > kWorse) {
      const sim::ScenarioView without = sim::view(s.streamed.scenario);
      look_again(without, view, s, workspace, compare);
      const bool doubted =
          !sim::doubt_of(without, estimate).empty() || !sim::doubt_of(view, better).empty();
      compare.law = compare.law == Law::contradicted && doubted ? Law::marked : compare.law;
    }
    all.push_back(compare);
  }
  return all;
}

}  // namespace roofcast::calibrate
