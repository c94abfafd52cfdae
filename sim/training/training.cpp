// SPDX-License-Identifier: Apache-2.0
#include "sim/training/training.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/integers.hpp"
#include "models/operators/operator_cost.hpp"
#include "models/power.hpp"
#include "models/work.hpp"
#include "sim/result/feasibility.hpp"
#include "sim/training/exchange.hpp"
#include "sim/training/jitter.hpp"
#include "sim/training/newton_schulz.hpp"
#include "sim/training/pass.hpp"
#include "sim/training/pipeline.hpp"
#include "sim/training/slowest_stage.hpp"
#include "sim/training/step_cache.hpp"
#include "sim/training/training_run.hpp"
#include "workloads/architecture/parameters.hpp"
#include "workloads/graph/graph.hpp"
#include "workloads/graph/training_graph.hpp"

namespace roofcast::sim {
namespace {

using base::as_double;
using base::Seconds;

Seconds time_of(const workloads::Operator& op, const models::Machine& machine) {
  return models::cost_of(op, machine).time;
}

// Time of the update. `shared` is the number of parameters that one rank updates, `update` the memory traffic and FLOP
// of that, `clear` the writing of zeros to the gradients.
Seconds optimizer_time(const ScenarioView& s, const workloads::Mapping& mapping,
                       const models::RankParameters& rank) {
  const workloads::Training& t = *s.training;
  const double shared = updated_parameters(t, mapping, rank);
  const double tables = updated_parameters(t, mapping, {rank.tables, 0.0, rank.tables, {}, {}});
  // The fp32 parameter and moments, read and written.
  const double states = 4.0 * shared + t.moment_bytes * workloads::moments(t, shared, tables);
  const workloads::Elementwise update{states + shared * t.gradient_bytes,
                                      states + shared * workloads::kHiddenBytes, 10.0 * shared};
  const workloads::Elementwise clear{0.0, rank.total() * t.gradient_bytes, 0.0};
  return time_of(update, s.platform->machine) + time_of(clear, s.platform->machine);
}

models::TrainingFootprint footprint_of(const ScenarioView& s, const workloads::Mapping& mapping,
                                       const MicroBatches& batches) {
  return models::training_footprint(
      *s.model, mapping, workloads::training_precision(*s.precision, *s.training), *s.training,
      as_double(batches.sequences * batches.tokens), batches.count);
}

// Time in which the offloaded activations of a micro-batch leave, or come back.
Seconds offload_time(const ScenarioView& s, const workloads::Mapping& mapping,
                     const MicroBatches& batches) {
  const workloads::Offload& offload = s.training->offload;
  if (offload.layers == 0) {
    return {};
  }
  const base::BytesPerSecond port =
      s.platform->system.chip.host_link().value_or(base::BytesPerSecond::infinity());
  return models::offloaded_bytes(*s.model, mapping,
                                 workloads::training_precision(*s.precision, *s.training),
                                 *s.training, as_double(batches.sequences * batches.tokens)) /
         offload.bandwidth.value_or(port);
}

// FLOP of attention and recurrences, one micro-batch, all ranks.
double mixer_flop(const workloads::Graph& forward, const workloads::Mapping& mapping) {
  double flop = 0.0;
  for (const workloads::Call& call : forward) {
    if (std::holds_alternative<workloads::PrefillAttention>(call.op) ||
        std::holds_alternative<workloads::StateScan>(call.op) ||
        std::holds_alternative<workloads::IndexScores>(call.op)) {
      flop += call.count * models::work_of(call.op).flop.si();
    }
  }
  return flop * as_double(mapping.tensor_parallel * mapping.context_parallel);
}

// FLOP/s, the peak of the number format that most parameters of the model use.
double peak_of(const ScenarioView& s) {
  const workloads::LinearFormat& format =
      s.model->moe.experts > 0 ? s.precision->experts : s.precision->mlp;
  const base::MathType math = base::math_of(format.activations, format.weights);
  return s.platform->machine.peak[static_cast<std::size_t>(math)].si();
}

// Time and energy of a forward and a backward pass at the clock that the chip's power allows.
models::Drawn drawn(const Pass& forward, const Pass& backward, const models::Machine& machine) {
  models::Activity both = forward.activity;
  both.add(backward.activity);
  return models::drawn(both, machine.power);
}

// Both passes of a micro-batch, at the clock that power allows.
struct BothPasses {
  workloads::Graph forward_graph, backward_graph;
  Pass forward, backward;
  std::array<Seconds, 2> waits{};  // for the host, in each
  models::Drawn drawn;
  double slower = 1.0;   // factor of the power limit, and of the chip, on both
  double limited = 0.0;  // share of the time of both that is beyond the one at the full clock
  double exposed = 1.0;  // share of the exchanges with experts that another micro-batch leaves
};

// A pass without another micro-batch beside it.
Pass pass_alone(const Pass& pass, const BothPasses& both) {
  Pass result = pass;
  const double hidden = (1.0 - both.exposed) * both.slower;
  result.layers += hidden * pass.layer_exchanges;
  result.head += hidden * pass.head_exchanges;
  return result;
}

// Factor on the kernels of a chip that has another one's calibration, as the trainer's measured steps say.
double chip_factor(const ScenarioView& s) {
  const auto& kernels = s.training->trainer.kernels;
  const std::string& chip = s.platform->system.chip.catalog_id;
  const auto own =
      std::find_if(kernels.begin(), kernels.end(),
                   [&](const workloads::TrainerKernels& of) { return of.chip == chip; });
  return own == kernels.end() ? 1.0 : own->all;
}

void slow_down(Pass& pass, double slower, Seconds waits) {
  for (Seconds* part : {&pass.embedding, &pass.layers, &pass.head, &pass.weight_gradients}) {
    *part = slower * *part;
  }
  pass.layers += waits;
}

// The share of exchanges with experts that is not hidden, where each travels while another micro-batch computes. Their
// kernels take SMs from it.
//
//   taken   of the SMs          sent   s, exchanges of both passes          others   s, the rest of both
double exposed_share(const BothPasses& both, const models::Machine& machine) {
  const Seconds sent = both.forward.layer_exchanges + both.backward.layer_exchanges;
  if (sent.si() <= 0.0) {
    return 1.0;
  }
  const Seconds others = both.forward.layers + both.backward.layers - sent;
  const double taken = as_double(workloads::Collective{}.sms) / machine.sms;
  return std::clamp(1.0 - others / sent, taken, 1.0);
}

workloads::Graph backward_graph_of(const ScenarioView& s, const workloads::Mapping& mapping,
                                   const workloads::Graph& forward) {
  const workloads::Training& t = *s.training;
  const double layers =
      std::ceil(as_double(s.model->layer_count()) / as_double(mapping.pipeline_parallel));
  const double again =
      t.recompute.layers > 0 ? std::min(1.0, as_double(t.recompute.layers) / layers) : 1.0;
  return workloads::backward_graph(forward, t.recompute, again, t.gradient_bytes, t.lora.trains());
}

BothPasses both_passes(const ScenarioView& s, const workloads::Mapping& mapping,
                       const MicroBatches& batches, CostCache* costs = nullptr) {
  const models::Machine& machine = s.platform->machine;
  const workloads::Training& t = *s.training;
  BothPasses both;
  both.forward_graph = forward_graph(s, mapping, batches);
  both.backward_graph = backward_graph_of(s, mapping, both.forward_graph);
  both.forward = timed(both.forward_graph, machine, t, costs);
  both.backward = timed(both.backward_graph, machine, t, costs);
  both.drawn = drawn(both.forward, both.backward, machine);
  const Seconds full = both.forward.activity.running + both.backward.activity.running;
  both.slower = chip_factor(s) * (both.drawn.time / full);
  both.limited = both.drawn.pace < 1.0 ? 1.0 - full / both.drawn.time : 0.0;
  if (t.expert_overlap) {
    both.exposed = exposed_share(both, machine);
    for (Pass* pass : {&both.forward, &both.backward}) {
      pass->layers -= (1.0 - both.exposed) * pass->layer_exchanges;
      pass->head -= (1.0 - both.exposed) * pass->head_exchanges;
    }
  }
  const double hidden = 1.0 - both.exposed;
  both.waits = {
      both.forward.host.forward_waits(both.slower, hidden * both.forward.layer_exchanges, t),
      both.backward.host.backward_waits(both.slower, hidden * both.backward.layer_exchanges, t)};
  slow_down(both.forward, both.slower, both.waits[0]);
  slow_down(both.backward, both.slower, both.waits[1]);
  return both;
}

// `mean`: the same operators on the mean rank.
void tell_stragglers(PassLines& pass, const std::vector<OperatorLine>& mean) {
  for (std::size_t i = 0; i < pass.operators.size(); ++i) {
    OperatorLine& line = pass.operators[i];
    if (line.call.op != mean[i].call.op && line.time > Seconds{}) {
      line.straggler = std::max(0.0, 1.0 - mean[i].time / line.time);
    }
  }
}

}  // namespace

workloads::Graph forward_graph(const ScenarioView& s, const workloads::Mapping& mapping,
                               const MicroBatches& batches, bool mean_rank) {
  workloads::Batch batch;
  batch.mean_rank = mean_rank;
  const std::int64_t packed = std::min(s.training->packed, batches.tokens);
  const std::int64_t parts = packed > 0 ? base::ceil_div(batches.tokens, packed) : 1;
  batch.prefill_sequences = batches.sequences * parts;
  batch.prefill_tokens = base::ceil_div(batches.tokens, parts);
  batch.loss = true;
  batch.predicted_tokens = s.model->mtp.empty() ? 0 : s.training->predicted_tokens;
  workloads::Fusion fusion;
  fusion.sorts_copies = s.training->dispatcher == workloads::Dispatcher::all_to_all;
  fusion.sends_quantised = s.training->quantised_dispatch;
  fusion.gathers_quantised = true;
  fusion.keeps_scores = !s.training->fused_attention;
  fusion.unfused_rope = !s.training->fused_rope;
  fusion.unfused_experts = !s.training->fused_experts;
  fusion.unfused_loss = !s.training->fused_loss;
  fusion.dropout = s.training->dropout;
  workloads::Graph graph;
  workloads::build_graph(*s.model, workloads::training_precision(*s.precision, *s.training),
                         mapping, fusion, batch, graph);
  return s.training->lora.trains() ? workloads::with_adapters(s.training->lora, graph) : graph;
}

MicroBatches micro_batches(const ScenarioView& s) {
  const workloads::Training& t = *s.training;
  return {base::ceil_div(t.global_batch, s.mapping->data_parallel * t.micro_batch), t.micro_batch,
          t.sequence_length};
}

namespace {

// 90 % interval of a step, from the errors of the operators in its passes, which are the share `share` of it.
models::Spread operators_spread(const BothPasses& passes, double share,
                                const models::Uncertainty& uncertainty) {
  models::UncertainSum errors = passes.forward.errors;
  errors.add(passes.backward.errors, 1.0);
  const models::UncertainSum::HalfWidths widths = errors.half_widths(uncertainty);
  const Seconds all = passes.forward.activity.running + passes.backward.activity.running;
  return {std::min(0.99, share * (widths.below / all)), share * (widths.above / all)};
}
}  // namespace

// The formula of the header in code.
//
//   slower   factor of the power limit on both passes             chunks   v
//   both     s, f + b, and exchanges of sharded parameters        stages   p
//   sends    s, all transfers of a micro-batch                    count    m
//   replicas micro-batches of all data-parallel ranks             layers   of the fullest stage
//   exchange of one of the stages of a rank                       copies   stages of a rank
TrainingStep training_step(const ScenarioView& s, const MicroBatches& batches, CostCache* costs) {
  const models::Machine& machine = s.platform->machine;
  const workloads::Training& t = *s.training;
  const workloads::Mapping mapping = workloads::training_mapping(*s.model, *s.mapping);
  const BothPasses passes = both_passes(s, mapping, batches, costs);
  const models::Drawn& draw = passes.drawn;
  const double layers = stage_layers(s, mapping);
  TrainingStep step;
  step.clock = draw.clock;
  const Seconds offloaded = offload_time(s, mapping, batches);
  step.forward = base::max(slowest_stage(s, passes.forward), offloaded);
  step.backward = base::max(slowest_stage(s, passes.backward), offloaded);
  step.forward_alone = base::max(slowest_stage(s, pass_alone(passes.forward, passes)), offloaded);
  step.backward_alone = base::max(slowest_stage(s, pass_alone(passes.backward, passes)), offloaded);
  step.waits = (passes.waits[0] + passes.waits[1]) / as_double(mapping.pipeline_parallel);
  const models::RankParameters rank =
      models::rank_parameters(*s.model, mapping, workloads::training_precision(*s.precision, t), t);
  const auto copies = as_double(workloads::ranks_of_stage(t.schedule));
  const Exchange exchange = exchange_of_stage(s, mapping, rank);
  const auto chunks = as_double(t.virtual_stages);
  const std::int64_t stages = mapping.pipeline_parallel;
  const Beside beside = beside_passes(s);
  Seconds& within = step.within;
  if (t.sharding == workloads::Sharding::parameters) {
    within = exposed(exchange.gathered, step.forward, layers, beside) +
             exposed(exchange.gathered + exchange.reduced, step.backward, layers, beside);
  } else if (t.sharding == workloads::Sharding::gradients) {
    within = exposed(exchange.reduced, step.backward, layers, beside);
    step.gradients = copies * exposed(exchange.gathered, step.forward, layers, beside);
  } else {
    const double together = as_double(std::min(batches.count, mapping.pipeline_parallel));
    step.gradients = copies * (exposed_gradients(exchange.reduced, step.backward, layers, chunks,
                                                 together, beside) +
                               exposed(exchange.gathered, step.forward, layers, beside));
  }
  const Seconds both = step.forward + step.backward + within;
  const Seconds sends = 2.0 * chunks * send_time(s, batches);
  step.sends = t.virtual_stages > 1 && t.overlap ? base::max(Seconds{}, sends - both) : sends;
  const double slowdown = t.trainer.slowdown;
  const auto count = as_double(batches.count);
  const Seconds longer = step.forward_alone - step.forward + step.backward_alone - step.backward;
  step.alone = slowdown * passes_alone(t, stages, batches.count) * longer;
  step.passes = slowdown * count * (both + step.sends) + step.alone;
  const auto waits = [&](const Pass& pass) {
    return base::max(Seconds{}, slowest_stage(s, pass) - pass.all() / as_double(stages));
  };
  step.straggler = slowdown * count * (waits(passes.forward) + waits(passes.backward));
  const Pass& backward = passes.backward;
  step.weight_gradients = step.backward * (backward.weight_gradients / backward.all());
  step.bubble = slowdown * pipeline_bubble(t, stages, batches.count,
                                           {both + step.sends, both + step.sends + longer,
                                            step.backward_alone, step.weight_gradients});
  step.exchange = slowdown * count * within + step.gradients;
  step.optimizer = optimizer_time(s, mapping, rank) +
                   (t.muon ? newton_schulz_time(passes.backward_graph, s, mapping) : Seconds{});
  step.host = t.trainer.step_overhead;
  const double ranks = as_double(mapping.ranks());
  step.jitter =
      waits_for_slowest(t.jitter, ranks, ranks / as_double(s.platform->system.gpus_of_host())) *
      (step.passes + step.bubble);
  step.time = step.passes + step.bubble + step.jitter + step.gradients + step.optimizer + step.host;
  const double replicas = as_double(mapping.data_parallel) * count;
  step.tokens = replicas * as_double(batches.sequences * batches.tokens);
  const double products =
      t.lora.trains() ? 2.0 : 3.0;  // weights that are not trained have no gradients
  step.model_flop = products * 2.0 * workloads::active_parameters(*s.model) * step.tokens +
                    3.0 * replicas * mixer_flop(passes.forward_graph, mapping);
  step.model_flop_rate =
      base::Flops::from_si(step.model_flop / as_double(mapping.ranks())) / step.time;
  step.utilisation = step.model_flop_rate.si() / peak_of(s);
  step.energy_above_idle =
      count / as_double(stages) * (draw.energy - machine.power.rest() * draw.time);
  step.footprint = footprint_of(s, mapping, batches);
  step.operators_spread = operators_spread(
      passes, (step.passes + step.bubble + step.jitter) / step.time, machine.uncertainty);
  return step;
}

PassesOfMicroBatch training_passes(const ScenarioView& s, const MicroBatches& batches) {
  const workloads::Mapping mapping = workloads::training_mapping(*s.model, *s.mapping);
  const BothPasses both = both_passes(s, mapping, batches);
  const models::Machine& machine = s.platform->machine;
  PassesOfMicroBatch result{
      {{{"forward pass", operators_of(both.forward_graph, machine, *s.training), both.waits[0]},
        {"backward pass", operators_of(both.backward_graph, machine, *s.training), both.waits[1]}}},
      both.drawn.clock};
  const workloads::Graph forward = forward_graph(s, mapping, batches, true);
  tell_stragglers(result.passes[0], operators_of(forward, machine, *s.training));
  tell_stragglers(result.passes[1],
                  operators_of(backward_graph_of(s, mapping, forward), machine, *s.training));
  for (PassLines& pass : result.passes) {
    for (OperatorLine& line : pass.operators) {
      line.time *= both.slower * (line.call.exchange ? both.exposed : 1.0);
      line.power = both.limited;
    }
  }
  return result;
}

Seconds forward_passes(const ScenarioView& s, const MicroBatches& batches) {
  const workloads::Mapping mapping = workloads::training_mapping(*s.model, *s.mapping);
  Pass pass = timed(forward_graph(s, mapping, batches), s.platform->machine, *s.training, nullptr);
  const models::Drawn draw = models::drawn(pass.activity, s.platform->machine.power);
  const double slower = chip_factor(s) * (draw.time / pass.activity.running);
  slow_down(pass, slower, pass.host.forward_waits(slower, {}, *s.training));
  Seconds one = slowest_stage(s, pass);
  if (s.training->sharding == workloads::Sharding::parameters) {
    const models::RankParameters rank = models::rank_parameters(
        *s.model, mapping, workloads::training_precision(*s.precision, *s.training), *s.training);
    one += exposed(exchange_of_stage(s, mapping, rank).gathered, one, stage_layers(s, mapping),
                   beside_passes(s));
  }
  one += send_time(s, batches);
  const std::int64_t slots = batches.count + mapping.pipeline_parallel - 1;
  return s.training->trainer.slowdown * as_double(slots) * one;
}

void check_training(const ScenarioView& s, const MicroBatches& batches, ServingEstimate& e) {
  const workloads::Training& t = *s.training;
  const workloads::Mapping mapping = workloads::training_mapping(*s.model, *s.mapping);
  const workloads::Precision precision = workloads::training_precision(*s.precision, *s.training);
  workloads::Traffic traffic;
  traffic.input_tokens = t.sequence_length;
  ScenarioView view = s;
  view.mapping = &mapping;
  view.precision = &precision;
  view.traffic = &traffic;
  check_runnable(view, e);
  if (!e.fits()) {
    return;
  }
  const std::int64_t chunks = mapping.pipeline_parallel * t.virtual_stages;
  const std::int64_t layers = s.model->layer_count();
  const auto given = static_cast<std::int64_t>(t.layout.size());
  if (given == 0 ? chunks > layers : given != chunks || layers_of(t.layout) != layers) {
    e.infeasible = infeasible::PipelineLayout{chunks, layers, given, layers_of(t.layout)};
    return;
  }
  if (const workloads::LinearFormat* format = workloads::inference_format(*s.precision)) {
    e.infeasible =
        infeasible::TrainingFormat{format->weights, format->activations, format->storage.sparse};
    return;
  }
  if (!runs_in_groups(t, mapping.pipeline_parallel, batches.count)) {
    e.infeasible = infeasible::Interleaving{mapping.pipeline_parallel, batches.count};
    return;
  }
  if (t.schedule == workloads::Schedule::dualpipe &&
      (mapping.pipeline_parallel % 2 != 0 || batches.count % 2 != 0 ||
       batches.count < 2 * mapping.pipeline_parallel)) {
    e.infeasible = infeasible::DualPipe{mapping.pipeline_parallel, batches.count};
    return;
  }
  if (t.schedule == workloads::Schedule::zero_bubble_v &&
      batches.count < 2 * mapping.pipeline_parallel - 1) {
    e.infeasible = infeasible::ZeroBubbleV{mapping.pipeline_parallel, batches.count};
    return;
  }
  if (t.rank_order == workloads::RankOrder::pipeline_then_data && mapping.pipeline_parallel > 1 &&
      s.model->moe.experts > 0 && mapping.expert_replicas != mapping.data_parallel) {
    e.infeasible = infeasible::RankOrder{mapping.expert_replicas, mapping.data_parallel};
    return;
  }
  if (t.predicted_tokens > 0 && s.model->mtp.empty()) {
    e.infeasible = infeasible::NoPrediction{};
    return;
  }
  if (t.lora.trains() && workloads::adapter_parameters(t.lora, *s.model) == 0.0) {
    e.infeasible = infeasible::NoAdapters{};
    return;
  }
  if (t.offload.layers > 0 && !t.offload.bandwidth && !s.platform->system.chip.host_link()) {
    e.infeasible = infeasible::NoHostLink{};
    return;
  }
  if (t.fp8_attention && !s.platform->machine.supports(base::MathType::fp8)) {
    e.infeasible = infeasible::NumberFormat{base::MathType::fp8};
    return;
  }
  const base::Bytes needed = footprint_of(s, mapping, batches).total();
  const base::Bytes usable = s.platform->system.chip.usable_capacity();
  if (needed > usable) {
    e.infeasible = infeasible::TrainingMemory{needed, usable};
  }
}

namespace {

ServingEstimate estimated(const ScenarioView& s, Workspace& workspace) {
  ServingEstimate e;
  e.provenance = s.platform->system.provenance();
  e.gpus = s.mapping->ranks();
  const workloads::Training& t = *s.training;
  if (s.model->recommender) {
    e.infeasible = infeasible::TrainedTables{};
    return e;
  }
  const std::int64_t share = s.mapping->data_parallel * t.micro_batch;
  if (t.global_batch % share != 0) {
    e.infeasible = infeasible::GlobalBatch{t.global_batch, share};
    return e;
  }
  const MicroBatches batches = micro_batches(s);
  check_training(s, batches, e);
  if (!e.fits()) {
    return e;
  }
  const auto workflow = std::make_shared<Workflow>();
  workflow->training = training_step(s, batches, workspace.costs ? &*workspace.costs : nullptr);
  const TrainingStep& step = workflow->training;
  e.memory = step.footprint.total();
  e.footprint.weights = step.footprint.parameters;
  e.output_rate = step.tokens / step.time.si();
  e.max_running = std::numeric_limits<double>::quiet_NaN();
  e.steady = no_steady_state();
  e.spreads = training_spreads(step.operators_spread, t.trainer);
  e.steady.power = s.platform->machine.power.rest() + step.energy_above_idle / step.time;
  e.workflow = workflow;
  return e;
}

}  // namespace

ServingEstimate training_estimate(const ScenarioView& s, Workspace& workspace) {
  if (workspace.steps == nullptr) {
    return estimated(s, workspace);
  }
  if (const ServingEstimate* known = workspace.steps->find(s)) {
    return *known;
  }
  const ServingEstimate e = estimated(s, workspace);
  workspace.steps->keep(s, e);
  return e;
}

}  // namespace roofcast::sim
