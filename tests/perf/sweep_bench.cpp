// SPDX-License-Identifier: Apache-2.0
//
// How fast roofcast itself is: estimates a second on one core, and what they are made of.
//
//   roofcast_bench [SWEEP.yaml]          default: examples/llama70b_million.yaml
//
// Simulations of the Azure conversation trace and of a million drawn requests are timed too, and training runs
// (examples/llama-405b_run.yaml). Every figure is the median of
// several repeats. docs/performance.md has figures over time. Not a test: machines differ.
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <set>

#include "base/csv/csv.hpp"
#include "calibrate/platforms/measurements.hpp"
#include "cli/tables/result_csv.hpp"
#include "cli/tables/text_table.hpp"
#include "models/operators/operator_cost.hpp"
#include "sim/decide/sweep_run.hpp"
#include "sim/iteration/iteration_cache.hpp"
#include "sim/iteration/iteration_table.hpp"
#include "sim/replay/simulate.hpp"
#include "sim/scenario/sections.hpp"
#include "sim/training/drawn_run.hpp"
#include "sim/training/training_run.hpp"
#include "workloads/traffic/request_traces.hpp"

namespace roofcast {
namespace {

constexpr int kRepeats = 5;
constexpr double kLeastSeconds = 0.02;  // of one repeat of a function

constexpr std::string_view kDense = R"(
system: hgx_h200
model: llama-3.1-70b
precision: fp8
deployment: {tensor_parallel: 8}
serving: {stack: vllm}
traffic: {input_tokens: 2048, output_tokens: 512, concurrency: 64}
)";

// The requests of the Azure conversation trace, about.
constexpr std::string_view kChat = R"(
system: hgx_h200
model: llama-3.1-70b
precision: fp8
deployment: {tensor_parallel: 8}
serving: {stack: vllm}
traffic:
  input_tokens: {lognormal: {mean: 1020, cv: 1.2, max: 8192}}
  output_tokens: {lognormal: {mean: 210, cv: 1, max: 2048}}
  arrivals: {process: poisson, rate: 6 /s}
  requests: 1000000
)";

constexpr std::string_view kExperts = R"(
system: gb200_nvl72
model: deepseek-v3
precision: fp8_block
deployment: {tensor_parallel: 1, expert_parallel: 32, data_parallel: 32}
serving: {stack: sglang}
traffic: {input_tokens: 2048, output_tokens: 512, concurrency: 2048}
)";

// Points that differ in their run alone, and points with a step each.
constexpr std::string_view kRuns = R"(
base: examples/llama-405b_run.yaml
axes:
  run.checkpoint.interval: [1 min, 2 min, 3 min, 4 min, 5 min, 6 min, 8 min, 10 min, 20 min, 30 min]
  run.spare_hosts: [1, 2, 4, 8, 12, 16, 20, 24, 28, 32, 40, 48, 64, 80, 96, 128]
  run.detection: [10 s, 20 s, 30 s, 1 min, 2 min, 3 min, 5 min, 10 min]
  run.restart.time: [10 s, 30 s, 1 min, 2 min, 3 min, 5 min, 10 min, 20 min]
  run.repair: [1 h, 6 h, 1 d, 3 d]
)";
constexpr std::string_view kSteps = R"(
base: examples/llama-405b_run.yaml
axes:
  training.global_batch: [1024, 2048, 4096, 8192, 16384]
  training.sequence_length: [1024, 2048, 4096, 8192]
  training.moments: [fp32, bf16, fp8]
  training.gradients: [fp32, bf16]
  training.recompute: [norms, mlp, attention, full]
  training.overlap: [true, false]
  training.sharding: [none, optimizer, gradients, parameters]
  system.chip.tensor.bf16: [x1, x1.1, x1.2, x1.3]
)";

double seconds_of(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

double median_seconds(const std::function<void()>& work) {
  std::vector<double> seconds;
  for (int i = 0; i < kRepeats; ++i) {
    seconds.push_back(seconds_of(work));
  }
  return median(std::move(seconds));
}

// Of a result the compiler must not leave out.
volatile double sink = 0.0;

// Seconds of one call of a short function.
double median_call(const std::function<double()>& call) {
  std::size_t calls = 1;
  const auto batch = [&] {
    double sum = 0.0;
    for (std::size_t i = 0; i < calls; ++i) {
      sum += call();
    }
    sink = sum;
  };
  while (seconds_of(batch) < kLeastSeconds) {
    calls *= 2;
  }
  return median_seconds(batch) / static_cast<double>(calls);
}

double peak_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) * 1024.0;
}

