// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/scenario_text.hpp"
#include "cli/simulated_tasks.hpp"
#include "cli/text_table.hpp"
#include "cli/usage.hpp"
#include "sim/knob.hpp"
#include "sim/metrics.hpp"
#include "sim/simulation_summary.hpp"
#include "sim/solve.hpp"
#include "sim/sweep_run.hpp"

namespace roofcast::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostCombinations = 10'000;

struct Options {
  std::string scenario;
  std::vector<std::string> vary;
  std::vector<std::string> until;
  std::string minimize;
  std::vector<std::string> set;
  std::string format = "text";
  bool simulate = false;
  bool strict = false;
};

struct Question {
  std::vector<sim::KnobRange> ranges;
  std::vector<sim::Condition> conditions;
};

struct Answer {
  bool found = false;
  std::vector<std::string> values;  // of the knobs; of what comes nearest where none meets
  sim::ServingEstimate estimate;
  std::string sentence;
  std::vector<std::string> notes;
};

Question question_of(const Options& options) {
  base::Problems problems;
  base::Node document = scenario_document(options.scenario, options.set);
  sim::load_references(document, problems);
  problems.throw_if_any();
  Question q;
  std::size_t combinations = 1;
  const bool search = options.vary.size() == 1 && options.minimize.empty();
  for (const std::string& text : options.vary) {
    q.ranges.push_back(sim::parse_knob_range(text, document, problems));
    const sim::KnobRange& range = q.ranges.back();
    const std::size_t values = range.values().size();
    if (problems.empty() && values == 0 && !search) {
      throw base::InputError(fmt::format(
          "error: {} has too many values to try each; give a list a,b,c or whole numbers\n",
          range.path));
    }
    combinations *= std::max<std::size_t>(values, 1);
  }
  for (const std::string& text : options.until) {
    const auto source = std::make_shared<const base::Source>(base::Source{"--until", text, {}});
    if (const auto condition = sim::parse_condition(text, {source, {}}, problems, "")) {
      q.conditions.push_back(*condition);
    }
  }
  if (!options.minimize.empty() && sim::find_metric(options.minimize) == nullptr) {
    problems.add_text(
        fmt::format("error: --minimize: {}\n", sim::unknown_metric(options.minimize)));
  }
  problems.throw_if_any();
  if (!search && combinations > kMostCombinations) {
    throw base::InputError(fmt::format("error: {} combinations; at most {} are tried\n",
                                       combinations, kMostCombinations));
  }
  if (options.vary.size() > 1 && options.minimize.empty()) {
    throw base::InputError("error: several --vary need a metric to --minimize\n");
  }
  return q;
}

std::vector<std::string> assignments(const Options& options, const Question& q,
                                     const std::vector<std::string>& values) {
  std::vector<std::string> set = options.set;
  for (std::size_t i = 0; i < values.size(); ++i) {
    set.push_back(q.ranges[i].path + "=" + values[i]);
  }
  return set;
}

Answer answer(const Options& options, const Question& q) {
  sim::Workspace workspace;
  const auto estimate_at = [&](const std::vector<std::string>& values) {
    const sim::Scenario s =
        sim::read_scenario(scenario_document(options.scenario, assignments(options, q, values)));
    return sim::estimate(sim::view(s), workspace);
  };
  Answer a;
  const sim::KnobRange& first = q.ranges.front();
  if (options.vary.size() == 1 && options.minimize.empty() && first.listed.empty()) {
    const sim::Boundary b = sim::boundary_of(first, q.conditions, estimate_at);
    a.found = b.found;
    a.values = {b.value};
    a.estimate = b.estimate;
    if (b.everywhere) {
      a.sentence = fmt::format("every {} from {} to {} meets the conditions", first.path,
                               first.text(first.low), first.text(first.high));
    } else if (b.found) {
      a.sentence = fmt::format("{} {} {} meets the conditions", first.path,
                               b.upwards ? "from" : "up to", b.value);
      a.notes.push_back(
          fmt::format("{}: {}", b.beyond, sim::missed(q.conditions, b.estimate_beyond)));
    }
    if (b.changes > 1) {
      a.notes.push_back(
          fmt::format("not monotone: they begin or cease to hold {} times from {} to {}; this is "
                      "the first",
                      b.changes, first.text(first.low), first.text(first.high)));
    }
  } else {
    const std::string metric = options.minimize.empty() ? "gpus" : options.minimize;
    const sim::Choice c = sim::least_of(q.ranges, q.conditions, metric, estimate_at);
    a.found = c.found;
    a.values = c.values;
    a.estimate = c.estimate;
    a.sentence = fmt::format("the least {} of {} combinations, {} of which meet the conditions",
                             metric, c.tried, c.met);
  }
  if (!a.found) {
    a.sentence = "nothing in the range meets the conditions; the nearest";
    a.notes = {sim::missed(q.conditions, a.estimate)};
  }
  return a;
}

