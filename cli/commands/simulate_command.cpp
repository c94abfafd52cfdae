// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/csv/csv.hpp"
#include "cli/pages/simulation_report.hpp"
#include "cli/program/commands.hpp"
#include "cli/program/usage.hpp"
#include "cli/tables/text_table.hpp"
#include "cli/text/scenario_text.hpp"
#include "cli/text/simulated_tasks.hpp"
#include "sim/replay/simulation_summary.hpp"
#include "sim/scenario/pools.hpp"
#include "sim/scenario/sections.hpp"
#include "workloads/traffic/request_traces.hpp"

namespace roofcast::cli {
namespace {

using Json = nlohmann::ordered_json;

struct Options {
  std::string scenario;
  std::string trace;
  std::vector<std::string> set;
  std::optional<std::uint32_t> seed;
  std::size_t warm_up = 0;
  std::string csv;
  std::string timeline;
  std::string report;
  std::string format = "text";
};

// A run and what is told of it.
struct Answer {
  sim::StreamedScenario scenario;
  std::string stream;  // in words
  sim::Simulation simulation;
  std::int64_t gpus() const { return sim::gpus_of(sim::view(scenario.scenario)); }
  Facts task_facts(std::size_t warm_up) const {
    return facts_of(tasks_of(simulation, scenario, warm_up));
  }
};

std::string stream_text(const Options& options, const sim::StreamedScenario& s,
                        const workloads::Requests& requests) {
  double input = 0.0;
  double output = 0.0;
  for (const workloads::Request& request : requests.requests) {
    input += static_cast<double>(request.input_tokens);
    output += static_cast<double>(request.output_tokens);
  }
  const auto count = static_cast<double>(requests.requests.size());
  const double last = requests.requests.back().arrival.si();
  const std::string tasks = requests.requests.back().task < 0
                                ? ""
                                : fmt::format(" of {} tasks", requests.requests.back().task + 1);
  std::string loop = "at once";
  if (options.trace.empty() && !s.stream.arrivals) {
    loop = fmt::format("{} {}", s.stream.concurrency,
                       s.stream.agents ? "agents" : "clients that wait");
  } else if (last > 0.0) {
    loop = fmt::format("{:.3g} a second", count / last);
  }
  return fmt::format("{} requests{}, {}, {} tokens in and {} out on average",
                     requests.requests.size(),
                     options.trace.empty() ? tasks : fmt::format(" of {}", options.trace), loop,
                     display(input / count, ""), display(output / count, ""));
}

workloads::Requests requests_of(const Options& options, const workloads::RequestStream& stream) {
  if (options.trace.empty()) {
    return workloads::draw_requests(stream);
  }
  workloads::Requests requests = workloads::read_requests(options.trace);
  if (stream.requests && *stream.requests < static_cast<std::int64_t>(requests.requests.size())) {
    requests.requests.resize(static_cast<std::size_t>(*stream.requests));
  }
  if (requests.requests.empty()) {
    throw base::InputError(fmt::format("{}: error: no request\n", options.trace));
  }
  return requests;
}

std::string per_second(double value, std::string_view what) {
  return fmt::format("{} {}", display(value, ""), what);
}

void print_times(TextTable& table, std::string_view name, const sim::SimulatedTimes& t) {
  const auto text = [](base::Seconds time) { return display(time.si(), "s"); };
  table.add({std::string(name), text(t.mean), text(t.interval), text(t.p50), text(t.p90),
             text(t.p95), text(t.p99)});
}

TextTable times_table(const sim::SimulationSummary& s) {
  TextTable times({"", "mean", "± (95 %)", "p50", "p90", "p95", "p99"});
  print_times(times, "TTFT", s.ttft);
  print_times(times, "TPOT", s.tpot);
  print_times(times, "end to end", s.end_to_end);
  print_times(times, "waiting", s.waiting);
  return times;
}

// Of the requests from `warm_up` on, by priority, the greatest first; empty where all have the same.
std::map<std::int64_t, sim::SimulationSummary, std::greater<>> by_priority(const Answer& a,
                                                                           std::size_t warm_up) {
  std::map<std::int64_t, sim::Simulation> parts;
  for (std::size_t i = warm_up; i < a.simulation.requests.size(); ++i) {
    const sim::ServedRequest& request = a.simulation.requests[i];
    parts[request.priority].requests.push_back(request);
  }
  std::map<std::int64_t, sim::SimulationSummary, std::greater<>> summaries;
  if (parts.size() > 1) {
    for (const auto& [priority, part] : parts) {
      summaries[priority] = sim::summarise(part, 0, a.scenario.stream.classes);
    }
  }
  return summaries;
}

TextTable priorities_table(
    const std::map<std::int64_t, sim::SimulationSummary, std::greater<>>& summaries) {
  TextTable table({"priority", "requests", "TTFT p50", "TTFT p99", "TPOT p50", "TPOT p99", "good"});
  for (const auto& [priority, s] : summaries) {
    table.add({fmt::format("{}", priority), fmt::format("{}", s.requests),
               display(s.ttft.p50.si(), "s"), display(s.ttft.p99.si(), "s"),
               display(s.tpot.p50.si(), "s"), display(s.tpot.p99.si(), "s"),
               fmt::format("{:.1f} %", 100.0 * s.attainment)});
  }
  return table;
}

void print_summary(const Answer& a, const sim::SimulationSummary& s, std::size_t warm_up) {
  const auto gpus = static_cast<double>(a.gpus());
  fmt::print("{}\n", times_table(s).text());
  if (const auto summaries = by_priority(a, warm_up); !summaries.empty()) {
    fmt::print("{}\n", priorities_table(summaries).text());
  }
  for (const auto& [what, value] : a.task_facts(warm_up)) {
    fmt::print("{}: {}\n", what, value);
  }
  fmt::print("{} requests in {}: {}, {} out, {} out per GPU, {} in\n", s.requests,
             display(s.duration.si(), "s"), per_second(s.requests_per_second, "requests/s"),
             per_second(s.output_rate, "tok/s"), per_second(s.output_rate / gpus, "tok/s"),
             per_second(s.input_rate, "tok/s"));
  if (any_objective(a.scenario.stream.classes)) {
    fmt::print("good: {:.1f} % of the requests, {}\n", 100.0 * s.attainment,
               per_second(s.goodput, "requests/s"));
  }
  if (s.prefix_hit_rate > 0.0) {
    fmt::print("found in the KV cache: {:.1f} % of the input tokens", 100.0 * s.prefix_hit_rate);
    fmt::print("{}\n", s.restored_share > 0.0
                           ? fmt::format(", {:.1f} % in host memory", 100.0 * s.restored_share)
                           : "");
  }
  if (s.rejected > 0) {
    fmt::print("rejected, longer than the context or the KV cache: {}\n", s.rejected);
  }
}

void print_text(const Options& options, const Answer& a) {
  const std::int64_t replicas = a.scenario.scenario.serving.replicas;
  fmt::print("{}{}\n{}\n\n", title(a.scenario.scenario),
             replicas > 1 ? fmt::format(" · {} replicas", replicas) : "", a.stream);
  if (!a.simulation.reason.empty()) {
    fmt::print("does not run: {}\n", a.simulation.reason);
    return;
  }
  const workloads::RequestClasses& classes = a.scenario.stream.classes;
  print_summary(a, sim::summarise(a.simulation, 0, classes), 0);
  const sim::SimulatedLoad load = sim::load_of(a.simulation);
  fmt::print(
      "running {:.1f} on average, {} at most; waiting {:.1f}; KV cache {:.1f} % on average, {:.1f} "
      "% at most\nbusy {:.1f} % of the time, {} iterations, {} preemptions\n",
      load.running, a.simulation.peak_running, load.waiting, 100.0 * load.cache,
      100.0 * a.simulation.peak_cache, 100.0 * load.utilisation, a.simulation.iterations,
      a.simulation.preemptions);
  if (options.warm_up > 0) {
    fmt::print("\nWithout the first {} requests\n\n", options.warm_up);
    print_summary(a, sim::summarise(a.simulation, options.warm_up, classes), options.warm_up);
  }
}

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(); }
Json number(base::Seconds time) { return number(time.si()); }

Json json_of(const sim::SimulatedTimes& t) {
  return {{"mean", number(t.mean)}, {"interval_95", number(t.interval)},
          {"p50", number(t.p50)},   {"p90", number(t.p90)},
          {"p95", number(t.p95)},   {"p99", number(t.p99)}};
}

Json json_of(const sim::SimulationSummary& s, bool objectives) {
  Json json = {{"requests", s.requests},
               {"rejected", s.rejected},
               {"duration_s", number(s.duration)},
               {"ttft_s", json_of(s.ttft)},
               {"tpot_s", json_of(s.tpot)},
               {"e2e_s", json_of(s.end_to_end)},
               {"waiting_s", json_of(s.waiting)},
               {"requests_per_s", number(s.requests_per_second)},
               {"input_tok_per_s", number(s.input_rate)},
               {"output_tok_per_s", number(s.output_rate)},
               {"prefix_hit_rate", number(s.prefix_hit_rate)},
               {"restored_share", number(s.restored_share)},
               {"preemptions", s.preemptions}};
  if (objectives) {
    json["attainment"] = number(s.attainment);
    json["goodput"] = number(s.goodput);
  }
  return json;
}

void print_json(const Options& options, const Answer& a) {
  Json json = {{"fits", a.simulation.reason.empty()}, {"reason", a.simulation.reason}};
  if (a.simulation.reason.empty()) {
    const workloads::RequestClasses& classes = a.scenario.stream.classes;
    const sim::SimulatedLoad load = sim::load_of(a.simulation);
    json["gpus"] = a.gpus();
    json["all"] = json_of(sim::summarise(a.simulation, 0, classes), any_objective(classes));
    if (options.warm_up > 0) {
      json["after_warm_up"] =
          json_of(sim::summarise(a.simulation, options.warm_up, classes), any_objective(classes));
    }
    if (const auto tasks = tasks_of(a.simulation, a.scenario, options.warm_up)) {
      json["tasks"] = json_of(*tasks);
      json["tasks"]["task_s"] = json_of(tasks->summary.time);
    }
    for (const auto& [priority, s] : by_priority(a, 0)) {
      json["by_priority"][fmt::format("{}", priority)] = json_of(s, any_objective(classes));
    }
    json["running_mean"] = number(load.running);
    json["running_peak"] = a.simulation.peak_running;
    json["waiting_mean"] = number(load.waiting);
    json["cache_share_mean"] = number(load.cache);
    json["cache_share_peak"] = a.simulation.peak_cache;
    json["utilisation"] = number(load.utilisation);
    json["iterations"] = a.simulation.iterations;
  }
  fmt::print("{}\n", json.dump(2));
}

std::vector<std::string> request_columns() {
  return {"request",       "arrival_s",     "queued_s",        "scheduled_s",  "prefilled_s",
          "transferred_s", "first_token_s", "last_token_s",    "input_tokens", "output_tokens",
          "priority",      "reused_tokens", "restored_tokens", "preemptions",  "replica",
          "rejected",      "ttft_s",        "tpot_s",          "e2e_s",        "task",
          "session",       "tools_s"};
}

void write_requests(base::CsvWriter& csv, const sim::Simulation& simulation) {
  std::size_t index = 0;
  for (const sim::ServedRequest& r : simulation.requests) {
    const auto append = [&](double value) { csv.append(r.rejected ? NAN : value); };
    csv.append(index++);
    csv.append(r.arrival.si());
    csv.append(r.queued.si());
    append(r.scheduled.si());
    append(r.prefilled > base::Seconds{} ? r.prefilled.si() : NAN);
    append(r.transferred > base::Seconds{} ? r.transferred.si() : NAN);
    append(r.first_token.si());
    append(r.last_token.si());
    csv.append(r.input_tokens);
    csv.append(r.output_tokens);
    csv.append(r.priority);
    append(static_cast<double>(r.reused_tokens));
    append(static_cast<double>(r.restored_tokens));
    csv.append(r.preemptions);
    csv.append(r.replica);
    csv.append(r.rejected ? "true" : "false");
    append(r.ttft().si());
    append(r.output_tokens > 1 ? r.tpot().si() : NAN);
    append(r.end_to_end().si());
    const bool of_task = r.task >= 0;
    csv.append(of_task ? static_cast<double>(r.task) : NAN);
    csv.append(of_task ? static_cast<double>(r.session) : NAN);
    csv.append(of_task ? r.tools.si() : NAN);
    csv.end_row();
  }
}

std::vector<std::string> timeline_columns() {
  return {"second",     "running",       "waiting",      "cache_share",
          "busy_share", "prompt_tokens", "output_tokens"};
}

void write_timeline(base::CsvWriter& csv, const sim::Simulation& simulation) {
  std::size_t index = 0;
  for (const sim::SimulatedSecond& second : simulation.seconds) {
    csv.append(index++);
    csv.append(second.running);
    csv.append(second.waiting);
    csv.append(second.cache);
    csv.append(second.busy);
    csv.append(second.prompt_tokens);
    csv.append(second.output_tokens);
    csv.end_row();
  }
}

ServedReport report_of(const Options& options, const Answer& a, const std::string& scenario) {
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
  const sim::SimulationSummary s =
      sim::summarise(simulation, options.warm_up, a.scenario.stream.classes);
  if (options.warm_up > 0) {
    report.notes.push_back(
        fmt::format("Figures and distributions are without the first {} requests; the seconds "
                    "are all.",
                    options.warm_up));
  }
  const sim::SimulatedLoad load = sim::load_of(simulation);
  run.facts = {{"requests served", display(static_cast<double>(s.requests), "")},
               {"requests/s", display(s.requests_per_second, "")},
               {"tok/s out per GPU", display(s.output_rate / static_cast<double>(a.gpus()), "")}};
  run.requests_per_s = s.requests_per_second;
  if (const workloads::RequestClasses& classes = a.scenario.stream.classes; classes.size() == 1) {
    run.ttft_limit = classes.front().objectives.ttft;
    run.tpot_limit = classes.front().objectives.tpot;
  }
  if (any_objective(a.scenario.stream.classes)) {
    run.facts.emplace_back("keep the objectives", fmt::format("{:.1f} %", 100.0 * s.attainment));
    run.facts.emplace_back("requests/s of these (goodput)", display(s.goodput, ""));
  }
  if (s.prefix_hit_rate > 0.0) {
    run.facts.emplace_back("of the input found in the KV cache",
                           fmt::format("{:.1f} %", 100.0 * s.prefix_hit_rate));
  }
  if (s.restored_share > 0.0) {
    run.facts.emplace_back("of the input found in host memory",
                           fmt::format("{:.1f} %", 100.0 * s.restored_share));
  }
  for (auto& fact : a.task_facts(options.warm_up)) {
    run.facts.push_back(std::move(fact));
  }
  run.facts.emplace_back("running at most",
                         display(static_cast<double>(simulation.peak_running), ""));
  run.facts.emplace_back("KV cache at most",
                         fmt::format("{:.1f} %", 100.0 * simulation.peak_cache));
  run.facts.emplace_back("of the time busy", fmt::format("{:.1f} %", 100.0 * load.utilisation));
  run.facts.emplace_back("preemptions", display(static_cast<double>(s.preemptions), ""));
  run.facts.emplace_back("rejected", display(static_cast<double>(s.rejected), ""));
  run.tables.push_back(times_table(s));
  if (const auto summaries = by_priority(a, options.warm_up); !summaries.empty()) {
    run.tables.push_back(priorities_table(summaries));
  }
  std::vector<base::Seconds> ttft;
  std::vector<base::Seconds> tpot;
  for (std::size_t i = options.warm_up; i < simulation.requests.size(); ++i) {
    const sim::ServedRequest& r = simulation.requests[i];
    if (!r.rejected) {
      ttft.push_back(r.ttft());
    }
    if (!r.rejected && r.output_tokens > 1) {
      tpot.push_back(r.tpot());
    }
  }
  run.sides.push_back(simulated_side(ttft, tpot, simulation.seconds));
  add_file(report, run, "requests.csv", simulation.requests.size(), request_columns(),
           [&](base::CsvWriter& csv) { write_requests(csv, simulation); });
  add_file(report, run, "timeline.csv", simulation.seconds.size(), timeline_columns(),
           [&](base::CsvWriter& csv) { write_timeline(csv, simulation); });
  report.runs.push_back(std::move(run));
  return report;
}

int run_simulate(const Options& options) {
  Answer a;
  const base::Node document = scenario_document(options.scenario, options.set);
  a.scenario = sim::read_streamed_scenario(document);
  if (a.scenario.scenario.training.trains()) {
    throw base::InputError("error: a scenario that trains is estimated, not simulated\n");
  }
  workloads::RequestStream& stream = a.scenario.stream;
  if (options.seed) {
    stream.seed = *options.seed;
  }
  const workloads::Requests requests = requests_of(options, stream);
  const bool open = stream.arrivals || !options.trace.empty();
  a.stream = stream_text(options, a.scenario, requests);
  a.simulation = sim::simulate(sim::view(a.scenario.scenario), requests,
                               open ? 0 : a.scenario.stream.concurrency);
  if (!options.csv.empty()) {
    base::CsvWriter csv(std::filesystem::path(options.csv), request_columns());
    write_requests(csv, a.simulation);
    csv.close();
  }
  if (!options.timeline.empty()) {
    base::CsvWriter csv(std::filesystem::path(options.timeline), timeline_columns());
    write_timeline(csv, a.simulation);
    csv.close();
  }
  if (!options.report.empty()) {
    write_report(report_of(options, a, base::to_yaml(document)), options.report);
  }
  options.format == "json" ? print_json(options, a) : print_text(options, a);
  return kDone;
}

}  // namespace

