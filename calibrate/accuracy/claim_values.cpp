// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/integers.hpp"
#include "base/overloaded.hpp"
#include "calibrate/accuracy/claims.hpp"
#include "calibrate/operators/predict.hpp"
#include "calibrate/platforms/chip_platforms.hpp"
#include "models/footprint.hpp"
#include "sim/decide/sweep_run.hpp"
#include "sim/iteration/iteration.hpp"
#include "sim/replay/simulation_summary.hpp"
#include "sim/result/metrics.hpp"
#include "sim/scenario/references.hpp"
#include "sim/scenario/sections.hpp"
#include "workloads/architecture/parameters.hpp"

namespace roofcast::calibrate {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

struct Value {
  double value = kNone;
  std::string how = {};  // where on the axes; without a value, why
  double low = kNone;    // 90 % interval
  double high = kNone;
};

// "concurrency 64, tensor_parallel 4"
std::string place_of(const sim::SweepPoints& points, std::size_t point) {
  std::string text;
  const auto& axes = points.sweep().axes;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (axes[i].values.size() == 1) {
      continue;
    }
    const std::string& name = axes[i].name;
    const std::string& label = points.label(point, i);
    const auto dot = name.find_last_of('.');
    if (!text.empty()) {
      text += ", ";
    }
    text += dot == std::string::npos ? label : fmt::format("{} {}", name.substr(dot + 1), label);
  }
  return text;
}

// None where the metric has no interval.
const sim::ResultColumn* bound_of(const sim::ResultTable& result, const sim::Metric& metric,
                                  std::string_view which) {
  const sim::Metric* bound = sim::find_metric(fmt::format("{}{}", which, metric.name));
  return bound == nullptr ? nullptr : &result.column(bound->name);
}

Value value_of(const BestOf& best) {
  const sim::SweepPoints points(best.sweep);
  const sim::ResultTable result = sim::run_sweep(points, 0);
  const sim::Metric& metric = *sim::find_metric(best.metric);
  const sim::ResultColumn& values = result.column(metric.name);
  // The best of many has no interval of its own.
  const bool one = points.size() == 1;
  const sim::ResultColumn* low = one ? bound_of(result, metric, "low90_") : nullptr;
  const sim::ResultColumn* high = one ? bound_of(result, metric, "high90_") : nullptr;
  const double sign = metric.better == sim::Better::lower ? -1.0 : 1.0;
  Value value;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (!result.meets(i)) {
      continue;
    }
    const double each = values.number(i);
    if (std::isnan(value.value) || sign * each > sign * value.value) {
      value = {each, place_of(points, i), low ? low->number(i) : kNone,
               high ? high->number(i) : kNone};
    }
  }
  if (std::isnan(value.value)) {
    value.how = result.fits(0) ? "no point meets the conditions" : result.column("reason").text(0);
  }
  return value;
}

// The interval is that of the steady state, to scale.
Value value_of(const WholeRunOf& run) {
  const sim::StreamedScenario streamed = sim::read_streamed_scenario(run.scenario);
  const sim::ScenarioView view = sim::view(streamed.scenario);
  sim::Workspace workspace;
  const sim::ServingEstimate steady = sim::estimate(view, workspace);
  if (!steady.fits()) {
    return {kNone, sim::reason(steady)};
  }
  const workloads::Requests requests = workloads::draw_requests(streamed.stream);
  const auto count = static_cast<std::int64_t>(requests.requests.size());
  const sim::Simulation simulation = sim::simulate(view, requests, count);
  if (!simulation.reason.empty()) {
    return {kNone, simulation.reason};
  }
  const sim::Metric& rate = *sim::find_metric("throughput_tok_per_s_per_gpu");
  const double value =
      sim::summarise(simulation, 0, {}).output_rate / sim::find_metric("gpus")->value(steady);
  const double scale = value / rate.value(steady);
  const sim::Interval90 interval = sim::interval90(rate, steady);
  return {value, {}, scale * interval.low, scale * interval.high};
}

bool names(const std::string& pattern, std::string_view name) {
  return pattern.ends_with('*') ? name.starts_with(pattern.substr(0, pattern.size() - 1))
                                : name == pattern;
}

Value value_of(const TimeOf& time) {
  const sim::Scenario scenario = sim::read_scenario(time.scenario);
  sim::Workspace workspace;
  const sim::ScenarioView view = sim::view(scenario);
  const sim::ServingEstimate e = sim::estimate(view, workspace);
  if (!e.fits()) {
    return {kNone, sim::reason(e)};
  }
  const workloads::Batch& batch =
      time.prompts ? e.steady.prefill_iteration : e.steady.decode_iteration;
  double seconds = 0.0;
  for (const sim::OperatorLine& line : sim::iteration_operators(view, batch)) {
    for (const std::string& pattern : time.operators) {
      if (names(pattern, line.call.name)) {
        seconds += line.time.si();
        break;
      }
    }
  }
  return seconds > 0.0 ? Value{seconds, {}} : Value{kNone, "no such operator runs"};
}

