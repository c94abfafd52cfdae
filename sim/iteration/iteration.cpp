// SPDX-License-Identifier: Apache-2.0
#include "sim/iteration/iteration.hpp"

#include <algorithm>
#include <cmath>

#include "models/operators/operator_cost.hpp"
#include "models/power.hpp"
#include "sim/iteration/batch_overlap.hpp"
#include "sim/iteration/iteration_steps.hpp"
#include "workloads/graph/vision_graph.hpp"

namespace roofcast::sim {
namespace {

using base::Seconds;
using workloads::DecodeGraphs;

// Rows that only fill up a CUDA graph have no context.
void without_attention_to_padding(workloads::Graph& graph, std::int64_t sequences) {
  for (workloads::Call& call : graph) {
    if (auto* attention = std::get_if<workloads::DecodeAttention>(&call.op)) {
      attention->sequences = sequences;
    } else if (auto* index = std::get_if<workloads::IndexScores>(&call.op)) {
      index->sequences = sequences;
    }
  }
}

void build(const ScenarioView& s, const workloads::Batch& batch, workloads::Graph& graph) {
  workloads::Fusion fusion = s.serving->stack.fusion;
  fusion.overlaps_shared_experts = s.serving->overlap == workloads::Overlap::shared_experts;
  const auto half = half_of(s, batch);
  const workloads::Batch& computed = half ? half->batch : batch;
  workloads::Batch padded = computed;
  padded.decode_sequences = sequences_run(s, computed);
  workloads::build_graph(*s.model, *s.precision, *s.mapping, fusion, padded, graph);
  if (padded.decode_sequences > computed.decode_sequences) {
    without_attention_to_padding(graph, computed.decode_sequences);
  }
  const double runs = (half ? half->runs : 1.0) * static_cast<double>(s.model->denoising_steps);
  for (workloads::Call& call : graph) {
    call.count *= runs;
  }
  if (!s.model->vision.empty() && s.traffic->images > 0 && batch.prefill_sequences > 0) {
    const workloads::Traffic& t = *s.traffic;
    const double images = static_cast<double>(batch.prefill_sequences * t.images) *
                          static_cast<double>(batch.prefill_tokens) /
                          static_cast<double>(t.input_tokens - t.cached_tokens);
    workloads::append_vision(s.model->vision.front(), s.model->hidden, *s.precision, *s.mapping,
                             fusion, std::max<std::int64_t>(1, std::llround(images)),
                             std::min(1.0, images), graph);
  }
}

// The transfers of one micro-batch from stage to stage: those inside a scale-up domain, and those between domains.
// A hop counts as one between domains if it is that for any rank, because the ranks of a stage wait for each other.
//
//   domain  chips of a scale-up domain          stage   ranks of a pipeline stage
//   rows    tokens whose hidden state is sent: all decodes, and a context-parallel rank's part of the prompts
//   bytes   B, what one rank sends              hops    transfers of a micro-batch
//   beyond  those of them between domains       passes  denoising steps of a diffusion model, otherwise 1
std::array<workloads::Call, 2> hand_overs(const ScenarioView& s, const workloads::Batch& batch) {
  const std::int64_t domain = s.platform->machine.scale_up_domain;
  const std::int64_t stage = s.mapping->stage_ranks();
  const std::int64_t decodes = batch.decode_sequences * batch.query_tokens;
  const double rows =
      static_cast<double>(decodes) + static_cast<double>(batch.tokens() - decodes) /
                                         static_cast<double>(s.mapping->context_parallel);
  const double bytes = rows * static_cast<double>(s.model->hidden) * workloads::kHiddenBytes /
                       static_cast<double>(s.mapping->tensor_parallel);
  const std::int64_t hops = s.mapping->pipeline_parallel - 1;
  std::int64_t beyond = 0;
  for (std::int64_t hop = 0; hop < hops; ++hop) {
    beyond += hop * stage / domain != ((hop + 2) * stage - 1) / domain ? 1 : 0;
  }
  const auto send = [&](std::int64_t stride) {
    return workloads::Collective{workloads::CollectiveKind::send_receive, bytes, 2, stride};
  };
  const std::int64_t passes = s.model->denoising_steps;
  return {{{send(1), "pipeline.send", static_cast<double>(passes * (hops - beyond))},
           {send(domain), "pipeline.send_out", static_cast<double>(passes * beyond)}}};
}

// The cost of a call inside an iteration. The stack hides a share of its launch behind the call before it. The start-up
// time of a library's collective is not a launch and is not hidden.
models::Cost in_iteration(models::Cost cost, const workloads::Call& call, const ScenarioView& s) {
  const bool communicates = std::holds_alternative<workloads::Collective>(call.op);
  const Seconds one = s.platform->machine.calibration.launch;
  const Seconds launch = communicates && one < cost.launch ? one : cost.launch;
  const Seconds hidden = s.serving->stack.hidden_launch * launch;
  cost.launch -= hidden;
  cost.time -= hidden;
  if (cost.runner_up != models::Algorithm::none) {
    cost.runner_up_time -= hidden;
  }
  return cost;
}

// The time that each call adds to an iteration, in order.
class Sequence {
 public:
  explicit Sequence(Exposed exposed = {}) : exposed_(exposed) {}

