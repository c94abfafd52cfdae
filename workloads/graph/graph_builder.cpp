// SPDX-License-Identifier: Apache-2.0
#include "workloads/graph/graph_builder.hpp"

#include "workloads/graph/unfused_kernels.hpp"

namespace roofcast::workloads {
namespace {

bool same_mixer(const LayerGroup& a, const LayerGroup& b) {
  return a.mixer == b.mixer && a.kv_heads == b.kv_heads && a.window == b.window &&
         a.streams == b.streams && a.modulation == b.modulation;
}
bool same_ffn(const LayerGroup& a, const LayerGroup& b) {
  return a.ffn == b.ffn && a.intermediate == b.intermediate && a.streams == b.streams;
}

// Calls `emit` once for each kind of layer, with the count of its layers at any depth, so that equal operators become
// one call.
template <class Same, class Emit>
void each_kind(const std::vector<LayerGroup>& groups, Same same, Emit emit) {
  for (std::size_t i = 0; i < groups.size(); ++i) {
    bool seen = false;
    for (std::size_t j = 0; j < i && !seen; ++j) {
      seen = same(groups[i], groups[j]);
    }
    if (seen) {
      continue;
    }
    std::int64_t count = 0;
    for (std::size_t j = i; j < groups.size(); ++j) {
      count += same(groups[i], groups[j]) ? groups[j].count : 0;
    }
    emit(groups[i], static_cast<double>(count));
  }
}

// Which kind a group is of, as each_kind counts them.
template <class Same>
std::size_t kind_of(const std::vector<LayerGroup>& groups, std::size_t group, Same same) {
  std::size_t kind = 0;
  for (std::size_t i = 0;; ++i) {
    if (same(groups[group], groups[i])) {
      return kind;
    }
    bool seen = false;
    for (std::size_t j = 0; j < i && !seen; ++j) {
      seen = same(groups[i], groups[j]);
    }
    kind += seen ? 0 : 1;
  }
}

}  // namespace

GraphBuilder::GraphBuilder(const Architecture& model, const Precision& precision,
                           const Mapping& mapping, Fusion fusion, const Batch& batch, Graph& graph)
    : model_(model),
      precision_(precision),
      mapping_(mapping),
      fusion_(fusion),
      batch_(batch),
      graph_(graph),
      hidden_(model.hidden),
      tp_(mapping.tensor_parallel),
      cp_(mapping.context_parallel),
      decode_rows_(batch.decode_sequences * batch.query_tokens),
      chunk_(ceil_div(batch.prefill_tokens, cp_)),
      prefill_rows_(batch.prefill_sequences * chunk_),
      tokens_(decode_rows_ + prefill_rows_) {}

void GraphBuilder::build(LayerCalls* calls) {
  graph_.clear();
  if (model_.recommender) {
    look_up(*model_.recommender);
  } else {
    elementwise("embedding", rows_bytes(), rows_bytes(), 1.0);
    collective("embedding.all_reduce", CollectiveKind::all_reduce, rows_bytes(), tp_, 1.0);
  }
  if (model_.joins_token) {
    elementwise("draft.norm", 2.0 * rows_bytes(), 2.0 * rows_bytes(), 1.0);
    linear("draft.join", tokens_, hidden_, 2 * hidden_, precision_.plain, 1.0);
  }
  in_layers_ = true;
  std::size_t before = graph_.size();
  const auto count_calls = [&](std::vector<LayerCalls::Kind> LayerCalls::*kinds, double layers) {
    if (calls != nullptr) {
      (calls->*kinds).push_back({graph_.size() - before, static_cast<std::int64_t>(layers)});
      before = graph_.size();
    }
  };
  if (calls != nullptr) {
    calls->first = before;
  }
  each_kind(model_.layers, same_mixer, [&](const LayerGroup& layer, double count) {
    mixer(layer, count);
    count_calls(&LayerCalls::mixers, count);
  });
  each_kind(model_.layers, same_ffn, [&](const LayerGroup& layer, double count) {
    if (layer.ffn == Ffn::mlp) {
      dense(layer, count);
    } else if (layer.ffn == Ffn::moe) {
      experts(count);
    }
    count_calls(&LayerCalls::ffns, count);
  });
  in_layers_ = false;
  head();
  for (std::int64_t token = 0; token < batch_.predicted_tokens; ++token) {
    predict(token);
  }
}

// The head is the model's own.
void GraphBuilder::predict(std::int64_t token) {
  elementwise("mtp.norm", 2.0 * rows_bytes(), 2.0 * rows_bytes(), 1.0);
  linear("mtp.join", tokens_, hidden_, 2 * hidden_, precision_.plain, 1.0);
  const LayerGroup& layer = model_.mtp_module(token);
  mixer(layer, 1.0);
  if (layer.ffn == Ffn::mlp) {
    dense(layer, 1.0);
  } else if (layer.ffn == Ffn::moe) {
    experts(1.0);
  }
  head();
}

void GraphBuilder::quantise(std::string_view name, double elements, LinearFormat format,
                            double count, QuantisedAfter after) {
  if (base::bits(format.activations) < 16.0 && !fuses_quantise(format, after)) {
    elementwise(name, elements * kHiddenBytes, byte_count(elements, format.activations), count);
  }
}

void GraphBuilder::norm(std::string_view name, double count) {
  if (norm_is_in_all_reduce()) {
    return;
  }
  const double share = mapping_.sequence_parallel ? 1.0 / static_cast<double>(tp_) : 1.0;
  const bool copied = all_reduces_normalise() && fusion_.copies_large_sums;
  const double bytes = (copied ? 3.0 : 2.0) * share * rows_bytes();
  elementwise(name, bytes, bytes, count);
  if (fusion_.dropout) {
    call("residual.dropout", dropout(share * rows_bytes() / kHiddenBytes), count);
  }
}

void GraphBuilder::norm_after_feed_forward(std::string_view name, double count) {
  if (!norm_is_in_all_reduce()) {
    norm(name, count);
  } else if (const auto experts = static_cast<double>(model_.layers_with(Ffn::moe));
             experts > 0.0) {
    const double share = experts / static_cast<double>(model_.layer_count());
    elementwise(name, 2.0 * rows_bytes(), 2.0 * rows_bytes(), share * count);
  }
}

void GraphBuilder::reduce(std::string_view name, LinearFormat format, double count,
                          bool meets_norm) {
  if (tp_ <= 1) {
    return;
  }
  if (mapping_.sequence_parallel) {
    const double gathered =
        fusion_.gathers_quantised && base::bits(format.activations) < 16.0
            ? byte_count(static_cast<double>(tokens_ * hidden_), format.activations)
            : rows_bytes();
    collective(name, CollectiveKind::reduce_scatter, rows_bytes(), tp_, count);
    std::get<Collective>(graph_.back().op).backward_bytes = gathered;
    collective("gather.tokens", CollectiveKind::all_gather, gathered, tp_, count);
    std::get<Collective>(graph_.back().op).backward_bytes = rows_bytes();
  } else {
    collective(name, CollectiveKind::all_reduce, rows_bytes(), tp_, count);
    if (meets_norm && norm_is_in_all_reduce()) {
      std::get<Collective>(graph_.back().op).custom = AllReduceKernels::flags;
    }
  }
}

void GraphBuilder::collective(std::string_view name, CollectiveKind kind, double bytes,
                              std::int64_t ranks, double count, std::int64_t stride) {
  if (ranks > 1) {
    call(name, Collective{kind, bytes, ranks, stride, fusion_.custom_all_reduce, 1}, count);
  }
}

void GraphBuilder::head() {
  if (model_.recommender) {
    quantise("top_mlp.quantise", static_cast<double>(ceil_div(tokens_, tp_) * hidden_),
             precision_.mlp, 1.0, QuantisedAfter::other);
    chain("top_mlp", hidden_, model_.recommender->top_mlp);
    return;
  }
  const std::int64_t rows = batch_.loss ? tokens_ : batch_.logit_rows();
  elementwise("head.norm", 2.0 * rows_bytes(), rows_bytes(), 1.0);
  if (!model_.autoregressive) {
    return;
  }
  const std::int64_t vocab = ceil_div(model_.vocab, tp_);
  linear("head.logits", rows, vocab, hidden_, precision_.head, 1.0);
  if (batch_.loss) {
    // Cross entropy over the rank's part of the vocabulary in fp32: the largest logit, the sum, the probabilities.
    constexpr double kLossBytes = 4.0;
    const double part = static_cast<double>(rows * vocab) * kLossBytes;
    if (fusion_.unfused_loss) {
      call("head.loss", unfused_loss(static_cast<double>(rows * vocab)), 1.0);
    } else {
      elementwise("head.loss", 2.0 * part, part, 1.0);
    }
    collective("head.all_reduce", CollectiveKind::all_reduce,
               2.0 * static_cast<double>(rows) * kLossBytes, tp_, 1.0);
    return;
  }
  const auto logits = static_cast<double>(rows * model_.vocab) * kHiddenBytes;
  collective("head.gather", CollectiveKind::all_gather, logits, tp_, 1.0);
  elementwise("head.sampling", logits, static_cast<double>(rows) * 4.0, 1.0);
}

void build_graph(const Architecture& model, const Precision& precision, const Mapping& mapping,
                 Fusion fusion, const Batch& batch, Graph& graph) {
  GraphBuilder(model, precision, mapping, fusion, batch, graph).build();
}

LayerCalls layer_calls(const Architecture& model, const Precision& precision,
                       const Mapping& mapping, Fusion fusion, const Batch& batch) {
  LayerCalls calls;
  Graph graph;
  GraphBuilder(model, precision, mapping, fusion, batch, graph).build(&calls);
  std::int64_t all = 0;
  for (const LayerGroup& group : model.layers) {
    all += group.count;
  }
  std::vector<std::int64_t> placed(model.layers.size(), 0);
  for (std::int64_t layer = 0; layer < all; ++layer) {
    // Interleaved: of the group that is furthest behind its share.
    std::size_t next = 0;
    const auto behind = [&](std::size_t i) {
      return model.layers[i].count * (layer + 1) - placed[i] * all;
    };
    for (std::size_t i = 0; i < placed.size(); ++i) {
      const bool full = placed[next] == model.layers[next].count;
      next = model.interleaved ? (behind(i) > behind(next) ? i : next) : (full ? i : next);
    }
    ++placed[next];
    const LayerCalls::Run run{kind_of(model.layers, next, same_mixer),
                              kind_of(model.layers, next, same_ffn), 1};
    if (!calls.runs.empty() && calls.runs.back().mixer == run.mixer &&
        calls.runs.back().ffn == run.ffn) {
      ++calls.runs.back().layers;
    } else {
      calls.runs.push_back(run);
    }
  }
  return calls;
}

}  // namespace roofcast::workloads
