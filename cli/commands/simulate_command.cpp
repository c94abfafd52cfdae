// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <atomic>
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/csv/csv.hpp"
#include "base/units/unit_text.hpp"
#include "cli/pages/simulated_run.hpp"
#include "cli/program/commands.hpp"
#include "cli/program/progress.hpp"
#include "cli/program/usage.hpp"
#include "cli/provenance/made_by.hpp"
#include "cli/question/scenario_options.hpp"
#include "cli/simulate/drawn_report.hpp"
#include "cli/simulate/drawn_runs.hpp"
#include "cli/tables/request_rows.hpp"
#include "cli/tables/say.hpp"
#include "cli/text/cost_text.hpp"
#include "cli/text/json_answer.hpp"
#include "cli/text/scenario_text.hpp"
#include "cli/text/simulation_answer.hpp"
#include "cli/text/trace_text.hpp"
#include "sim/decide/result_comparison.hpp"

namespace roofcast::cli {
namespace {

struct SimulateOptions {
  ScenarioOptions said;
  std::string trace;
  std::optional<std::uint32_t> seed;
  std::size_t warm_up = 0;
  std::string breach;  // limit on its probability; empty: not asked
  std::string window;
  std::string share;
  std::optional<std::uint32_t> replications;
  unsigned threads = 0;
  std::string csv;
  std::string timeline;
  std::string report;
  std::string format = "text";
};

std::string stream_text(const sim::StreamedScenario& s, const workloads::Requests& requests) {
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
  if (!workloads::is_open(s.stream)) {
    loop = fmt::format("{} {}", s.stream.concurrency,
                       s.stream.agents ? "agents" : "clients that wait");
  } else if (last > 0.0) {
    loop = s.stream.agents
               ? fmt::format("{:.3g} tasks a second", (requests.requests.back().task + 1) / last)
               : fmt::format("{:.3g} a second", count / last);
  }
  return fmt::format("{}, {}, {} tokens in and {} out on average",
                     s.stream.trace ? replay_text(s.stream, requests)
                                    : fmt::format("{} requests{}", requests.requests.size(), tasks),
                     loop, display(input / count, ""), display(output / count, ""));
}

// "5%" or "0.05".
double share_of(const std::string& option, const std::string& text) {
  const auto share = sim::parse_tolerance(text);
  if (!share || share->value > 1.0) {
    throw base::InputError(fmt::format(
        "error: {}: a share from 0 to 1 is expected, for example 5% or 0.05, not \"{}\"\n", option,
        text));
  }
  return share->value;
}

BreachAlarm chosen_alarm(const SimulateOptions& options) {
  BreachAlarm alarm;
  alarm.limit = share_of("--breach", options.breach);
  if (!options.share.empty()) {
    alarm.window.share = share_of("--share", options.share);
  }
  if (!options.window.empty()) {
    const base::ParsedQuantity length =
        base::parse_quantity(options.window, base::dimension_of<base::Seconds>());
    if (!length.ok() || !(length.si > 0.0)) {
      throw base::InputError(fmt::format("error: --window: {}, not \"{}\"\n",
                                         length.ok() ? "a time above 0 is expected" : length.error,
                                         options.window));
    }
    alarm.window.length = base::Seconds::from_si(length.si);
  }
  return alarm;
}

void check(const SimulateOptions& options, const workloads::RequestStream& stream) {
  const bool of_breach =
      !options.window.empty() || !options.share.empty() || options.replications.has_value();
  if (options.breach.empty() && of_breach) {
    throw base::InputError(
        "error: --window, --share and --replications are of --breach, which is missing\n");
  }
  if (!options.breach.empty() && !any_objective(stream.classes)) {
    throw base::InputError(
        "error: --breach: no request has an objective to miss; traffic.objectives is expected\n");
  }
  if (stream.trace && options.replications) {
    throw base::InputError(
        "error: --replications draws requests, but a trace has its own: their windows are "
        "counted\n");
  }
}

BreachAlarm alarm_of(const SimulateOptions& options, const SimulationAnswer& a) {
  constexpr std::size_t kReplications = 100;
  BreachAlarm alarm = chosen_alarm(options);
  if (a.scenario.stream.trace) {
    alarm.breach = sim::breach_of_run(a.simulation, a.scenario.stream.classes, alarm.window);
    return alarm;
  }
  const std::size_t replications = options.replications.value_or(kReplications);
  std::atomic<std::size_t> done = 0;
  const std::atomic<std::size_t> total = replications;
  const Progress progress(done, total, "replications", false);
  alarm.breach = sim::breach_of_draws(sim::view(a.scenario.scenario), a.scenario.stream,
                                      alarm.window, replications, options.threads, &done);
  return alarm;
}

// A training run has no requests, nor seconds of a queue.
void refuse_options_of_requests(const SimulateOptions& options) {
  const std::pair<const char*, bool> given[] = {
      {"--trace", !options.trace.empty()},   {"--warm-up", options.warm_up > 0},
      {"--breach", !options.breach.empty()}, {"--window", !options.window.empty()},
      {"--share", !options.share.empty()},   {"--threads", options.threads > 0},
      {"--csv", !options.csv.empty()},       {"--timeline", !options.timeline.empty()}};
  for (const auto& [name, is_given] : given) {
    if (is_given) {
      throw base::InputError(fmt::format(
          "error: {} is for requests, but this scenario trains: its runs are drawn\n", name));
    }
  }
}

// Whole runs of a scenario that trains.
int run_training(const SimulateOptions& options, const base::Node& document) {
  constexpr std::size_t kRuns = 1000;
  refuse_options_of_requests(options);
  const sim::Scenario scenario = sim::read_scenario(document);
  if (!scenario.run.enabled()) {
    throw base::InputError(
        "error: a scenario that trains is estimated; simulated is its whole run, which the section "
        "run describes\n");
  }
  const DrawnRuns answer =
      draw_runs(scenario, options.replications.value_or(kRuns), options.seed.value_or(1));
  if (!options.report.empty()) {
    write_report(answer, base::to_yaml(document), options.report);
  }
  if (options.format == "json") {
    nlohmann::ordered_json json = json_of(answer);
    add_parents(sim::view(scenario), json);
    print_json(json);
  } else {
    say("{}{}", text_of(answer), parents_text(sim::view(scenario)));
  }
  return kDone;
}

void refuse_two_seeds(const SimulateOptions& options) {
  if (options.seed) {
    std::vector<base::Source> settings = set_options(options.said.set);
    settings.push_back({"--seed", fmt::format("traffic.seed={}", *options.seed), {}});
    base::Problems problems;
    refuse_two_of_one_knob(settings, problems);
    problems.throw_if_any();
  }
}

int run_simulate(const SimulateOptions& options) {
  refuse_two_seeds(options);
  SimulationAnswer a;
  a.warm_up = options.warm_up;
  base::Node document = described_scenario(options.said, "simulate");
  if (document.find("training") != nullptr) {
    return run_training(options, document);
  }
  if (!options.trace.empty()) {
    if (const std::string note = replace_by_trace(document, options.trace); !note.empty()) {
      tell("{}\n", note);
    }
  }
  a.scenario = sim::read_streamed_scenario(document);
  workloads::RequestStream& stream = a.scenario.stream;
  if (options.seed) {
    stream.seed = *options.seed;
  }
  check(options, stream);
  note_question("scenario", document);
  note_seed("traffic", stream.seed);
  a.requests = workloads::draw_requests(stream);
  a.stream = stream_text(a.scenario, a.requests);
  a.simulation = sim::simulate(sim::view(a.scenario.scenario), a.requests,
                               workloads::is_open(stream) ? 0 : stream.concurrency);
  if (!options.breach.empty() && a.simulation.reason.empty()) {
    a.alarm = alarm_of(options, a);
  }
  if (!options.csv.empty()) {
    base::CsvWriter csv(std::filesystem::path(options.csv), request_columns(stream));
    write_requests(csv, a.simulation, stream, a.requests);
    csv.close();
  }
  if (!options.timeline.empty()) {
    base::CsvWriter csv(std::filesystem::path(options.timeline), timeline_columns());
    write_timeline(csv, a.simulation);
    csv.close();
  }
  if (!options.report.empty()) {
    write_report(report_of(a, base::to_yaml(without_path_of_trace(document))), options.report);
  }
  if (options.format == "json") {
    nlohmann::ordered_json json = json_of(a);
    add_parents(sim::view(a.scenario.scenario), json);
    print_json(json);
  } else {
    print_text(a);
    say("{}", parents_text(sim::view(a.scenario.scenario)));
  }
  const bool alarmed = a.alarm ? a.alarm->sounds() : !options.breach.empty();
  return alarmed ? kInfeasible : kDone;
}

}  // namespace

void add_simulate(Command& app, Run& chosen) {
  auto* command = app.add_subcommand(
      "simulate",
      "Simulates one scenario request by request: latencies, queues, KV cache\n"
      "The requests come from the scenario's traffic: a closed loop (concurrency) or an open "
      "loop (arrivals or trace). With --trace they come from a recorded trace, at its own "
      "times. In every iteration the scheduler decides as the stack does. A scenario with run is "
      "a training run: its failures are drawn. A scenario file is not needed: the options say a "
      "scenario, or what differs from the file.");
  auto options = std::make_shared<SimulateOptions>();
  add_scenario_file(*command, options->said);
  add_scenario_options(*command, options->said, Lists::no);
  command
      ->add_option(
          "--trace", options->trace,
          "replay these requests in place of the scenario's lengths and arrivals, as "
          "traffic.trace does: a table of arrival_s, input_tokens and output_tokens, or an Azure "
          "or Mooncake trace")
      ->type_name(kFile);
  add_set_and_save(*command, options->said, "write the scenario to this file");
  command
      ->add_option("--seed", options->seed,
                   "draw the requests with this seed instead of traffic.seed")
      ->type_name(kNumber);
  command
      ->add_option("--warm-up", options->warm_up,
                   "also print the times without this many requests at the start")
      ->type_name(kNumber);
  command
      ->add_option("--breach", options->breach,
                   "exit with 3 if a window breaches with a higher probability than this, for "
                   "example 5%: too few of its requests meet their objectives")
      ->type_name(kNumber)
      ->group("Alarm");
  command->add_option("--window", options->window, "length of a window; default: '5 min'")
      ->type_name(kText)
      ->group("Alarm");
  command
      ->add_option("--share", options->share,
                   "a window breaches when fewer of its requests than this meet every objective; "
                   "default: 95%")
      ->type_name(kNumber)
      ->group("Alarm");
  command
      ->add_option("--replications", options->replications,
                   "runs with seeds of their own, each with one window; default: 100, of training "
                   "runs 1000. With a trace the windows of the trace are counted")
      ->type_name(kNumber)
      ->within(std::size_t{1}, kMostRuns)
      ->group("Alarm");
  command->add_option("--threads", options->threads, "number of threads; 0: all cores")
      ->type_name(kNumber)
      ->within(std::size_t{0}, kMostThreads)
      ->group("Alarm");
  command->add_option("--csv", options->csv, "write the requests, one per row")->written();
  command
      ->add_option("--timeline", options->timeline, "write the state of each second, one per row")
      ->written();
  command
      ->add_option("--report", options->report,
                   "write an HTML report with distributions, and queues by the second")
      ->written();
  command->add_format(options->format, {"text", "json"});
  command->footer(examples(
      {"roofcast simulate --model llama-3.1-70b --precision fp8 --system hgx_h200 --gpus 8 "
       "--input 2000 --output '{uniform: [200, 800]}' --rate '4 /s' --save mine.yaml",
       "roofcast simulate mine.yaml --csv requests.csv --timeline seconds.csv",
       "roofcast simulate mine.yaml --report requests.html",
       "roofcast simulate mine.yaml --breach 5% --window '1 min' --replications 20 --set "
       "'traffic.objectives={ttft: 2 s, tpot: 50 ms}'",
       "roofcast simulate mine.yaml --set 'traffic={input_tokens: 1000, output_tokens: "
       "200, arrivals: {process: poisson, rate: 4 /s}, requests: 500}'"}));
  command->callback([&chosen, options] { chosen = [options] { return run_simulate(*options); }; });
}

}  // namespace roofcast::cli
