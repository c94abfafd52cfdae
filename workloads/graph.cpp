// SPDX-License-Identifier: Apache-2.0
#include "workloads/graph.hpp"

#include <algorithm>
#include <cmath>

namespace roofcast::workloads {
namespace {

constexpr double kHiddenBytes = 2.0;  // the residual stream is bf16

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

double byte_count(double elements, NumberFormat format) {
  return base::bytes_of(elements, format).si();
}

// Emits the calls of one iteration: mixers, then feed-forwards, each in the order it runs.
class Builder {
 public:
  Builder(const Architecture& model, const Precision& precision, const Mapping& mapping,
          Fusion fusion, const Batch& batch, Graph& graph)
      : model_(model),
        precision_(precision),
        mapping_(mapping),
        fusion_(fusion),
        batch_(batch),
        graph_(graph),
        tokens_(batch.tokens()),
        hidden_(model.hidden),
        tp_(mapping.tensor_parallel) {}

  void build() {
    graph_.clear();
    elementwise("embedding", rows_bytes(), rows_bytes(), 1.0);
    collective("embedding.all_reduce", CollectiveKind::all_reduce, rows_bytes(), tp_, 1.0);
    in_layers_ = true;
    for (const Mixer kind : {Mixer::attention, Mixer::sliding_attention}) {
      if (const double count = layers([&](const LayerGroup& g) { return g.mixer == kind; });
          count > 0.0) {
        mixer(kind, count);
      }
    }
    for (const Ffn kind : {Ffn::mlp, Ffn::moe}) {
      if (const double count = layers([&](const LayerGroup& g) { return g.ffn == kind; });
          count > 0.0) {
        kind == Ffn::mlp ? dense(count) : experts(count);
      }
    }
    in_layers_ = false;
    head();
  }

 private:
  // Layers of one kind, wherever they stand: equal operators become one call.
  template <class Which>
  double layers(Which which) const {
    std::int64_t count = 0;
    for (const LayerGroup& group : model_.layers) {
      count += which(group) ? group.count : 0;
    }
    return static_cast<double>(count);
  }

  double rows_bytes() const {
    return static_cast<double>(tokens_) * static_cast<double>(hidden_) * kHiddenBytes;
  }

  void call(std::string_view name, Operator op, double count) {
    graph_.push_back({std::move(op), name, count, in_layers_});
  }
  void elementwise(std::string_view name, double read, double written, double count) {
    // One multiply-add an element read is near enough: these kernels never are compute bound.
    call(name, Elementwise{read, written, read}, count);
  }
  void linear(std::string_view name, std::int64_t m, std::int64_t n, std::int64_t k,
              LinearFormat format, double count, std::int64_t groups = 1) {
    if (m > 0) {
      call(name, Gemm{m, n, k, groups, format.activations, format.weights}, count);
    }
  }
  // Activations arrive in bf16 and are multiplied in a narrower format.
  void quantise(std::string_view name, double elements, LinearFormat format, double count) {
    if (base::bits(format.activations) < 16.0 && !fusion_.quantise) {
      elementwise(name, elements * kHiddenBytes, byte_count(elements, format.activations), count);
    }
  }
  // RMS norm with the residual addition in one kernel: reads both streams, writes both.
  void norm(std::string_view name, double count) {
    const double share = mapping_.sequence_parallel ? 1.0 / static_cast<double>(tp_) : 1.0;
    elementwise(name, 2.0 * share * rows_bytes(), 2.0 * share * rows_bytes(), count);
  }
  void reduce(std::string_view name, double count) {
    if (tp_ <= 1) {
      return;
    }
    if (mapping_.sequence_parallel) {
      collective(name, CollectiveKind::reduce_scatter, rows_bytes(), tp_, count);
      collective("gather.tokens", CollectiveKind::all_gather, rows_bytes(), tp_, count);
    } else {
      collective(name, CollectiveKind::all_reduce, rows_bytes(), tp_, count);
    }
  }
  void collective(std::string_view name, CollectiveKind kind, double bytes, std::int64_t ranks,
                  double count) {
    if (ranks > 1) {
      const std::int64_t copies = kind == CollectiveKind::all_to_all ? model_.moe.top_k : 1;
      call(name, Collective{kind, bytes, ranks, 1, fusion_.custom_all_reduce, copies}, count);
    }
  }

  void mixer(Mixer kind, double count) {
    norm("attention.norm", count);
    quantise("attention.quantise", static_cast<double>(tokens_ * hidden_), precision_.attention,
             count);
    if (model_.attention.kind == AttentionKind::gqa) {
      grouped_query(kind == Mixer::sliding_attention ? model_.attention.window : 0, count);
    } else {
      latent(count);
    }
    reduce("attention.all_reduce", count);
  }

