// SPDX-License-Identifier: Apache-2.0
#include "workloads/graph/training_graph.hpp"

#include <algorithm>
#include <utility>

#include "base/overloaded.hpp"
#include "base/units/number_format.hpp"
#include "workloads/graph/unfused_kernels.hpp"

namespace roofcast::workloads {
namespace {

constexpr double kAttentionBackward = 3.0;
constexpr double kTwoProducts = 2.0;

CollectiveKind opposite(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::all_gather:
      return CollectiveKind::reduce_scatter;
    case CollectiveKind::reduce_scatter:
      return CollectiveKind::all_gather;
    case CollectiveKind::all_reduce:
    case CollectiveKind::all_to_all:
    case CollectiveKind::broadcast:
    case CollectiveKind::send_receive:
      break;
  }
  return kind;
}

// Scales of 1 × 128 elements go along the sum of a product. That of the gradients of weights goes over the tokens.
bool in_blocks(NumberFormat activations) { return activations == NumberFormat::fp8_block; }

bool multiplies_blocks(const Call& call) {
  const auto* gemm = std::get_if<Gemm>(&call.op);
  const auto* grouped = std::get_if<GroupedGemm>(&call.op);
  return (gemm != nullptr && in_blocks(gemm->activations)) ||
         (grouped != nullptr && in_blocks(grouped->activations));
}

class Backward {
 public:
  Backward(Graph& graph, const Graph& forward, double gradient_bytes, bool adapters_only)
      : graph_(graph),
        gradient_bytes_(gradient_bytes),
        adapters_only_(adapters_only),
        blocks_(std::any_of(forward.begin(), forward.end(), multiplies_blocks)) {}

  void add(const Call& forward) {
    from_ = &forward;
    std::visit(
        base::overloaded{
            [this](const Gemm& o) { gemm(o); },
            [this](const GroupedGemm& o) { grouped(o); },
            [this](const PrefillAttention& o) { call(o, kAttentionBackward); },
            [this](const DecodeAttention& o) { call(o, kAttentionBackward); },
            [this](const IndexScores& o) { call(o, kTwoProducts); },
            [this](const StateScan& o) { call(o, kTwoProducts); },
            [this](const StateUpdate& o) { call(o, kTwoProducts); },
            [this](const Elementwise& o) {
              if (o.read_bytes + o.written_bytes <= 0.0) {
                call(o);  // random numbers, again
                return;
              }
              if (blocks_ && from_->name.find(".quantise") != std::string_view::npos) {
                return;  // each product quantises its gradients
              }
              call(Elementwise{o.read_bytes + o.written_bytes, o.read_bytes, 2.0 * o.flop, o.taps});
            },
            [this](const ExpertRouting& o) { call(o); },
            [](const TableLookup&) {},  // scenarios that train a recommender are refused
            [this](Collective o) {
              o.kind = opposite(o.kind);
              if (o.backward_bytes > 0.0) {
                std::swap(o.bytes, o.backward_bytes);
              }
              call(o);
            },
        },
        forward.op);
  }

 private:
  void call(Operator op, double times = 1.0) {
    graph_.push_back({std::move(op), from_->name, times * from_->count, from_->in_layers,
                      from_->overlapped, from_->exchange});
  }
  bool frozen() const { return adapters_only_ && from_->name != "lora"; }
  // Reads and writes the gradients of so many parameters. A product over many tokens hides that, an expert's does not.
  void accumulate(double parameters, bool overlapped) {
    const double bytes = parameters * gradient_bytes_;
    call(Elementwise{bytes, bytes, parameters});
    graph_.back().overlapped = overlapped;
    graph_.back().weight_gradient = true;
  }
  // What the products with `rows` gradients of n and inputs of k elements read, `of_weights`: those of weights too.
  void quantise(NumberFormat format, double rows, std::int64_t n, std::int64_t k, bool of_weights) {
    if (in_blocks(format)) {
      call(requantise(rows * static_cast<double>(n),
                      of_weights ? rows * static_cast<double>(k) : 0.0));
    }
  }
  void gemm(const Gemm& o) {
    quantise(o.activations, static_cast<double>(o.m * o.batch), o.n, o.k, !frozen());
    call(Gemm{o.m, o.k, o.n, o.batch, o.activations, o.weights});
    if (frozen()) {
      return;
    }
    call(Gemm{o.k, o.n, o.m, o.batch, o.activations, o.activations});
    graph_.back().weight_gradient = true;
    accumulate(static_cast<double>(o.k * o.n * o.batch), true);
  }
  void grouped(const GroupedGemm& o) {
    quantise(o.activations, o.pairs, o.n, o.k, !frozen());
    call(GroupedGemm{o.pairs, o.distinct, o.k, o.n, o.activations, o.weights, o.even,
                     o.alternative_kernel});
    if (frozen()) {
      return;
    }
    // dw moves and multiplies as much as the forward pass.
    call(GroupedGemm{o.pairs, o.distinct, o.n, o.k, o.activations, o.activations, o.even,
                     o.alternative_kernel});
    graph_.back().weight_gradient = true;
    accumulate(o.distinct * static_cast<double>(o.n * o.k), false);
  }

  Graph& graph_;
  const double gradient_bytes_;
  const bool adapters_only_;
  const bool blocks_;
  const Call* from_ = nullptr;
};

bool is_norm(std::string_view name) {
  return name.ends_with(".norm") || name.ends_with(".quantise");
}

bool is_mla_up(std::string_view name) {
  return name == "attention.query" || name == "attention.expand";
}

bool repeats(const Call& call, const Recompute& recompute) {
  const std::string_view name = call.name;
  const bool norm = is_norm(name);
  return (recompute.has(Module::norms) && call.in_layers && norm) ||
         (recompute.has(Module::attention) &&
          (std::holds_alternative<PrefillAttention>(call.op) || name == "attention.scores" ||
           name == "attention.dropout" || name == "attention.ring" ||
           name == "attention.merge_parts" || name == "attention.to_heads" ||
           name == "attention.to_tokens")) ||
         (recompute.has(Module::mla_up) && is_mla_up(name)) ||
         (recompute.has(Module::mlp) && name.starts_with("mlp.") && !norm) ||
         (recompute.has(Module::expert_activation) && name == "moe.activation") ||
         (recompute.has(Module::experts) && name.starts_with("moe.") && !norm) ||
         (recompute.has(Module::shared_experts) && name.starts_with("moe.shared_"));
}

}  // namespace

Graph backward_graph(const Graph& forward, const Recompute& recompute, double share,
                     double gradient_bytes, bool adapters_only) {
  Graph graph;
  for (const Call& call : forward) {
    if (recompute.full && call.in_layers) {
      graph.push_back(call);
      graph.back().count *= share;
    } else if (repeats(call, recompute)) {
      graph.push_back(call);
    }
  }
  Backward backward(graph, forward, gradient_bytes, adapters_only);
  for (const Call& call : forward) {
    backward.add(call);
  }
  return graph;
}

}  // namespace roofcast::workloads