// A metric as the simulation tells it; not a number where it does not.
double simulated(std::string_view metric, const sim::SimulationSummary& s,
                 const std::optional<SimulatedTasks>& tasks, double gpus) {
  const sim::SimulatedTimes task =
      tasks ? tasks->summary.time : sim::SimulatedTimes{NAN, NAN, NAN, NAN, NAN, NAN};
  const std::pair<std::string_view, double> all[] = {
      {"ttft_mean_s", s.ttft.mean},
      {"ttft_p50_s", s.ttft.p50},
      {"ttft_p95_s", s.ttft.p95},
      {"ttft_p99_s", s.ttft.p99},
      {"tpot_mean_s", s.tpot.mean},
      {"tpot_p95_s", s.tpot.p95},
      {"tpot_p99_s", s.tpot.p99},
      {"e2e_mean_s", s.end_to_end.mean},
      {"interactivity_tok_per_s_per_user", 1.0 / s.tpot.mean},
      {"requests_per_s", s.requests_per_second},
      {"task_mean_s", task.mean},
      {"task_p50_s", task.p50},
      {"task_p95_s", task.p95},
      {"tasks_per_gpu_hour", tasks ? tasks->per_gpu_hour : NAN},
      {"usd_per_task", tasks ? tasks->usd : NAN},
      {"found_share", s.reused_share},
      {"tools_share", tasks ? tasks->summary.tools_share : NAN},
      {"throughput_tok_per_s", s.output_rate},
      {"throughput_tok_per_s_per_gpu", s.output_rate / gpus}};
  for (const auto& [name, value] : all) {
    if (name == metric) {
      return value;
    }
  }
  return NAN;
}

std::vector<const sim::Metric*> shown(const Options& options, const Question& q) {
  std::vector<const sim::Metric*> metrics;
  const auto add = [&](std::string_view name) {
    const sim::Metric* metric = sim::find_metric(name);
    if (metric != nullptr && std::find(metrics.begin(), metrics.end(), metric) == metrics.end()) {
      metrics.push_back(metric);
    }
  };
  for (const sim::Condition& c : q.conditions) {
    add(c.metric);
  }
  add(options.minimize);
  for (const char* name : {"ttft_mean_s", "tpot_mean_s", "requests_per_s",
                           "throughput_tok_per_s_per_gpu", "utilisation", "gpus"}) {
    add(name);
  }
  return metrics;
}

