// SPDX-License-Identifier: Apache-2.0
#include "cli/pages/simulated_run.hpp"

#include <fmt/format.h>

#include "cli/tables/request_rows.hpp"
#include "cli/text/scenario_text.hpp"
#include "sim/scenario/pools.hpp"

namespace roofcast::cli {

ServedReport report_of(const SimulationAnswer& a, const std::string& scenario) {
  ServedReport report;
  report.question = title(a.scenario.scenario);
  report.scenario = scenario;
  ServedRun run;
  run.name = "Requests";
  run.text = a.stream;
  const sim::Simulation& simulation = a.simulation;
  if (!simulation.reason.empty()) {
    report.notes.push_back("Does not run: " + simulation.reason);
    report.runs.push_back(std::move(run));
    return report;
  }
  const sim::SimulationSummary s = sim::summarise(simulation, a.warm_up, a.scenario.stream.classes);
  if (a.warm_up > 0) {
    report.notes.push_back(
        fmt::format("Figures and distributions are without the first {} requests; the seconds "
                    "are all.",
                    a.warm_up));
  }
  run.start = burst_text(a);
  const auto gpus = static_cast<double>(sim::gpus_of(sim::view(a.scenario.scenario)));
  const sim::SimulatedLoad load = sim::load_of(simulation);
  run.facts = {{"requests served", display(static_cast<double>(s.requests), "")},
               {"requests/s", display(s.requests_per_second, "")},
               {"tok/s out per GPU", display(s.output_rate / gpus, "")}};
  run.requests_per_s = s.requests_per_second;
  const workloads::RequestClasses& classes = a.scenario.stream.classes;
  if (classes.size() == 1) {
    run.ttft_limit = classes.front().objectives.ttft;
    run.tpot_limit = classes.front().objectives.tpot;
  }
  if (any_objective(classes)) {
    run.facts.emplace_back("attainment", percent(s.attainment));
    run.facts.emplace_back("goodput, requests/s", display(s.goodput, ""));
  }
  if (a.alarm) {
    run.facts.emplace_back("breach probability", percent(a.alarm->breach.probability()));
    report.notes.push_back(alarm_text(*a.alarm));
  }
  if (s.prefix_hit_rate > 0.0) {
    run.facts.emplace_back("of the input found in the KV cache", percent(s.prefix_hit_rate));
  }
  if (s.restored_share > 0.0) {
    run.facts.emplace_back("of the input found in host memory", percent(s.restored_share));
  }
  for (auto& fact : facts_of(tasks_of(simulation, a.scenario, a.warm_up))) {
    run.facts.push_back(std::move(fact));
  }
  run.facts.emplace_back("running at most",
                         display(static_cast<double>(simulation.peak_running), ""));
  run.facts.emplace_back("KV cache of a replica at most", percent(simulation.peak_cache));
  run.facts.emplace_back("of the time busy", percent(load.utilisation));
  run.facts.emplace_back("preemptions", display(static_cast<double>(s.preemptions), ""));
  run.facts.emplace_back("rejected", display(static_cast<double>(s.rejected), ""));
  run.tables.push_back(times_table(s));
  if (const auto summaries = sim::summarise_classes(simulation, a.warm_up, classes);
      !summaries.empty()) {
    run.tables.push_back(classes_table(summaries));
  }
  std::vector<base::Seconds> ttft;
  std::vector<base::Seconds> tpot;
  for (std::size_t i = a.warm_up; i < simulation.requests.size(); ++i) {
    const sim::ServedRequest& r = simulation.requests[i];
    if (!r.rejected) {
      ttft.push_back(r.ttft());
    }
    if (!r.rejected && r.output_tokens > 1) {
      tpot.push_back(r.tpot());
    }
  }
  run.sides.push_back(simulated_side(ttft, tpot, simulation.seconds));
  add_file(report, run, "requests.csv", simulation.requests.size(),
           request_columns(a.scenario.stream), [&](base::CsvWriter& csv) {
             write_requests(csv, simulation, a.scenario.stream, a.requests);
           });
  add_file(report, run, "timeline.csv", simulation.seconds.size(), timeline_columns(),
           [&](base::CsvWriter& csv) { write_timeline(csv, simulation); });
  report.runs.push_back(std::move(run));
  return report;
}

}  // namespace roofcast::cli
