// SPDX-License-Identifier: Apache-2.0
#include "sim/training/pass.hpp"

#include <algorithm>
#include <cmath>

#include "base/integers.hpp"
#include "models/operators/operator_cost.hpp"

namespace roofcast::sim {
namespace {

using base::as_double;
using base::Seconds;

// What was measured of the trainer's kernels with this calibration.
const workloads::TrainerKernels& kernels_of(const workloads::Trainer& trainer,
                                            const models::Machine& machine) {
  static const workloads::TrainerKernels none;
  const std::string& calibration = machine.calibration.id;
  const auto own = std::find_if(trainer.kernels.begin(), trainer.kernels.end(),
                                [&](const workloads::TrainerKernels& kernels) {
                                  return calibration.starts_with(kernels.chip) &&
                                         calibration[kernels.chip.size()] == '.';
                                });
  return own == trainer.kernels.end() ? none : *own;
}

// Time of the linear layer beside call `at`: the last one before it, or of the tokens gathered the next one, after the
// last layer the first one. `of_weights`: of its gradients of weights.
Seconds beside(const workloads::Graph& graph, std::size_t at, const models::Machine& machine,
               const workloads::Training& training, CostCache* costs, bool of_weights) {
  const bool after = graph[at].name == "gather.tokens";
  for (std::size_t step = 1; step < graph.size(); ++step) {
    const workloads::Call& call =
        graph[(after ? at + step : at + graph.size() - step) % graph.size()];
    if (call.in_layers && std::holds_alternative<workloads::Gemm>(call.op) &&
        (call.weight_gradient || !of_weights)) {
      return call.count * training_kernel(call.op, machine, training, costs).time;
    }
  }
  return {};
}

// The ranks of an exchange of tensor parallelism around a layer's products; 0 for another call.
std::int64_t exchanging_ranks(const workloads::Call& call) {
  const auto* collective = std::get_if<workloads::Collective>(&call.op);
  const bool around = collective != nullptr && call.in_layers &&
                      (call.name == "gather.tokens" || call.name.ends_with(".all_reduce")) &&
                      collective->kind != workloads::CollectiveKind::all_reduce;
  return around ? collective->ranks : 0;
}

// Gradients of tokens that were gathered, of the layer that comes after the call.
bool is_gradient(const workloads::Call& call) {
  const auto* collective = std::get_if<workloads::Collective>(&call.op);
  return call.name == "gather.tokens" &&
         collective->kind == workloads::CollectiveKind::reduce_scatter;
}

// Calls `of` with each call, its kernel, and the time that the calls beside it do not hide.
template <class Of>
void each_call(const workloads::Graph& graph, const models::Machine& machine,
               const workloads::Training& training, CostCache* costs, Of of) {
  const double taken_by_exchanges = as_double(workloads::Collective{}.sms) / machine.sms;
  Seconds last;
  for (std::size_t at = 0; at < graph.size(); ++at) {
    const workloads::Call& call = graph[at];
    const TrainingKernel kernel = training_kernel(call.op, machine, training, costs);
    const Seconds all = call.count * kernel.count * kernel.time;
    const double taken =
        std::holds_alternative<workloads::Collective>(call.op) ? taken_by_exchanges : 0.0;
    Seconds added = call.overlapped ? base::max(taken * all, all - last) : all;
    if (const std::int64_t ranks = exchanging_ranks(call)) {
      if (is_gradient(call) && (training.overlap || training.tensor_overlap)) {
        added = base::max(taken * all, all - beside(graph, at, machine, training, costs, true));
      } else if (training.tensor_overlap) {
        added = base::max(all / as_double(ranks),
                          all - beside(graph, at, machine, training, costs, false));
      }
    }
    last = all;
    of(call, kernel, added);
  }
}

}  // namespace

TrainingKernel training_kernel(const workloads::Operator& op, const models::Machine& machine,
                               const workloads::Training& training, CostCache* costs) {
  const auto* grouped = std::get_if<workloads::GroupedGemm>(&op);
  const workloads::TrainerKernels& measured = kernels_of(training.trainer, machine);
  const Seconds launch = training.grouped_experts ? Seconds{} : measured.expert_launch;
  TrainingKernel kernel;
  kernel.op = op;
  if (grouped != nullptr && launch.si() > 0.0 && grouped->distinct > 0.0) {
    const auto rows = static_cast<std::int64_t>(std::ceil(grouped->pairs / grouped->distinct));
    kernel.op =
        workloads::Gemm{rows, grouped->n, grouped->k, 1, grouped->activations, grouped->weights};
    kernel.count = grouped->distinct;
  }
  kernel.cost =
      costs == nullptr ? models::cost_of(kernel.op, machine) : costs->of(kernel.op, machine);
  kernel.math = models::math_of(kernel.op, machine);
  kernel.time = kernel.cost.time;
  const bool as_measured =
      kernel.math == base::MathType::bf16 || kernel.math == base::MathType::fp16;
  if (measured.gemm > 1.0 && as_measured &&
      (grouped != nullptr || std::holds_alternative<workloads::Gemm>(op))) {
    kernel.time += (measured.gemm - 1.0) * models::product_time(kernel.cost, kernel.math, machine);
  }
  if (grouped != nullptr) {
    kernel.time = base::max(kernel.time, launch);
  }
  const auto* elementwise = std::get_if<workloads::Elementwise>(&op);
  if (std::holds_alternative<workloads::StateScan>(op) ||
      (elementwise != nullptr && elementwise->taps > 0)) {
    kernel.time *= training.trainer.recurrence;
  }
  return kernel;
}

Pass timed(const workloads::Graph& graph, const models::Machine& machine,
           const workloads::Training& training, CostCache* costs) {
  Pass pass;
  bool before_layers = true;
  each_call(graph, machine, training, costs,
            [&](const workloads::Call& call, const TrainingKernel& kernel, Seconds added) {
              before_layers = before_layers && !call.in_layers;
              (call.in_layers ? pass.layers : before_layers ? pass.embedding : pass.head) += added;
              pass.weight_gradients += call.weight_gradient ? added : Seconds{};
              if (call.exchange) {
                (call.in_layers ? pass.layer_exchanges : pass.head_exchanges) += added;
              }
              pass.activity.add(kernel.cost, kernel.math, call.count * kernel.count, added,
                                machine);
              pass.errors.add(models::error_kind(kernel.op, machine.scale_up_domain), added);
              pass.host.add(call, added, training);
            });
  return pass;
}

std::vector<OperatorLine> operators_of(const workloads::Graph& graph,
                                       const models::Machine& machine,
                                       const workloads::Training& training) {
  std::vector<OperatorLine> lines;
  each_call(graph, machine, training, nullptr,
            [&](const workloads::Call& call, const TrainingKernel& kernel, Seconds added) {
              lines.push_back({call, kernel.cost, added});
              lines.back().call.op = kernel.op;
              lines.back().call.count *= kernel.count;
            });
  return lines;
}

}  // namespace roofcast::sim
