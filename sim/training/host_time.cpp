// SPDX-License-Identifier: Apache-2.0
#include "sim/training/host_time.hpp"

namespace roofcast::sim {
namespace {

using base::Seconds;
using workloads::GraphedPart;

// A mixture's norm, router and shared experts, whose kernels follow each other without exchanges.
bool before_experts(std::string_view name) {
  return name == "moe.norm" || name == "moe.router" || name == "moe.latent_down" ||
         name == "moe.quantise_shared" || name.starts_with("moe.shared_");
}

bool with_experts(std::string_view name) {
  return name.starts_with("moe.") && !before_experts(name);
}

bool graphed(std::string_view name, const workloads::CudaGraphs& graphs) {
  if (name.starts_with("attention.") || name.starts_with("index.")) {
    return graphs.has(GraphedPart::attention);
  }
  if (name.starts_with("mamba.") || name.starts_with("delta_net.")) {
    return graphs.has(GraphedPart::recurrence);
  }
  return before_experts(name)       ? graphs.has(GraphedPart::router)
         : name.starts_with("mlp.") ? graphs.has(GraphedPart::mlp)
                                    : graphs.full;
}

// Host time for all runs of a call.
Seconds launches(const workloads::Call& call, const workloads::Training& t) {
  const bool sums_gradients =
      call.weight_gradient && std::holds_alternative<workloads::Elementwise>(call.op);
  const bool inside = call.name.ends_with(".dropout");  // another kernel
  if (sums_gradients || inside || graphed(call.name, t.cuda_graphs)) {
    return {};
  }
  const auto* experts = std::get_if<workloads::GroupedGemm>(&call.op);
  return call.count * (experts != nullptr && !t.grouped_experts
                           ? experts->distinct * t.trainer.expert_kernel
                           : t.trainer.operator_time);
}

}  // namespace

void HostTime::add(const workloads::Call& call, Seconds on_gpu, const workloads::Training& t) {
  if (!call.in_layers) {
    return;
  }
  const bool stops = !t.grouped_experts && !t.cuda_graphs.full;
  const bool behind = stops && with_experts(call.name);
  (behind ? gpu_behind_ : gpu_) += on_gpu;
  (behind ? host_behind_ : host_) += launches(call, t);
  const bool routes = std::holds_alternative<workloads::ExpertRouting>(call.op);
  mixes_ = mixes_ || routes;
  stops_ += stops && routes ? call.count : 0.0;
}

Seconds HostTime::forward_waits(double slower, Seconds hidden, const workloads::Training& t) const {
  const Seconds before = slower * gpu_;
  const Seconds behind = slower * (gpu_behind_ - base::min(hidden, gpu_behind_));
  const Seconds host = factor(t) * (host_behind_ + stops_ * t.trainer.counts);
  return base::max(before + base::max(behind, host), factor(t) * host_ + host) - before - behind;
}

Seconds HostTime::backward_waits(double slower, Seconds hidden,
                                 const workloads::Training& t) const {
  const Seconds all = slower * (gpu_ + gpu_behind_ - base::min(hidden, gpu_behind_));
  return base::max(Seconds{}, factor(t) * (host_ + host_behind_) - all);
}

}  // namespace roofcast::sim