std::vector<workloads::Operator> distinct_operators(const sim::ScenarioView& view,
                                                    const workloads::Batch& batch) {
  std::vector<workloads::Operator> distinct;
  for (const sim::OperatorLine& line : sim::iteration_operators(view, batch)) {
    if (std::find(distinct.begin(), distinct.end(), line.call.op) == distinct.end()) {
      distinct.push_back(line.call.op);
    }
  }
  return distinct;
}

void print_functions(const std::string& title, std::string_view text) {
  const sim::Scenario scenario = sim::read_scenario(base::parse_document(
      std::make_shared<base::Source>(base::Source{title, std::string(text), {}})));
  const sim::ScenarioView view = sim::view(scenario);
  sim::Workspace workspace;
  const sim::ServingEstimate e = sim::estimate(view, workspace);
  if (!e.fits()) {
    throw base::InputError(fmt::format("error: {}: {}\n", title, sim::reason(e)));
  }
  const models::Machine& machine = scenario.platform.machine;
  cli::TextTable table({title, "one call", "calls/s"});
  const auto add = [&](std::string_view name, const std::function<double()>& call,
                       std::size_t parts = 1) {
    const double seconds = median_call(call) / static_cast<double>(parts);
    table.add({std::string(name), fmt::format("{:.0f} ns", seconds * 1e9),
               fmt::format("{:.0f}", 1.0 / seconds)});
  };
  add("estimate", [&] { return sim::estimate(view, workspace).output_rate; });
  const auto step = [&](const workloads::Batch& batch) {
    return [&, batch] { return sim::iteration_cost(view, batch, workspace).latency.si(); };
  };
  add("iteration_cost, decodes", step(e.steady.decode_iteration));
  add("iteration_cost, decodes and prompts", step(e.steady.prefill_iteration));
  sim::IterationTable times(view, scenario.deployment.mapping.data_parallel);
  const sim::Iteration mixed{100, 1500.0, 2, 1500, 300.0};
  add("step_times, decodes and prompts", [&] { return times(mixed).latency.si(); });
  add("step_times, decodes", [&] { return times({100, 1500.0, 0, 0, 0.0}).latency.si(); });
  add("build_graph", [&] {
    workloads::build_graph(scenario.model, scenario.precision, scenario.deployment.mapping, {},
                           e.steady.prefill_iteration, workspace.graph);
    return static_cast<double>(workspace.graph.size());
  });
  const std::vector<workloads::Operator> decode =
      distinct_operators(view, e.steady.decode_iteration);
  add(
      "operator cost, mean of a decode iteration's",
      [&] {
        double sum = 0.0;
        for (const workloads::Operator& op : decode) {
          sum += models::cost_of(op, machine).time.si();
        }
        return sum;
      },
      decode.size());
  std::set<std::string_view> seen;  // of two layer kinds alike, one is timed
  for (const sim::OperatorLine& line : sim::iteration_operators(view, e.steady.prefill_iteration)) {
    if (!seen.insert(line.call.name).second) {
      continue;
    }
    add(line.call.name, [&] { return models::cost_of(line.call.op, machine).time.si(); });
  }
  fmt::print("{}\n", table.text());
}

void print_runs() {
  cli::TextTable table({"training runs", "", "points/s"});
  for (const auto& [name, text] : {std::pair{"that differ in their run alone, 1 thread", kRuns},
                                   std::pair{"with a step each, 1 thread", kSteps}}) {
    const sim::SweepPoints points(sim::read_sweep(base::parse_document("runs", std::string(text))));
    const double seconds =
        median_seconds([&] { sink = static_cast<double>(sim::run_sweep(points, 1).rows()); });
    table.add({fmt::format("{} {}", points.size(), name), fmt::format("{:.2f} s", seconds),
               fmt::format("{:.0f}", static_cast<double>(points.size()) / seconds)});
  }
  const sim::Scenario scenario =
      sim::read_scenario(base::load_document("examples/llama-405b_run.yaml"));
  const sim::ScenarioView view = sim::view(scenario);
  sim::Workspace workspace;
  const sim::ServingEstimate e = sim::estimate(view, workspace);
  const sim::RunModel model =
      sim::run_model(view, e.workflow->step(), e.workflow->training.tokens, e.gpus);
  base::Random random(1, "failures");
  const double drawn = median_call([&] { return sim::draw(model, random).time.si(); });
  fmt::print("{}a run of {:.0f} days with {:.0f} failures is drawn in {:.3f} ms\n\n", table.text(),
             e.workflow->run->mean.time.si() / 86400.0, e.workflow->run->mean.interruptions,
             drawn * 1e3);
}