void add_simulate(Command& app, Run& chosen) {
  auto* command = app.add_subcommand(
      "simulate",
      "Simulates one scenario request by request: latencies, queues, KV cache\n"
      "The requests come from the scenario's traffic: a closed loop (concurrency) or an open "
      "loop (arrivals). With --trace they come from a recorded trace, at its own times. In "
      "every iteration the scheduler decides as the stack does.");
  auto options = std::make_shared<Options>();
  command->add_option("scenario", options->scenario, "the YAML file of the scenario")
      ->type_name(kFile)
      ->required();
  command
      ->add_option(
          "--trace", options->trace,
          "replay these requests: a table of arrival_s, input_tokens and output_tokens, or an "
          "Azure or Mooncake trace")
      ->type_name(kFile);
  command
      ->add_option("--set", options->set,
                   "change a knob: its dotted path, =, a value or a factor (x1.5)")
      ->type_name(kKnobValue)
      ->take_all();
  command
      ->add_option("--seed", options->seed,
                   "draw the requests with this seed instead of traffic.seed")
      ->type_name(kNumber);
  command
      ->add_option("--warm-up", options->warm_up,
                   "also print the times without this many requests at the start")
      ->type_name(kNumber);
  command->add_option("--csv", options->csv, "write the requests, one per row")
      ->type_name(kFile)
      ->group("Output");
  command
      ->add_option("--timeline", options->timeline, "write the state of each second, one per row")
      ->type_name(kFile)
      ->group("Output");
  command
      ->add_option("--report", options->report,
                   "write an HTML report with distributions, and queues by the second")
      ->type_name(kFile)
      ->group("Output");
  command->add_option("--format", options->format, "the format of the output")
      ->one_of({"text", "json"})
      ->capture_default_str()
      ->group("Output");
  command->footer(
      examples({"roofcast show example llama-70b > mine.yaml",
                "roofcast simulate mine.yaml --csv requests.csv --timeline seconds.csv",
                "roofcast simulate mine.yaml --report requests.html",
                "roofcast simulate mine.yaml --set 'traffic={input_tokens: 1000, output_tokens: "
                "200, arrivals: {process: poisson, rate: 4 /s}, requests: 500}'"}));
  command->callback([&chosen, options] { chosen = [options] { return run_simulate(*options); }; });
}

}  // namespace roofcast::cli