int run_solve(const Options& options) {
  const Question q = question_of(options);
  const Answer a = answer(options, q);
  const auto set = assignments(options, q, a.values);
  const sim::StreamedScenario s =
      sim::read_streamed_scenario(scenario_document(options.scenario, set));
  const bool simulates = options.simulate && a.estimate.fits();
  sim::SimulationSummary summary;
  std::optional<SimulatedTasks> tasks;
  if (simulates) {
    // The start, in which requests find an empty server, is not of the steady state.
    const workloads::Requests requests = workloads::draw_requests(s.stream);
    const sim::Simulation simulation =
        sim::simulate(sim::view(s.scenario), requests, s.stream.concurrency);
    summary = sim::summarise(simulation, requests.requests.size() / 5, {});
    tasks = tasks_of(simulation, s, requests.requests.size() / 5);
  }
  const auto gpus = static_cast<double>(a.estimate.gpus);
  if (options.format == "json") {
    Json json = {{"found", a.found}};
    for (std::size_t i = 0; i < a.values.size(); ++i) {
      json["values"][q.ranges[i].path] = a.values[i];
    }
    json["notes"] = a.notes;
    for (const sim::Metric* metric : shown(options, q)) {
      const double value = a.estimate.fits() ? metric->value(a.estimate) : NAN;
      const double served = simulates ? simulated(metric->name, summary, tasks, gpus) : NAN;
      json["metrics"][std::string(metric->name)] = std::isfinite(value) ? Json(value) : Json();
      if (simulates) {
        json["simulated"][std::string(metric->name)] =
            std::isfinite(served) ? Json(served) : Json();
      }
    }
    fmt::print("{}\n", json.dump(2));
    return options.strict && !a.found ? kInfeasible : kDone;
  }
  fmt::print("{}\n\n{}\n", title(s.scenario), a.sentence);
  for (std::size_t i = 0; i < a.values.size(); ++i) {
    fmt::print("  --set '{}={}'\n", q.ranges[i].path, a.values[i]);
  }
  for (const std::string& note : a.notes) {
    fmt::print("  {}\n", note);
  }
  if (a.estimate.fits()) {
    std::vector<std::string> columns = {"metric", "value", "condition"};
    if (simulates) {
      columns.insert(columns.begin() + 2, "simulated");
    }
    TextTable table(columns);
    for (const sim::Metric* metric : shown(options, q)) {
      std::string conditions;
      for (const sim::Condition& c : q.conditions) {
        conditions += c.metric == metric->name ? (conditions.empty() ? "" : ", ") + c.text : "";
      }
      std::vector<std::string> row = {std::string(metric->label),
                                      display(metric->value(a.estimate), metric->unit), conditions};
      if (simulates) {
        const double value = simulated(metric->name, summary, tasks, gpus);
        row.insert(row.begin() + 2, std::isnan(value) ? "" : display(value, metric->unit));
      }
      table.add(row);
    }
    fmt::print("\n{}", table.text());
  }
  return options.strict && !a.found ? kInfeasible : kDone;
}

}  // namespace

void add_solve(CLI::App& app, Run& chosen) {
  auto* command =
      app.add_subcommand("solve",
                         "The largest or smallest value of a knob that meets conditions\n"
                         "One knob is searched by bisection: how far up the conditions hold, or "
                         "from where on. Several, "
                         "or a list, are tried in every combination for the least of a metric. "
                         "Conditions are those of "
                         "a sweep's where: fits, or a metric in SI units and a bound. A range is "
                         "8..64, '1 /s..50 /s', "
                         "x0.5..x8 (factors of what is there) or a list a,b; without one, a "
                         "thousand times either way.");
  auto options = std::make_shared<Options>();
  command->add_option("scenario", options->scenario, "the scenario's YAML")
      ->type_name(kFile)
      ->required();
  command->add_option("--vary", options->vary, "a knob, and the values it may have")
      ->type_name(kKnobRange)
      ->take_all()
      ->required();
  command->add_option("--until", options->until, "a condition, such as 'ttft_p95_s <= 0.5'")
      ->type_name(kCondition)
      ->take_all()
      ->required();
  command
      ->add_option("--minimize", options->minimize, "the metric that several knobs are tried for")
      ->type_name(kMetric);
  command->add_option("--set", options->set, "turn a knob: a dotted path, =, a value or a factor")
      ->type_name(kKnobValue)
      ->take_all();
  command->add_flag("--simulate", options->simulate,
                    "simulate the answer as well, without its first fifth of requests");
  command->add_option("--format", options->format, "how to print it")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str()
      ->group("Output");
  command->add_flag("--strict", options->strict, "exit with 3 when nothing meets the conditions");
  command->footer(examples(
      {"roofcast show example llama-70b_arrivals > mine.yaml",
       "roofcast solve mine.yaml --vary traffic.arrivals.rate --until 'ttft_p95_s <= 0.5' --until "
       "'tpot_p95_s <= 0.03' --simulate",
       "roofcast solve mine.yaml --set 'traffic.arrivals.rate=40 /s' --vary serving.replicas=1..16 "
       "--vary deployment.tensor_parallel=2,4,8 --until 'ttft_p95_s <= 0.5' --minimize gpus --set "
       "system=h200_cluster_128",
       "roofcast solve mine.yaml --vary system.chip.hbm.bandwidth=x0.5..x4 --until 'tpot_mean_s "
       "<= 0.015'"}));
  command->callback([&chosen, options] { chosen = [options] { return run_solve(*options); }; });
}

}  // namespace roofcast::cli