  // `call` is an OperatorTerm or a workloads::Call; all its runs take `all`.
  template <class Call>
  Seconds add(const Call& call, Seconds all) {
    if (!call.overlapped) {
      hideable_ = all;
      return call.in_layers ? (call.exchange ? exposed_.exchange : exposed_.compute) * all : all;
    }
    const Seconds added = base::max(Seconds{}, all - hideable_);
    hideable_ = base::max(Seconds{}, hideable_ - all);
    return added;
  }

 private:
  Exposed exposed_;
  // What is left of the last call that was not overlapped. Overlapped calls hide behind it.
  Seconds hideable_;
};

// The exposed shares of compute and exchange when two halves of a batch are overlapped (batch_overlap.hpp). Both are 1
// if the batch is not cut.
//
//   compute, exchange  s, times of the layers in the iteration: C and X
//   on_sms             s, the part of `exchange` in kernels that occupy SMs
//   free_sms           share of the SMs that these kernels leave free
//   mean_free          φ, the mean of free_sms over the time of the exchange
template <class CostOf>
Exposed exposed_of(const ScenarioView& s, const workloads::Batch& batch,
                   const workloads::Graph& graph, CostOf cost_of) {
  if (!half_of(s, batch)) {
    return {};
  }
  Sequence sequence;
  Seconds compute{};
  Seconds exchange{};
  Seconds on_sms{};
  double free_sms = 1.0;
  for (const workloads::Call& call : graph) {
    if (!call.in_layers) {
      continue;
    }
    const models::Cost cost = cost_of(call);
    const Seconds time = sequence.add(call, call.count * cost.time);
    (call.exchange ? exchange : compute) += time;
    if (call.exchange && cost.algorithm == models::Algorithm::deduplicated) {
      const auto& op = std::get<workloads::Collective>(call.op);
      on_sms += time;
      free_sms = 1.0 - std::min(1.0, static_cast<double>(op.sms) / s.platform->machine.sms);
    }
  }
  const double mean_free =
      exchange > Seconds{} ? 1.0 - (1.0 - free_sms) * (on_sms / exchange) : 1.0;
  return exposed(compute, exchange, mean_free,
                 static_cast<double>(s.model->layers_with(workloads::Ffn::moe)));
}

// The power and energy of one rank of each stage over an iteration.
models::Drawn drawn(models::Activity activity, Seconds host, const models::PowerRates& rates) {
  activity.gaps = host;
  return models::drawn(activity, rates);
}

// Whether CUDA graphs cover an iteration. Those of prompts leave out attention to prompts.
bool covered(const ScenarioView& s, const workloads::Batch& batch) {
  return batch.prefill_sequences > 0 ? batch.tokens() <= s.serving->stack.graph_tokens
                                     : s.serving->cuda_graphs.cover(batch.decode_sequences);
}

// Of the operators of an iteration that no CUDA graph covers. Attention to prompts is launched by the host even where
// graphs cover the rest, and that of decodes where they run in pieces. The host launches what decodes need ahead of the
// GPU, which waits only where its kernels take less than the launches.
Launches eager_launches(const ScenarioView& s, const workloads::Batch& batch,
                        const workloads::Graph& graph) {
  const workloads::ServingGraphs& graphs = s.serving->cuda_graphs;
  const bool prompts = batch.prefill_sequences > 0;
  const workloads::Stack& stack = s.serving->stack;
  const bool latent = s.model->attention.kv_rank > 0;
  const double waited = prompts ? (latent ? 1.0 : stack.waited_launches) : 0.0;
  if (prompts ? s.launches_ahead && waited <= 0.0 : graphs.usual()) {
    return {};
  }
  const bool by_graph = covered(s, batch);
  double operators = 0.0;
  for (const workloads::Call& call : graph) {
    const bool attends = prompts ? std::holds_alternative<workloads::PrefillAttention>(call.op)
                                 : std::holds_alternative<workloads::DecodeAttention>(call.op) &&
                                       !(by_graph && graphs.decode == DecodeGraphs::full);
    if (attends || !by_graph) {
      operators += call.count;
    }
    if (attends && latent && prompts) {
      operators += call.count * stack.latent_operators;
    } else if (!by_graph && std::holds_alternative<workloads::ExpertRouting>(call.op)) {
      operators += call.count * stack.expert_operators;
    }
  }
  const Seconds launched = operators * stack.eager_operator;
  return {prompts && s.launches_ahead ? Seconds{} : (1.0 - waited) * launched, waited * launched};
}

// Share of the layers on the stage that has the most.
double longest_stage(const ScenarioView& s) {
  const auto layers = static_cast<double>(s.model->layer_count());
  return std::ceil(layers / static_cast<double>(s.mapping->pipeline_parallel)) / layers;
}

Limit limit_of(models::Bound bound) { return static_cast<Limit>(bound); }
static_assert(static_cast<int>(Limit::network) == static_cast<int>(models::Bound::network));

}  // namespace

std::int64_t sequences_run(const ScenarioView& s, const workloads::Batch& batch) {
  return batch.prefill_sequences > 0 ? batch.decode_sequences
                                     : s.serving->cuda_graphs.padded(batch.decode_sequences);
}

std::string_view name(Limit limit) {
  constexpr std::string_view kNames[kLimits] = {"latency",  "compute", "memory",  "l2",
                                                "network",  "host",    "waiting", "slots",
                                                "arrivals", "stages"};
  return kNames[static_cast<std::size_t>(limit)];
}

Limit IterationCost::limit() const {
  return static_cast<Limit>(std::max_element(by_limit.begin(), by_limit.end()) - by_limit.begin());
}

models::Spread IterationCost::spread(const models::Uncertainty& uncertainty) const {
  const models::UncertainSum::HalfWidths half = operators.half_widths(uncertainty);
  return {half.below / latency, half.above / latency};
}

Seconds host_wait(const workloads::Serving& serving, const workloads::Batch& batch,
                  Seconds running) {
  const workloads::Stack& stack = serving.stack;
  const auto sequences = static_cast<double>(batch.decode_sequences + batch.prefill_sequences);
  const Seconds host = stack.iteration_overhead + sequences * stack.sequence_overhead;
  return stack.asynchronous ? base::max(Seconds{}, host - running) : host;
}

IterationTime launches_alone(const ScenarioView& s, const workloads::Batch& batch,
                             Workspace& workspace) {
  build(s, batch, workspace.graph);
  const Launches launches = eager_launches(s, batch, workspace.graph);
  const Seconds launched = launches.hidden + launches.waited;
  const Seconds of_a_stage = longest_stage(s) * launched;
  return {launched + host_wait(*s.serving, batch, launched),
          of_a_stage + host_wait(*s.serving, batch, of_a_stage)};
}

namespace {

models::Cost cost_in_iteration(const workloads::Call& call, const ScenarioView& s,
                               Workspace& workspace) {
  const models::Machine& machine = s.platform->machine;
  return in_iteration(
      workspace.costs ? workspace.costs->of(call.op, machine) : models::cost_of(call.op, machine),
      call, s);
}

OperatorTerm term_of(const workloads::Call& call, const models::Cost& cost, const ScenarioView& s) {
  const models::Machine& machine = s.platform->machine;
  return {.time = call.count * cost.time,
          .draw = models::draw_of(cost, models::math_of(call.op, machine), call.count, machine),
          .count = call.count,
          .kind = models::error_kind(call.op, machine.scale_up_domain),
          .bound = cost.bound,
          .in_layers = call.in_layers,
          .overlapped = call.overlapped,
          .exchange = call.exchange};
}

}  // namespace

void fill(IterationTerms& terms, const ScenarioView& s, const workloads::Batch& batch,
          Workspace& workspace) {
  build(s, batch, workspace.graph);
  const auto cost_of = [&](const workloads::Call& call) {
    return cost_in_iteration(call, s, workspace);
  };
  terms.operators.clear();
  terms.of_context.clear();
  terms.keeps_context = half_of(s, batch).has_value();
  terms.exposed = exposed_of(s, batch, workspace.graph, cost_of);
  terms.launches = eager_launches(s, batch, workspace.graph);
  for (const workloads::Call& call : workspace.graph) {
    if (std::holds_alternative<workloads::DecodeAttention>(call.op)) {
      terms.of_context.push_back({terms.operators.size(), call});
    }
    terms.keeps_context =
        terms.keeps_context || std::holds_alternative<workloads::IndexScores>(call.op);
    terms.operators.push_back(term_of(call, cost_of(call), s));
  }
  for (const workloads::Call& call : hand_overs(s, batch)) {
    if (call.count > 0.0) {
      terms.operators.push_back(term_of(call, cost_of(call), s));
      terms.operators.back().hand_over = true;
    }
  }
}

void set_context(IterationTerms& terms, const ScenarioView& s, const workloads::Batch& batch,
                 Workspace& workspace) {
  const std::int64_t context = workloads::decode_context(*s.mapping, batch);
  for (IterationTerms::OfContext& of : terms.of_context) {
    auto& attention = std::get<workloads::DecodeAttention>(of.call.op);
    if (attention.context != context) {
      attention.context = context;
      terms.operators[of.at] = term_of(of.call, cost_in_iteration(of.call, s, workspace), s);
    }
  }
}

// The model's own operators and the host time. The host is overlapped with the draft model too, which runs for
// `drafting`.
//
//   symbol     meaning (all s)
//   layers     operators in layers                          ends      embedding and head, on the first and last stage
//   sending    transfers between stages                     kernels   layers + ends + sending
//   late       the GPU waits for the host's launches
//   host       host time that nothing hides
//   slowest    the slowest stage: its share of the layers, both ends, and one transfer
//   slowed     kernels at the clock that power allows       still_late   late at that clock
//
//   latency = kernels + late + host             period = slowest + host time that nothing hides there
IterationCost added_up(const IterationTerms& terms, const ScenarioView& s,
                       const workloads::Batch& batch, Seconds drafting) {
  const models::Machine& machine = s.platform->machine;
  IterationCost iteration;
  Seconds layers{};
  Seconds ends{};  // embedding and head, on the first and last stage
  Seconds sending{};
  Seconds slowest_send{};
  Sequence sequence(terms.exposed);
  models::Activity activity;
  for (const OperatorTerm& term : terms.operators) {
    const Seconds time = sequence.add(term, term.time);
    activity.add(term.draw, time);
    iteration.by_limit[static_cast<std::size_t>(limit_of(term.bound))] += time;
    iteration.operators.add(term.kind, time);
    if (term.hand_over) {
      sending += time;
      slowest_send = base::max(slowest_send, time / term.count);
    } else {
      (term.in_layers ? layers : ends) += time;
    }
  }
  const std::int64_t stages = s.mapping->pipeline_parallel;
  const Seconds kernels = layers + ends + sending;
  const Seconds late = terms.launches.beside(kernels);
  iteration.by_limit[static_cast<std::size_t>(Limit::host)] += late;
  const Seconds host = host_wait(*s.serving, batch, kernels + late + drafting);
  iteration.by_limit[static_cast<std::size_t>(Limit::host)] += host;
  iteration.latency = kernels + late + host;
  iteration.latency_host = host;
  const Seconds of_slowest = stages > 1 ? longest_stage(s) * layers + ends + slowest_send : kernels;
  const Seconds slowest = of_slowest + Launches{longest_stage(s) * terms.launches.hidden,
                                                longest_stage(s) * terms.launches.waited}
                                           .beside(of_slowest);
  const Seconds period_host = host_wait(*s.serving, batch, slowest + drafting);
  iteration.period = slowest + period_host;
  iteration.period_host = period_host;
  const models::Drawn draw = drawn(activity, late + host, machine.power);
  iteration.clock = draw.clock;
  iteration.energy_above_idle = draw.energy - machine.power.rest() * draw.time;
  if (draw.pace < 1.0) {
    // Slower kernels may hide more of the launches.
    const Seconds slowed = draw.time - late - host;
    const Seconds still_late = terms.launches.beside(slowed);
    const double slower = (slowed + still_late) / (kernels + late);
    iteration.by_limit[static_cast<std::size_t>(Limit::compute)] += slowed - kernels;
    iteration.by_limit[static_cast<std::size_t>(Limit::host)] += still_late - late;
    iteration.latency = slowed + still_late + host;
    iteration.period = period_host + slower * slowest;
  }
  return iteration;
}

std::vector<OperatorLine> iteration_operators(const ScenarioView& s,
                                              const workloads::Batch& batch) {
  Workspace workspace;
  return iteration_operators(s, batch, workspace);
}

std::vector<OperatorLine> iteration_operators(const ScenarioView& s, const workloads::Batch& batch,
                                              Workspace& workspace) {
  workloads::Graph& graph = workspace.graph;
  build(s, batch, graph);
  for (const workloads::Call& call : hand_overs(s, batch)) {
    if (call.count > 0.0) {
      graph.push_back(call);
    }
  }
  workloads::Graph mean;
  workloads::Batch of_mean_rank = batch;
  of_mean_rank.mean_rank = true;
  build(s, of_mean_rank, mean);
  std::vector<OperatorLine> lines;
  const models::Machine& machine = s.platform->machine;
  const auto cost_of = [&](const workloads::Call& call) {
    return cost_in_iteration(call, s, workspace);
  };
  Sequence sequence(exposed_of(s, batch, graph, cost_of));
  models::Activity activity;
  for (const workloads::Call& call : graph) {
    const models::Cost cost = cost_of(call);
    const std::size_t at = lines.size();
    lines.push_back({call, cost, sequence.add(call, call.count * cost.time)});
    if (at < mean.size() && mean[at].op != call.op) {
      lines.back().straggler = std::max(0.0, 1.0 - cost_of(mean[at]).time / cost.time);
    }
    activity.add(cost, models::math_of(call.op, machine), call.count, lines.back().time, machine);
  }
  const Seconds late = eager_launches(s, batch, graph).beside(activity.running);
  const Seconds host = host_wait(*s.serving, batch, activity.running + late);
  const models::Drawn draw = drawn(activity, late + host, machine.power);
  for (OperatorLine& line : lines) {
    const base::MathType math = models::math_of(line.call.op, machine);
    models::Activity alone;
    alone.add(models::draw_of(line.cost, math, line.call.count, machine), line.time);
    const Seconds full = line.time;
    line.time = models::slowed(alone, draw.pace, draw.clock, machine.power);
    line.power = line.time > full ? 1.0 - full / line.time : 0.0;
  }
  return lines;
}

}  // namespace roofcast::sim
