// SPDX-License-Identifier: Apache-2.0
#include "cli/text/explain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/csv/csv.hpp"
#include "base/units/unit_text.hpp"
#include "cli/tables/metric_cells.hpp"
#include "cli/tables/text_table.hpp"
#include "cli/text/alignment_text.hpp"
#include "models/operators/explained_cost.hpp"
#include "models/operators/operator_cost.hpp"
#include "sim/iteration/draft_model.hpp"
#include "sim/iteration/front_models.hpp"
#include "sim/result/causes.hpp"
#include "sim/scenario/pools.hpp"
#include "sim/training/training.hpp"

namespace roofcast::cli {
namespace {

std::string words(const workloads::Batch& batch) {
  std::string text =
      fmt::format("{} sequences decoding at {} tokens", batch.decode_sequences, batch.context);
  if (batch.query_tokens > 1) {
    text += fmt::format(", {} tokens of each", batch.query_tokens);
  }
  if (batch.prefill_sequences > 0) {
    text += fmt::format(", {} prompt(s) of {} new tokens", batch.prefill_sequences,
                        batch.prefill_tokens);
  }
  return text;
}

// How the operators of an iteration are started, where the scenario says something of CUDA graphs.
std::string started(const sim::ScenarioView& scenario, const workloads::Batch& batch) {
  const workloads::ServingGraphs& graphs = scenario.serving->cuda_graphs;
  const bool eager = batch.prefill_sequences > 0 ? graphs.decode == workloads::DecodeGraphs::none
                                                 : !graphs.cover(batch.decode_sequences);
  if (eager) {
    return ", eager: the host launches every operator";
  }
  if (graphs.usual() || batch.prefill_sequences > 0) {
    return {};
  }
  std::string text =
      graphs.decode == workloads::DecodeGraphs::piecewise ? ", the host launches attention" : "";
  const std::int64_t run = sim::sequences_run(scenario, batch);
  if (run > batch.decode_sequences) {
    workloads::Serving exact = *scenario.serving;
    exact.cuda_graphs.sizes.clear();
    sim::ScenarioView without = scenario;
    without.serving = &exact;
    sim::Workspace workspace;
    const base::Seconds time = sim::iteration_cost(scenario, batch, workspace).latency;
    const base::Seconds least = sim::iteration_cost(without, batch, workspace).latency;
    text += fmt::format(", padded to a CUDA graph of {}", run);
    // More rows may suit the tiles of kernels better.
    text += time > least ? fmt::format(": {:.1f} % of the time", 100.0 * (1.0 - least / time))
                         : ", which takes no time";
  }
  return text;
}

// Of all runs, at the datasheet's rates: no kernel of this chip does the same work in less.
double at_the_speed_of_light(const sim::ScenarioView& scenario, const OperatorRow& row,
                             base::MathType math) {
  const hardware::System& system = scenario.platform->system;
  const auto seconds = [](double work, double rate) { return rate > 0.0 ? work / rate : 0.0; };
  const base::FlopsPerSecond peak = scenario.platform->machine.peak[static_cast<std::size_t>(math)];
  return std::max({row.format.empty() ? 0.0 : seconds(row.flop, peak.si()),
                   seconds(row.bytes, system.chip.bandwidth.si()),
                   seconds(row.message_bytes, system.scale_up.bandwidth.si())});
}

double share_of(const std::vector<models::Share>& shares, models::Cause cause) {
  const auto found = std::find_if(shares.begin(), shares.end(),
                                  [&](const models::Share& s) { return s.cause == cause; });
  return found != shares.end() ? found->share : 0.0;
}

// The causes of all operators, each as long as its operator.
void sum_shares(PhaseRows& rows) {
  sim::CauseSum sum;
  for (const OperatorRow& row : rows.operators) {
    sum.add(row.shares, base::Seconds::from_si(row.time_s));
  }
  rows.shares = sum.shares();
}

PhaseRows phase_of(const sim::ScenarioView& scenario, const std::vector<sim::OperatorLine>& lines,
                   std::string name, std::string batch) {
  const models::Machine& machine = scenario.platform->machine;
  PhaseRows rows;
  rows.name = std::move(name);
  rows.batch = std::move(batch);
  for (const sim::OperatorLine& line : lines) {
    OperatorRow row;
    row.name = line.call.name;
    row.category = workloads::category(line.call.op);
    const bool multiplies = row.category == "gemm" || row.category == "attention" ||
                            std::holds_alternative<workloads::GroupedGemm>(line.call.op);
    row.format = multiplies ? base::name(models::math_of(line.call.op, machine)) : "";
    row.count = line.call.count;
    row.overlapped = line.call.overlapped;
    row.time_s = line.time.si();
    const models::Spread& spread = machine.uncertainty.kinds[static_cast<std::size_t>(
        models::error_kind(line.call.op, machine.scale_up_domain))];
    row.low_s = row.time_s * (1.0 - spread.below);
    row.high_s = row.time_s * (1.0 + spread.above);
    row.flop = line.call.count * line.cost.flop.si();
    row.bytes = line.call.count * line.cost.dram_bytes.si();
    row.message_bytes = line.call.count * line.cost.message_bytes.si();
    row.bound = models::name(line.cost.bound);
    row.shares = sim::causes_of(line, machine);
    row.limited_by = models::verdict_of(
        row.shares, (1.0 - line.power) * models::share_of_peak(line.call.op, line.cost, machine));
    row.algorithm = models::name(line.cost.algorithm);
    row.runner_up = models::name(line.cost.runner_up);
    row.runner_up_time_s = line.call.count * line.cost.runner_up_time.si();
    row.start_s = line.call.count * line.cost.launch.si();
    row.hops_s = line.call.count * line.cost.fill.si();
    row.transfer_s = line.call.count * line.cost.network.si();
    row.light_s = at_the_speed_of_light(scenario, row, models::math_of(line.call.op, machine));
    rows.time_s += row.time_s;
    rows.operators.push_back(std::move(row));
  }
  sum_shares(rows);
  return rows;
}

PhaseRows phase(const sim::ScenarioView& scenario, const workloads::Batch& batch,
                std::string name) {
  PhaseRows rows = phase_of(scenario, sim::iteration_operators(scenario, batch), std::move(name),
                            words(batch) + started(scenario, batch));
  workloads::Fusion fusion = scenario.serving->stack.fusion;
  fusion.overlaps_shared_experts = scenario.serving->overlap == workloads::Overlap::shared_experts;
  rows.layers = workloads::layer_calls(*scenario.model, *scenario.precision, *scenario.mapping,
                                       fusion, batch);
  return rows;
}

void add_host(PhaseRows& rows, base::Seconds waits) {
  OperatorRow host;
  host.name = "host";
  host.category = "host";
  host.count = 1;
  host.time_s = host.low_s = host.high_s = waits.si();
  host.bound = "host";
  host.limited_by = models::Cause::host;
  host.shares = {{models::Cause::host, 1.0}};
  rows.time_s += host.time_s;
  rows.operators.push_back(std::move(host));
  sum_shares(rows);
}

// The passes of a micro-batch of a scenario that trains.
std::vector<PhaseRows> training_phases(const sim::ScenarioView& scenario) {
  const sim::MicroBatches batches = sim::micro_batches(scenario);
  const sim::PassesOfMicroBatch of = sim::training_passes(scenario, batches);
  std::vector<PhaseRows> phases;
  for (const sim::PassLines& pass : of.passes) {
    phases.push_back(
        phase_of(scenario, pass.operators, fmt::format("{} of a micro-batch", pass.name),
                 fmt::format("{} sequence(s) of {} tokens, all {} stages", batches.sequences,
                             batches.tokens, scenario.mapping->pipeline_parallel)));
    phases.back().clock = of.clock;
    if (pass.waits > base::Seconds{}) {
      add_host(phases.back(), pass.waits);
    }
  }
  return phases;
}

// An iteration and the passes of the draft that follow it.
void add_iteration(std::vector<PhaseRows>& phases, const sim::ScenarioView& scenario,
                   const workloads::Batch& batch, const std::string& name, double clock) {
  phases.push_back(phase(scenario, batch, name));
  phases.back().clock = clock;
  sim::Workspace workspace;
  const sim::IterationCost iteration = sim::iteration_cost(scenario, batch, workspace);
  add_host(phases.back(), iteration.by_limit[static_cast<std::size_t>(sim::Limit::host)]);
  if (scenario.draft == nullptr) {
    return;
  }
  const auto [first, next] = sim::draft_passes(scenario, batch);
  phases.push_back(phase(scenario.draft->view, first.batch, name + ", first pass of the draft"));
  if (next.count > 0) {
    phases.push_back(
        phase(scenario.draft->view, next.batch, name + ", each further pass of the draft"));
    phases.back().runs = next.count;
  }
}

// The pass of a model that reads before prompts.
void add_pass(std::vector<PhaseRows>& phases, const sim::ScenarioView& scenario,
              const std::optional<workloads::FrontModel>& model, const std::string& name) {
  if (model) {
    const sim::FrontPass pass(scenario, *model);
    sim::Workspace workspace;
    add_iteration(phases, pass.view, pass.batch, name,
                  sim::iteration_cost(pass.view, pass.batch, workspace).clock);
  }
}

std::string scaled(double value, std::string_view unit) {
  if (value <= 0.0) {
    return "-";
  }
  if (unit == "FLOP") {
    return base::format_quantity(base::Flops::from_si(value));
  }
  if (unit == "B") {
    return base::format_quantity(base::Bytes::from_si(value));
  }
  return base::format_quantity(base::Seconds::from_si(value));
}

// "-12/+20%"
std::string interval(const OperatorRow& row) {
  return row.high_s > row.low_s
             ? fmt::format("-{:.0f}/+{:.0f}%", 100.0 * (1.0 - row.low_s / row.time_s),
                           100.0 * (row.high_s / row.time_s - 1.0))
             : "-";
}

// Why a collective runs as it does: the terms of one run, and what the next best would have taken. Of
// one that runs beside another operator time_s is only what that one does not hide.
std::string choice(const OperatorRow& row) {
  const auto once = [&](double seconds) { return scaled(seconds / row.count, "s"); };
  std::string text =
      fmt::format("{}: {} takes {}{} (start {}, hops {}, bytes {})", row.name, row.algorithm,
                  row.time_s > 0.0 ? once(row.time_s) : "no time",
                  row.overlapped ? " beyond the operator before it, beside which it runs" : "",
                  once(row.start_s), once(row.hops_s), once(row.transfer_s));
  if (!row.runner_up.empty()) {
    text += fmt::format("; next best, {}, {}", row.runner_up, once(row.runner_up_time_s));
  }
  return text + "\n";
}

}  // namespace

std::vector<PhaseRows> explain(const sim::ScenarioView& scenario,
                               const sim::ServingEstimate& estimate) {
  if (estimate.workflow != nullptr) {
    // There is no steady state; a step of RL has batches of its own.
    return scenario.post_training == nullptr ? training_phases(scenario) : std::vector<PhaseRows>();
  }
  const auto pools =
      scenario.pools != nullptr ? std::make_unique<sim::PoolScenarios>(scenario) : nullptr;
  const auto draft = sim::draft_model_of(pools ? pools->decode() : scenario);
  sim::ScenarioView decode = pools ? pools->decode() : scenario;
  sim::ScenarioView prefill = pools ? pools->prefill() : scenario;
  decode.draft = draft.get();
  prefill.draft = pools ? nullptr : draft.get();
  const sim::SteadyState& steady = estimate.steady;
  std::vector<PhaseRows> phases;
  if (steady.decode_iteration.decode_sequences > 0) {
    add_iteration(phases, decode, steady.decode_iteration, "decode iteration", steady.decode_clock);
  }
  add_iteration(phases, prefill, steady.prefill_iteration, "iteration with prompts",
                steady.prefill_clock);
  if (scenario.traffic->agents != nullptr) {
    const workloads::Agents& agents = scenario.traffic->agents->agents;
    add_pass(phases, scenario, agents.embedder, "pass of the embedder");
    add_pass(phases, scenario, agents.reranker, "pass of the reranker");
  }
  return phases;
}

std::string explain_text(const sim::ScenarioView& scenario, const sim::ServingEstimate& estimate) {
  std::string out;
  for (const PhaseRows& rows : explain(scenario, estimate)) {
    out += fmt::format(
        "\n{}: {}{}{}, {}\n", rows.name, rows.runs > 1 ? fmt::format("{} times ", rows.runs) : "",
        scaled(rows.time_s, "s"),
        rows.clock < 1.0 ? fmt::format(" at {:.0f}% of the clock", 100.0 * rows.clock) : "",
        rows.batch);
    TextTable table({"operator", "runs", "time", "90 %", "share", "FLOP", "bytes", "sent", "FLOP/B",
                     "format", "limited by", "by"});
    for (const OperatorRow& row : rows.operators) {
      table.add({row.name, fmt::format("{}", row.count), scaled(row.time_s, "s"), interval(row),
                 fmt::format("{:.1f}%", 100.0 * row.time_s / rows.time_s), scaled(row.flop, "FLOP"),
                 scaled(row.bytes, "B"), scaled(row.message_bytes, "B"),
                 row.bytes > 0.0 ? fmt::format("{:.3g}", row.intensity()) : "-", row.format,
                 row.time_s > 0.0 ? fmt::format("{} {:.0f}%", models::name(row.limited_by),
                                                100.0 * share_of(row.shares, row.limited_by))
                                  : "",
                 row.algorithm});
    }
    out += table.text();
    out += fmt::format("what the time is for: {}\n", shares_text(rows.shares));
    for (const OperatorRow& row : rows.operators) {
      out += row.algorithm.empty() ? "" : choice(row);
    }
  }
  return out +
         "(FLOP, bytes and time are of one GPU, over all runs of the operator in the step)\n" +
         alignment_text(scenario, estimate);
}

nlohmann::ordered_json explain_json(const sim::ScenarioView& scenario,
                                    const sim::ServingEstimate& estimate) {
  nlohmann::ordered_json phases = nlohmann::ordered_json::array();
  for (const PhaseRows& rows : explain(scenario, estimate)) {
    nlohmann::ordered_json operators = nlohmann::ordered_json::array();
    for (const OperatorRow& row : rows.operators) {
      operators.push_back({{"name", row.name},
                           {"category", row.category},
                           {"format", row.format},
                           {"count", row.count},
                           {"time_s", row.time_s},
                           {"low90_time_s", row.low_s},
                           {"high90_time_s", row.high_s},
                           {"flop", row.flop},
                           {"bytes", row.bytes},
                           {"message_bytes", row.message_bytes},
                           {"intensity", row.intensity()},
                           {"achieved_flop_per_s", row.time_s > 0.0 ? row.flop / row.time_s : 0.0},
                           {"bound", row.bound},
                           {"limited_by", models::name(row.limited_by)},
                           {"limited_share", share_of(row.shares, row.limited_by)},
                           {"algorithm", row.algorithm},
                           {"runner_up", row.runner_up},
                           {"runner_up_time_s", row.runner_up_time_s}});
    }
    nlohmann::ordered_json shares;
    for (const models::Share& share : rows.shares) {
      shares[std::string(models::name(share.cause))] = share.share;
    }
    phases.push_back({{"name", rows.name},
                      {"time_s", rows.time_s},
                      {"shares", std::move(shares)},
                      {"runs", rows.runs},
                      {"operators", std::move(operators)}});
  }
  return phases;
}

void print_operators_csv(const sim::ScenarioView& scenario, const sim::ServingEstimate& estimate) {
  base::CsvWriter csv(
      std::cout, {"iteration", "operator", "category", "format", "count", "time_s", "low90_time_s",
                  "high90_time_s", "flop", "bytes_b", "message_b", "intensity_flop_per_b", "bound",
                  "limited_by", "limited_share", "algorithm", "runner_up", "runner_up_time_s"});
  for (const PhaseRows& rows : explain(scenario, estimate)) {
    for (const OperatorRow& row : rows.operators) {
      csv.append(rows.name);
      csv.append(row.name);
      csv.append(row.category);
      csv.append(row.format);
      csv.append(row.count);
      csv.append(row.time_s);
      csv.append(row.low_s);
      csv.append(row.high_s);
      csv.append(row.flop);
      csv.append(row.bytes);
      csv.append(row.message_bytes);
      csv.append(row.intensity());
      csv.append(row.bound);
      csv.append(models::name(row.limited_by));
      csv.append(share_of(row.shares, row.limited_by));
      csv.append(row.algorithm);
      csv.append(row.runner_up);
      csv.append(row.runner_up_time_s);
      csv.end_row();
    }
  }
  csv.close();
}

}  // namespace roofcast::cli