Value value_of(const RowOf& row) {
  // The table wants the columns that were measured, which nothing here reads.
  static constexpr const char* kMeasured =
      "latency_ms,combine_avg_t_us,dispatch_avg_t_us,dispatch_transmit_us,dispatch_notify_us,"
      "combine_transmit_us,combine_notify_us";
  std::string header(kMeasured);
  std::string cells("1,1,1,1,1,1,1");
  for (const auto& [column, cell] : row.cells) {
    header += fmt::format(",{}", column);
    cells += fmt::format(",{}", cell);
  }
  const base::CsvTable table =
      base::parse_csv(fmt::format("{}\n{}\n", header, cells), fmt::format("a row of {}", row.kind));
  const MeasuredOperator op = OperatorRows(row.kind, table).row(0);
  static ChipPlatforms platforms;
  const std::string stack = op.stack == "trtllm" ? "trtllm" : "vllm";
  const bool wide = row.kind.starts_with("deepep");
  const sim::Platform* platform =
      wide ? platforms.find_cluster(op.chip, stack) : platforms.find(op.chip, stack);
  const std::string reason = platform == nullptr ? fmt::format("no system of {} is known", op.chip)
                                                 : reason_against(op, platform->machine);
  if (!reason.empty()) {
    return {kNone, reason};
  }
  return {predicted(op, platform->machine), {}};
}

bool is_of_tasks(Count count) {
  return count == Count::prompt_tokens_per_task || count == Count::answer_tokens_per_task ||
         count == Count::tools_s_per_task;
}

// Sub-agents included; of the tasks that closed forms know.
double mean_of_tasks(const workloads::RequestStream& stream, Count count) {
  const auto sampled = workloads::sample(*stream.agents, static_cast<std::uint64_t>(stream.seed));
  double sum = 0.0;
  for (const workloads::AgentTask& task : sampled->tasks) {
    for (const auto& session : task.sessions) {
      for (const workloads::AgentTurn& turn : session) {
        sum += count == Count::prompt_tokens_per_task   ? base::as_double(turn.input_tokens)
               : count == Count::answer_tokens_per_task ? base::as_double(turn.output_tokens)
                                                        : turn.tools.si();
      }
    }
  }
  return sum / static_cast<double>(sampled->tasks.size());
}

Value value_of(const CountOf& count) {
  base::Problems problems;
  base::Node document = count.scenario;
  sim::load_references(document, problems);
  problems.throw_if_any();
  if (is_of_tasks(count.count)) {
    const workloads::RequestStream stream = sim::read_stream(document, problems);
    problems.throw_if_any();
    return stream.agents ? Value{mean_of_tasks(stream, count.count), {}}
                         : Value{kNone, "no agents"};
  }
  const workloads::Architecture model = sim::read_model(document, problems);
  const workloads::Precision precision = sim::read_precision(document, problems);
  problems.throw_if_any();
  switch (count.count) {
    case Count::total_parameters:
      return {workloads::parameters(model).total(), {}};
    case Count::active_parameters:
      return {workloads::active_parameters(model), {}};
    case Count::weights_b:
      return {models::weight_bytes(model, precision, {}).si(), {}};
    case Count::cache_b_per_token:
      return {models::cache_bytes(1.0, model, precision, {}, 1).si(), {}};
    case Count::state_b_per_sequence:
      return {models::state_bytes(model, precision, {}).si(), {}};
    case Count::prompt_tokens_per_task:
    case Count::answer_tokens_per_task:
    case Count::tools_s_per_task:
      break;
  }
  return {};
}

Value value_of(const Figure& figure) {
  Value value = std::visit(base::overloaded{[](double number) {
                                              return Value{number, {}};
                                            },
                                            [](const auto& of) { return value_of(of); }},
                           figure.of);
  value.value *= figure.times;
  value.low *= figure.times;
  value.high *= figure.times;
  return value;
}

}  // namespace

Computed compute(const Claim& claim) {
  Computed computed;
  const Value ours = value_of(claim.ours);
  const Value over = claim.over ? value_of(*claim.over) : Value{1.0, {}};
  computed.value = ours.value / over.value / claim.unit_si;
  if (std::isnan(computed.value)) {
    computed.how = std::isnan(ours.value) ? ours.how : over.how;
    computed.difference = computed.value;
    return computed;
  }
  const double published = std::clamp(computed.value, claim.least, claim.most);
  computed.difference = computed.value / published - 1.0;
  if (!claim.over) {
    computed.low = ours.low / claim.unit_si;
    computed.high = ours.high / claim.unit_si;
  }
  const auto part = [](const Value& value) {
    const std::string number =
        value.value < 1e4 ? fmt::format("{:.4g}", value.value) : fmt::format("{:.0f}", value.value);
    return fmt::format("{}{}{}", number, value.how.empty() ? "" : " at ", value.how);
  };
  if (claim.over) {
    computed.how = fmt::format("{} over {}", part(ours), part(over));
  } else if (!ours.how.empty()) {
    computed.how = fmt::format("at {}", ours.how);
  }
  return computed;
}

}  // namespace roofcast::calibrate