void print_million_requests() {
  const base::Node document = base::parse_document("chat", std::string(kChat));
  const sim::StreamedScenario s = sim::read_streamed_scenario(document);
  const workloads::Requests requests = workloads::draw_requests(s.stream);
  sim::Simulation simulation;
  const double seconds =
      seconds_of([&] { simulation = sim::simulate(sim::view(s.scenario), requests, 0); });
  fmt::print(
      "simulation of {} drawn requests: {:.2f} s, {:.0f} requests/s, {:.0f} iterations/s\n\n",
      requests.requests.size(), seconds, static_cast<double>(requests.requests.size()) / seconds,
      static_cast<double>(simulation.iterations) / seconds);
}

void print_simulation() {
  const auto file =
      calibrate::find_table(calibrate::measurements() / "traces", "AzureLLMInferenceTrace_conv");
  if (!file) {
    fmt::print("no trace: no simulation\n\n");
    return;
  }
  const sim::Scenario scenario =
      sim::read_scenario(base::parse_document("dense", std::string(kDense)));
  const workloads::Requests requests = workloads::read_requests(*file);
  sim::Simulation simulation;
  const double seconds =
      median_seconds([&] { simulation = sim::simulate(sim::view(scenario), requests, 0); });
  fmt::print("simulation of {}: {:.3f} s, {:.0f} requests/s, {:.0f} iterations/s\n\n",
             file->filename().string(), seconds,
             static_cast<double>(requests.requests.size()) / seconds,
             static_cast<double>(simulation.iterations) / seconds);
}

void print_sweep(const std::filesystem::path& file) {
  const base::Node document = base::load_document(file);
  const double reading =
      median_seconds([&] { const sim::SweepPoints points(sim::read_sweep(document)); });
  const sim::SweepPoints points(sim::read_sweep(document));
  const auto count = static_cast<double>(points.size());
  std::size_t fitting = 0;
  const double estimating = median_seconds([&] {
    sim::Workspace workspace;
    workspace.costs.emplace();
    workspace.iterations = std::make_shared<sim::IterationCache>();
    fitting = 0;
    double sum = 0.0;
    for (std::size_t i = 0; i < points.size(); ++i) {
      const sim::ServingEstimate e = sim::estimate(points.scenario(i), workspace);
      fitting += e.fits() ? 1 : 0;
      sum += e.output_rate;
    }
    sink = sum;
  });
  const double before = peak_bytes();
  std::optional<sim::ResultTable> result;
  const double alone = median_seconds([&] { result = sim::run_sweep(points, 1); });
  const double all = median_seconds([&] { result = sim::run_sweep(points, 0); });
  const auto csv = std::filesystem::temp_directory_path() / "roofcast_bench.csv";
  const double writing = median_seconds([&] {
    base::CsvWriter writer(csv, sim::result_columns(points));
    cli::write_results(*result, 0, writer);
  });
  const auto csv_bytes = static_cast<double>(std::filesystem::file_size(csv));
  const double after_writing = peak_bytes();
  const double table_reading =
      median_seconds([&] { sink = static_cast<double>(base::read_csv(csv).rows()); });
  std::filesystem::remove(csv);

  cli::TextTable table({file.filename().string(), "", "points/s"});
  const auto add = [&](std::string_view name, double seconds) {
    table.add({std::string(name), fmt::format("{:.2f} s", seconds),
               fmt::format("{:.0f}", count / seconds)});
  };
  add("reading the sweep", reading);
  add("estimates, 1 thread", estimating);
  add("run_sweep, 1 thread: estimates, conditions, ranks", alone);
  add("run_sweep, all cores", all);
  add("writing the CSV", writing);
  add("reading the CSV", table_reading);
  fmt::print("{}\n", table.text());
  fmt::print("{} points, {} fit: {:.0f} fitting estimates/s/core\n", points.size(), fitting,
             static_cast<double>(fitting) / estimating);
  fmt::print(
      "CSV {:.0f} MB; peak RSS {:.0f} MB before the results, {:.0f} MB with them and the "
      "CSV written, {:.0f} MB with the CSV read back\n",
      csv_bytes / 1e6, before / 1e6, after_writing / 1e6, peak_bytes() / 1e6);
}

int run(int argc, char** argv) {
  try {
    print_functions("dense, TP8", kDense);
    print_functions("experts, EP32 DP32", kExperts);
    print_simulation();
    print_million_requests();
    print_runs();
    print_sweep(argc > 1 ? argv[1] : "examples/llama70b_million.yaml");
    return 0;
  } catch (const base::InputError& error) {
    fmt::print(stderr, "{}", error.what());
    return 2;
  }
}

}  // namespace
}  // namespace roofcast

int main(int argc, char** argv) { return roofcast::run(argc, argv); }
