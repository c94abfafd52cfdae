// SPDX-License-Identifier: Apache-2.0
#include "sim/step.hpp"

#include <algorithm>
#include <cmath>

#include "models/operator_cost.hpp"

namespace roofcast::sim {
namespace {

using base::Seconds;

void build(const ScenarioView& s, const workloads::Batch& batch, workloads::Graph& graph) {
  const workloads::Stack& stack = s.serving->stack;
  workloads::build_graph(*s.model, *s.precision, *s.mapping,
                         {stack.fused_quantise, stack.custom_all_reduce}, batch, graph);
}

// The hand-over of one micro-batch to the next stage.
workloads::Call hand_over(const ScenarioView& s, const workloads::Batch& batch) {
  constexpr double kHiddenBytes = 2.0;
  const std::int64_t stride = s.mapping->stage_ranks();
  const double bytes = static_cast<double>(batch.tokens() * s.model->hidden) * kHiddenBytes /
                       static_cast<double>(s.mapping->tensor_parallel);
  return {workloads::Collective{workloads::CollectiveKind::send_receive, bytes, 2, stride, false},
          "pipeline.send", static_cast<double>(s.mapping->pipeline_parallel - 1)};
}

// Time that calls add to a step, one after the other.
class Sequence {
 public:
  Seconds add(const workloads::Call& call, const models::Cost& cost) {
    const Seconds all = call.count * cost.time;
    const Seconds added = call.beside ? base::max(Seconds{}, all - last_) : all;
    last_ = all;
    return added;
  }

 private:
  Seconds last_;
};

Limit limit_of(models::Bound bound) { return static_cast<Limit>(bound); }
static_assert(static_cast<int>(Limit::network) == static_cast<int>(models::Bound::network));

}  // namespace

std::string_view name(Limit limit) {
  constexpr std::string_view kNames[kLimits] = {"latency", "compute", "memory",  "l2",
                                                "network", "host",    "waiting", "slots"};
  return kNames[static_cast<std::size_t>(limit)];
}

Limit StepCost::limit() const {
  return static_cast<Limit>(std::max_element(by_limit.begin(), by_limit.end()) - by_limit.begin());
}

Seconds host_time(const workloads::Serving& serving, const workloads::Batch& batch) {
  const auto sequences = static_cast<double>(batch.decode_sequences + batch.prefill_sequences);
  return serving.stack.step_overhead + sequences * serving.stack.sequence_overhead;
}

StepCost step_cost(const ScenarioView& s, const workloads::Batch& batch, Workspace& workspace) {
  const models::Machine& machine = s.platform->machine;
  build(s, batch, workspace.graph);
  StepCost step;
  Seconds layers{};
  Seconds ends{};  // embedding and head, on the first and last stage
  Sequence sequence;
  const auto add = [&](const workloads::Call& call) {
    const models::Cost cost = models::cost_of(call.op, machine);
    const Seconds time = sequence.add(call, cost);
    step.by_limit[static_cast<std::size_t>(limit_of(cost.bound))] += time;
    (call.in_layers ? layers : ends) += time;
  };
  for (const workloads::Call& call : workspace.graph) {
    add(call);
  }
  const auto stages = static_cast<double>(s.mapping->pipeline_parallel);
  const Seconds host = host_time(*s.serving, batch);
  step.by_limit[static_cast<std::size_t>(Limit::host)] += host;
  Seconds sending{};
  if (stages > 1.0) {
    const Seconds before = layers;
    add(hand_over(s, batch));
    sending = layers - before;
    layers = before;
  }
  step.latency = layers + ends + sending + host;
  const auto count = static_cast<double>(s.model->layer_count());
  step.period = stages > 1.0 ? layers * (std::ceil(count / stages) / count) + ends +
                                   sending / (stages - 1.0) + host
                             : step.latency;
  return step;
}

std::vector<OperatorLine> step_operators(const ScenarioView& s, const workloads::Batch& batch) {
  workloads::Graph graph;
  build(s, batch, graph);
  if (s.mapping->pipeline_parallel > 1) {
    graph.push_back(hand_over(s, batch));
  }
  std::vector<OperatorLine> lines;
  Sequence sequence;
  for (const workloads::Call& call : graph) {
    const models::Cost cost = models::cost_of(call.op, s.platform->machine);
    lines.push_back({call, cost, sequence.add(call, cost)});
  }
  return lines;
}

}  // namespace roofcast::sim
