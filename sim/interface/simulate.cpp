// SPDX-License-Identifier: Apache-2.0
#include "sim/interface/roofcast/simulate.hpp"

#include "sim/interface/document.hpp"
#include "sim/replay/simulate.hpp"
#include "sim/replay/simulation_summary.hpp"
#include "sim/scenario/scenario.hpp"
#include "sim/scenario/sections.hpp"
#include "workloads/traffic/request_stream.hpp"

namespace roofcast {
namespace {

SimulatedTimes times_of(const sim::SimulatedTimes& t) {
  return {t.mean.si(), t.interval.si(), t.p50.si(), t.p90.si(), t.p95.si(), t.p99.si()};
}

SimulatedRequest request_of(const sim::ServedRequest& r) {
  return {r.input_tokens,     r.output_tokens,   r.arrival.si(), r.scheduled.si(),
          r.first_token.si(), r.last_token.si(), r.rejected};
}

}  // namespace

Simulation simulate(const Scenario& scenario, const SimulationOptions& options) {
  return with_input_errors([&] {
    sim::StreamedScenario read = sim::read_streamed_scenario(scenario.document().node);
    if (read.scenario.training.trains()) {
      refuse("a scenario that trains is estimated, not simulated");
    }
    read.stream.seed = options.seed.value_or(read.stream.seed);
    const sim::Simulation simulation =
        sim::simulate(sim::view(read.scenario), workloads::draw_requests(read.stream),
                      workloads::is_open(read.stream) ? 0 : read.stream.concurrency);
    const sim::SimulationSummary s =
        sim::summarise(simulation, options.warm_up, read.stream.classes);
    Simulation result{.reason = simulation.reason,
                      .served = s.requests,
                      .rejected = s.rejected,
                      .duration_s = s.duration.si(),
                      .ttft = times_of(s.ttft),
                      .tpot = times_of(s.tpot),
                      .end_to_end = times_of(s.end_to_end),
                      .waiting = times_of(s.waiting),
                      .requests_per_s = s.requests_per_second,
                      .input_tokens_per_s = s.input_rate,
                      .output_tokens_per_s = s.output_rate,
                      .attainment = s.attainment,
                      .goodput = s.goodput,
                      .requests = {}};
    for (const sim::ServedRequest& request : simulation.requests) {
      result.requests.push_back(request_of(request));
    }
    return result;
  });
}

}  // namespace roofcast
