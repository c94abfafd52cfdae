// SPDX-License-Identifier: Apache-2.0
#include "calibrate/accuracy/agreement.hpp"

#include <algorithm>

#include "base/statistics/quantile.hpp"
#include "base/threads.hpp"
#include "calibrate/accuracy/impossible.hpp"
#include "sim/confirm/doubt.hpp"
#include "sim/estimate.hpp"
#include "sim/replay/simulation_summary.hpp"
#include "sim/result/metrics.hpp"
#include "workloads/traffic/request_stream.hpp"

namespace roofcast::calibrate {
namespace {

Agreement::Values simulated(const RandomScenario& s) {
  const workloads::Requests requests = workloads::draw_requests(s.streamed.stream);
  const sim::Simulation simulation =
      sim::simulate(sim::view(s.streamed.scenario), requests, s.streamed.stream.concurrency);
  const auto warm_up =
      static_cast<std::size_t>(s.warm_up * static_cast<double>(simulation.requests.size()));
  const sim::SimulationSummary summary = sim::summarise(simulation, warm_up, {});
  return {summary.ttft.mean.si(), summary.tpot.mean.si(), summary.ttft.p95.si(),
          summary.tpot.p95.si()};
}

Agreement agreement(const RandomScenario& s, const AgreementRun& run, BetterHardware& better,
                    sim::Workspace& workspace) {
  const sim::ScenarioView view = sim::view(s.streamed.scenario);
  const sim::ServingEstimate e = sim::estimate(view, workspace);
  Agreement a{
      .kind = s.kind,
      .yaml = s.yaml,
      .reason = sim::reason(e),
      .doubt = std::string(sim::doubt_of(view, e)),
      .impossible = impossible(view, e),
      .with_better = run.betters ? better.with(s, e, workspace) : std::vector<WithBetter>()};
  for (std::size_t metric = 0; e.fits() && metric < sim::kChecked.size(); ++metric) {
    a.estimated[metric] = sim::find_metric(sim::kChecked[metric].name)->value(e);
  }
  if (run.simulates) {
    a.simulated = simulated(s);
  }
  return a;
}

}  // namespace

std::vector<Agreement> agreements(const AgreementRun& run, std::atomic<std::size_t>* done) {
  const RandomScenarios scenarios(run.seed);
  BetterHardware better;
  std::vector<Agreement> rows(run.scenarios);
  std::atomic<std::size_t> next = 0;
  base::on_threads(base::thread_count(run.threads), [&](unsigned) {
    sim::Workspace workspace;
    for (std::size_t i = next++; i < rows.size(); i = next++) {
      rows[i] = agreement(scenarios.draw(i, workspace), run, better, workspace);
      if (done != nullptr) {
        ++*done;
      }
    }
  });
  return rows;
}

AgreementSummary summarise(const std::vector<Agreement>& rows, std::size_t metric,
                           std::optional<std::size_t> kind) {
  AgreementSummary summary;
  std::vector<double> errors;
  std::size_t agree = 0;
  for (const Agreement& row : rows) {
    if ((kind && row.kind != *kind) || std::isnan(row.simulated[metric])) {
      continue;
    }
    ++summary.scenarios;
    summary.doubted += row.doubt.empty() ? 0 : 1;
    if (!std::isnan(row.estimated[metric])) {
      errors.push_back(row.error(metric));
      agree += row.agrees(metric) ? 1 : 0;
      summary.far += row.is_far(metric) ? 1 : 0;
      summary.unmarked += row.is_far(metric) && row.doubt.empty() ? 1 : 0;
    }
  }
  summary.share = static_cast<double>(agree) / static_cast<double>(summary.scenarios);
  summary.median = base::quantile(errors, 0.5);
  summary.low = base::quantile(errors, 0.1);
  summary.high = base::quantile(errors, 0.9);
  return summary;
}

}  // namespace roofcast::calibrate
