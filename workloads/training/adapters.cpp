// SPDX-License-Identifier: Apache-2.0
#include "workloads/training/adapters.hpp"

#include "base/integers.hpp"

namespace roofcast::workloads {
namespace {

using base::as_double;

bool adapted(const Adapters& adapters, std::string_view call) {
  return (adapters.has(AdaptedLayer::qkv) && call == "attention.qkv") ||
         (adapters.has(AdaptedLayer::out) && call == "attention.out") ||
         (adapters.has(AdaptedLayer::up) && call == "mlp.up") ||
         (adapters.has(AdaptedLayer::down) && call == "mlp.down");
}

}  // namespace

double adapter_parameters(const Adapters& adapters, const Architecture& model,
                          const LayerGroup& layer, const Mapping& mapping) {
  const double tp = as_double(mapping.tensor_parallel);
  const double hidden = as_double(model.hidden);
  double widths = 0.0;  // of both sides of all adapted layers, those that are cut divided
  const auto add = [&](AdaptedLayer which, double cut) {
    widths += adapters.has(which) ? hidden + cut / tp : 0.0;
  };
  if (attends(layer.mixer) && model.attention.kind == AttentionKind::gqa) {
    const AttentionShape& a = model.attention;
    const double queries = as_double(a.query_heads * a.head_dim);
    if (a.q_rank == 0) {
      add(AdaptedLayer::qkv,
          (a.output_gate ? 2.0 : 1.0) * queries +
              2.0 * tp *
                  as_double(base::ceil_div(layer.kv_heads, mapping.tensor_parallel) * a.head_dim));
    }
    add(AdaptedLayer::out, queries);
  }
  if (layer.ffn == Ffn::mlp) {
    const double width = as_double(layer.intermediate);
    add(AdaptedLayer::up, (model.mlp.gated ? 2.0 : 1.0) * width);
    add(AdaptedLayer::down, width);
  }
  return as_double(adapters.rank) * widths;
}

double adapter_parameters(const Adapters& adapters, const Architecture& model) {
  double all = 0.0;
  for (const LayerGroup& layer : model.layers) {
    all += as_double(layer.count) * adapter_parameters(adapters, model, layer, Mapping{});
  }
  return all;
}

Graph with_adapters(const Adapters& adapters, const Graph& forward) {
  Graph graph;
  for (const Call& call : forward) {
    graph.push_back(call);
    const auto* product = std::get_if<Gemm>(&call.op);
    if (product == nullptr || !adapted(adapters, call.name)) {
      continue;
    }
    const auto elements = as_double(product->m * product->n);
    Call adapter = call;
    adapter.name = "lora";
    for (const Operator& op : {Operator(Gemm{product->m, adapters.rank, product->k}),
                               Operator(Gemm{product->m, product->n, adapters.rank}),
                               Operator(Elementwise{2.0 * kHiddenBytes * elements,
                                                    kHiddenBytes * elements, elements})}) {
      adapter.op = op;
      graph.push_back(adapter);
    }
  }
  return graph;
}

}  // namespace roofcast::workloads