  void attend(const AttentionHeads& decode, const AttentionHeads& prefill, double count) {
    if (batch_.decode_sequences > 0) {
      call("attention.decode",
           DecodeAttention{decode, batch_.decode_sequences, batch_.query_tokens, batch_.context},
           count);
    }
    if (batch_.prefill_sequences > 0) {
      call("attention.prefill",
           PrefillAttention{prefill, batch_.prefill_sequences, batch_.prefill_tokens,
                            batch_.cached_tokens},
           count);
    }
  }

  void grouped_query(std::int64_t window, double count) {
    const AttentionShape& a = model_.attention;
    const std::int64_t heads = a.query_heads / tp_;
    const std::int64_t kv_heads = ceil_div(a.kv_heads, tp_);  // replicated when there are too few
    const std::int64_t query = heads * a.head_dim;
    const std::int64_t kv = kv_heads * a.head_dim;
    linear("attention.qkv", tokens_, query + 2 * kv, hidden_, precision_.attention, count);
    const auto rows = static_cast<double>(tokens_);
    const double qk = rows * static_cast<double>(query + kv);
    const double fresh = rows * static_cast<double>(2 * kv);
    elementwise(
        "attention.rope", (qk + rows * static_cast<double>(kv)) * kHiddenBytes,
        rows * static_cast<double>(query) * kHiddenBytes + byte_count(fresh, precision_.kv_cache),
        count);
    if (a.qk_norm) {
      elementwise("attention.qk_norm", qk * kHiddenBytes, qk * kHiddenBytes, count);
    }
    const AttentionHeads shape{heads,  kv_heads, a.head_dim,         a.head_dim,
                               window, 2 * kv,   precision_.kv_cache};
    attend(shape, shape, count);
    quantise("attention.quantise_out", rows * static_cast<double>(query), precision_.attention,
             count);
    linear("attention.out", tokens_, hidden_, query, precision_.attention, count);
  }

  // Decode attends in the latent space (weights absorbed into queries and outputs); prefill expands
  // the latent of new and cached tokens to full heads.
  void latent(double count) {
    const AttentionShape& a = model_.attention;
    const LinearFormat format = precision_.attention;
    const std::int64_t heads = a.query_heads / tp_;
    const std::int64_t cache = a.kv_rank + a.rope_dim;
    const std::int64_t qk = a.nope_dim + a.rope_dim;
    linear("attention.down", tokens_, a.q_rank + cache, hidden_, format, count);
    elementwise("attention.latent_norm",
                static_cast<double>(tokens_ * (a.q_rank + cache)) * kHiddenBytes,
                static_cast<double>(tokens_ * a.q_rank) * kHiddenBytes +
                    byte_count(static_cast<double>(tokens_ * cache), precision_.kv_cache),
                count);
    linear("attention.query", tokens_, heads * qk, a.q_rank > 0 ? a.q_rank : hidden_, format,
           count);
    const LinearFormat plain{};  // the absorbed weights are kept in bf16
    const std::int64_t decode_rows = batch_.decode_sequences * batch_.query_tokens;
    linear("attention.absorb_query", decode_rows, a.kv_rank, a.nope_dim, plain, count, heads);
    const std::int64_t prefill_rows =
        batch_.prefill_sequences * (batch_.prefill_tokens + batch_.cached_tokens);
    linear("attention.expand", prefill_rows, heads * (a.nope_dim + a.value_dim), a.kv_rank, format,
           count);
    attend(AttentionHeads{heads, 1, cache, a.kv_rank, 0, cache, precision_.kv_cache},
           AttentionHeads{heads, heads, qk, a.value_dim, 0, heads * (qk + a.value_dim),
                          NumberFormat::bf16},
           count);
    linear("attention.absorb_value", decode_rows, a.value_dim, a.kv_rank, plain, count, heads);
    quantise("attention.quantise_out", static_cast<double>(tokens_ * heads * a.value_dim), format,
             count);
    linear("attention.out", tokens_, hidden_, heads * a.value_dim, format, count);
  }

  // up (and gate), activation, down, on `rows` tokens.
  void feed_forward(const char* up, const char* act, const char* down, std::int64_t intermediate,
                    bool gated, double count) {
    const LinearFormat format = precision_.mlp;
    const std::int64_t width = intermediate / tp_;
    linear(up, tokens_, (gated ? 2 : 1) * width, hidden_, format, count);
    const auto inner = static_cast<double>(tokens_ * width);
    const bool fused = fusion_.quantise && base::bits(format.activations) < 16.0;
    elementwise(act, (gated ? 2.0 : 1.0) * inner * kHiddenBytes,
                fused ? byte_count(inner, format.activations) : inner * kHiddenBytes, count);
    quantise("mlp.quantise_inner", inner, format, count);
    linear(down, tokens_, hidden_, width, format, count);
  }

  void dense(double count) {
    norm("mlp.norm", count);
    quantise("mlp.quantise", static_cast<double>(tokens_ * hidden_), precision_.mlp, count);
    feed_forward("mlp.up", "mlp.activation", "mlp.down", model_.mlp.intermediate, model_.mlp.gated,
                 count);
    reduce("mlp.all_reduce", count);
  }

  void experts(double count) {
    const MoeShape& moe = model_.moe;
    const LinearFormat format = precision_.experts;
    const std::int64_t ranks = mapping_.expert_ranks();
    const std::int64_t groups = batch_.groups > 0 ? batch_.groups : mapping_.data_parallel;
    const std::int64_t all_tokens = tokens_ * groups;
    const bool exchange = mapping_.data_parallel > 1;  // tokens live on other ranks than experts
    const bool by_expert = mapping_.expert_tensor_parallel() == 1;
    norm("moe.norm", count);
    linear("moe.router", tokens_, moe.experts, hidden_, LinearFormat{}, count);
    if (moe.shared_experts > 0) {
      feed_forward("moe.shared_up", "moe.shared_activation", "moe.shared_down",
                   moe.shared_experts * moe.shared_intermediate, moe.gated, count);
    }
    quantise("moe.quantise", static_cast<double>(tokens_ * hidden_), format, count);
    // What one rank hands out: its 1/tensor_parallel of the tokens, top_k copies each.
    const double copies =
        static_cast<double>(tokens_ * moe.top_k * hidden_) / static_cast<double>(tp_);
    const auto gathered = static_cast<double>(all_tokens * hidden_);
    if (exchange && by_expert) {
      collective("moe.dispatch", CollectiveKind::all_to_all, byte_count(copies, format.activations),
                 ranks, count);
    } else if (exchange) {
      collective("moe.gather", CollectiveKind::all_gather, byte_count(gathered, format.activations),
                 ranks, count);
    }
    const double pairs =
        static_cast<double>(all_tokens * moe.top_k) / static_cast<double>(mapping_.expert_parallel);
    const double distinct = distinct_experts(static_cast<double>(all_tokens), moe.top_k,
                                             moe.experts, moe.experts / mapping_.expert_parallel);
    const std::int64_t width = moe.intermediate / mapping_.expert_tensor_parallel();
    const std::int64_t up = (moe.gated ? 2 : 1) * width;
    call("moe.routing", ExpertRouting{tokens_, pairs, hidden_, moe.experts, format.activations},
         count);
    call("moe.up", GroupedGemm{pairs, distinct, up, hidden_, format.activations, format.weights},
         count);
    elementwise("moe.activation", pairs * static_cast<double>(up) * kHiddenBytes,
                byte_count(pairs * static_cast<double>(width), format.activations), count);
    call("moe.down",
         GroupedGemm{pairs, distinct, hidden_, width, format.activations, format.weights}, count);
    if (exchange && by_expert) {
      collective("moe.combine", CollectiveKind::all_to_all, copies * kHiddenBytes, ranks, count);
      // Each rank combined its share of the tokens; the shared expert's parts must be summed too.
      collective("moe.all_gather",
                 moe.shared_experts > 0 ? CollectiveKind::all_reduce : CollectiveKind::all_gather,
                 rows_bytes(), tp_, count);
    } else if (exchange) {
      collective("moe.scatter", CollectiveKind::reduce_scatter, gathered * kHiddenBytes, ranks,
                 count);
      collective("moe.all_gather", CollectiveKind::all_gather, rows_bytes(), tp_, count);
    } else {
      reduce("moe.all_reduce", count);
    }
  }

  void head() {
    const std::int64_t rows = batch_.logit_rows();
    elementwise("head.norm", 2.0 * rows_bytes(), rows_bytes(), 1.0);
    const std::int64_t vocab = ceil_div(model_.vocab, tp_);
    linear("head.logits", rows, vocab, hidden_, precision_.head, 1.0);
    const auto logits = static_cast<double>(rows * model_.vocab) * kHiddenBytes;
    collective("head.gather", CollectiveKind::all_gather, logits, tp_, 1.0);
    elementwise("head.sampling", logits, static_cast<double>(rows) * 4.0, 1.0);
  }

  const Architecture& model_;
  const Precision& precision_;
  const Mapping& mapping_;
  const Fusion fusion_;
  const Batch& batch_;
  Graph& graph_;
  const std::int64_t tokens_;
  const std::int64_t hidden_;
  const std::int64_t tp_;
  bool in_layers_ = false;
};

}  // namespace

double distinct_experts(double tokens, std::int64_t top_k, std::int64_t experts,
                        std::int64_t local) {
  const double miss = 1.0 - static_cast<double>(top_k) / static_cast<double>(experts);
  return static_cast<double>(local) * (1.0 - std::pow(miss, tokens));
}

void build_graph(const Architecture& model, const Precision& precision, const Mapping& mapping,
                 Fusion fusion, const Batch& batch, Graph& graph) {
  Builder(model, precision, mapping, fusion, batch, graph).build();
}

}  // namespace roofcast::workloads
