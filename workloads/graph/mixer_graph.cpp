// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/integers.hpp"
#include "workloads/graph/graph_builder.hpp"
#include "workloads/graph/unfused_kernels.hpp"

namespace roofcast::workloads {
namespace {

// A rank has `own` of the `all` new tokens of a prompt. Returns the keys before them with which it sees 1/n of all
// causal pairs, since first and last tokens are dealt out evenly.
std::int64_t balanced_before(std::int64_t cached, std::int64_t all, std::int64_t own) {
  return cached + (all - own) / 2;
}

// Whether a prompt attends to the keys that an index chose, in the latent space, and not to all keys in full heads with a
// mask: the form with fewer multiply-adds a head, expansion and absorption included. DeepSeek serves short prompts of
// DeepSeek-V3.2 with the mask (arXiv 2512.02556).
//
// absorbing  multiply-adds that a token brings to queries and outputs, or a key to its expansion
// all        queries that see no more keys than top_k
bool attends_to_chosen(const AttentionShape& a, std::int64_t queries, std::int64_t cached) {
  const std::int64_t top_k = a.index.top_k;
  if (top_k == 0 || queries + cached <= top_k) {
    return false;
  }
  const auto seen = [&](std::int64_t first) {  // by the first queries
    return base::as_double(first) * (base::as_double(cached) + 0.5 * base::as_double(first + 1));
  };
  const std::int64_t all = std::max(top_k - cached, std::int64_t{0});
  const double absorbing = base::as_double(a.kv_rank * (a.nope_dim + a.value_dim));
  const double chosen = seen(all) + base::as_double((queries - all) * top_k);
  const double latents =
      chosen * base::as_double(2 * a.kv_rank + a.rope_dim) + base::as_double(queries) * absorbing;
  const double heads = seen(queries) * base::as_double(a.nope_dim + a.rope_dim + a.value_dim) +
                       base::as_double(queries + cached) * absorbing;
  return latents < heads;
}

struct RecurrentNames {
  const char *norm, *quantise, *in, *convolution, *convolution_update, *gating, *to_heads, *scan,
      *update, *gather, *to_tokens, *gated_norm, *quantise_out, *out, *all_reduce,
      *decay = nullptr, *gate = nullptr, *select = nullptr, *select_reduce = nullptr,
      *select_norm = nullptr, *step = nullptr;
};
constexpr RecurrentNames kMamba = {"mamba.norm",         "mamba.quantise",    "mamba.in",
                                   "mamba.convolution",  "mamba.conv_update", nullptr,
                                   "mamba.to_heads",     "mamba.scan",        "mamba.update",
                                   "mamba.gather",       "mamba.to_tokens",   "mamba.gated_norm",
                                   "mamba.quantise_out", "mamba.out",         "mamba.all_reduce"};
constexpr RecurrentNames kDeltaNet = {
    "delta_net.norm",         "delta_net.quantise", "delta_net.in",         "delta_net.convolution",
    "delta_net.conv_update",  "delta_net.gating",   "delta_net.to_heads",   "delta_net.scan",
    "delta_net.update",       "delta_net.gather",   "delta_net.to_tokens",  "delta_net.gated_norm",
    "delta_net.quantise_out", "delta_net.out",      "delta_net.all_reduce", "delta_net.decay",
    "delta_net.gate"};
// The kernel of its scan multiplies with the gate.
constexpr RecurrentNames kMamba1 = {"mamba1.norm",
                                    "mamba1.quantise",
                                    "mamba1.in",
                                    "mamba1.convolution",
                                    "mamba1.conv_update",
                                    nullptr,
                                    "mamba1.to_heads",
                                    "mamba1.scan",
                                    "mamba1.update",
                                    "mamba1.gather",
                                    "mamba1.to_tokens",
                                    nullptr,
                                    "mamba1.quantise_out",
                                    "mamba1.out",
                                    "mamba1.all_reduce",
                                    nullptr,
                                    nullptr,
                                    "mamba1.x_proj",
                                    "mamba1.x_all_reduce",
                                    "mamba1.x_norm",
                                    "mamba1.dt_proj"};

const RecurrentNames& names_of(Recurrence kind) {
  return kind == Recurrence::ssm ? kMamba : kind == Recurrence::delta ? kDeltaNet : kMamba1;
}

}  // namespace

std::int64_t decode_context(const Mapping& mapping, const Batch& batch) {
  return ceil_div(batch.context, mapping.cache_parts());
}

void GraphBuilder::mixer(const LayerGroup& layer, double count) {
  if (layer.mixer == Mixer::none) {
    return;
  }
  if (!attends(layer.mixer)) {
    recurrent(model_.recurrent(layer.mixer), count);
    return;
  }
  if (layer.modulation > 0) {
    linear("attention.modulation", batch_.prefill_sequences,
           ceil_div(layer.modulation * hidden_, tp_), hidden_, precision_.plain,
           count * static_cast<double>(layer.streams));
  }
  norm_after_feed_forward("attention.norm", count);
  quantise("attention.quantise", own_elements(), precision_.attention, count, QuantisedAfter::norm);
  if (model_.attention.kind == AttentionKind::gqa) {
    grouped_query(layer, count);
  } else {
    latent(count);
  }
  reduce("attention.all_reduce", precision_.attention, count);
}

// Every rank of a context group attends to its part of the cache with all heads that share it. The partial outputs
// (with their log-sum-exp) are merged.
//
// parts   ranks that share the tokens of a cache
// shared  those of them that are tensor-parallel ranks, which gather each other's query heads first
// merged  bytes of the partial outputs
void GraphBuilder::decode_attention(AttentionHeads heads, double count) {
  if (batch_.decode_sequences == 0) {
    return;
  }
  const std::int64_t parts = mapping_.cache_parts();
  const std::int64_t shared = mapping_.decode_context_parallel;
  constexpr double kLogSumExpBytes = 4.0;
  const auto merged = [&] {
    return static_cast<double>(decode_rows_ * heads.query_heads) *
           (static_cast<double>(heads.value_dim) * kHiddenBytes + kLogSumExpBytes);
  };
  if (shared > 1) {
    heads.query_heads *= shared;
    collective("attention.gather_queries", CollectiveKind::all_gather,
               static_cast<double>(decode_rows_ * heads.query_heads * heads.qk_dim) * kHiddenBytes,
               shared, count);
  }
  if (heads.window > 0) {
    heads.window = ceil_div(heads.window, parts);
  }
  call("attention.decode",
       DecodeAttention{heads, batch_.decode_sequences, batch_.query_tokens,
                       decode_context(mapping_, batch_)},
       count);
  if (shared > 1) {
    collective("attention.merge", CollectiveKind::reduce_scatter, merged(), shared, count);
    heads.query_heads /= shared;
  }
  collective("attention.merge", CollectiveKind::all_reduce, merged(), cp_, count, tp_);
}

// `passed_elements`: elements of one token that its rank hands to the others. They belong to `passed_heads` heads.
// Where ranks trade tokens for heads and there are fewer heads than ranks, each head is copied to several ranks.
//
// passed  bytes that one rank hands on
// part    the heads of one rank after the trade
// copies  sent heads / different heads
// others  keys that a rank's queries see before its own, in the mean (ring)
void GraphBuilder::prefill_attention(const AttentionHeads& heads, double passed_elements,
                                     std::int64_t passed_heads, double count) {
  if (batch_.prefill_sequences == 0) {
    return;
  }
  const std::int64_t sequences = batch_.prefill_sequences;
  const std::int64_t keys = batch_.prefill_tokens + batch_.cached_tokens;
  const double passed =
      static_cast<double>(sequences * ceil_div(keys, cp_)) * passed_elements * kHiddenBytes;
  if (trades_heads()) {
    AttentionHeads part = heads;
    part.query_heads = heads.query_heads / cp_;
    part.kv_heads = ceil_div(heads.kv_heads, cp_);
    part.cache_elements = ceil_div(heads.cache_elements, std::min(cp_, heads.kv_heads));
    const double query = static_cast<double>(prefill_rows_ * heads.query_heads) * kHiddenBytes;
    const double copies =
        static_cast<double>(ceil_div(passed_heads, cp_) * cp_) / static_cast<double>(passed_heads);
    collective("attention.to_heads", CollectiveKind::all_to_all,
               query * static_cast<double>(heads.qk_dim) + copies * passed, cp_, count, tp_);
    call("attention.prefill",
         PrefillAttention{part, sequences, batch_.prefill_tokens, batch_.cached_tokens}, count);
    collective("attention.to_tokens", CollectiveKind::all_to_all,
               query * static_cast<double>(heads.value_dim), cp_, count, tp_);
    return;
  }
  const std::int64_t others =
      heads.bidirectional ? batch_.cached_tokens + batch_.prefill_tokens - chunk_
                          : balanced_before(batch_.cached_tokens, batch_.prefill_tokens, chunk_);
  call("attention.prefill", PrefillAttention{heads, sequences, chunk_, others}, count);
  if (fusion_.keeps_scores) {
    // The first product writes them. Scale, mask and softmax are one kernel, dropout another one, which writes a mask of
    // bytes too. The second product reads them.
    const double scores = static_cast<double>(sequences * heads.query_heads) *
                          static_cast<double>(chunk_ * keys) * kHiddenBytes;
    elementwise("attention.scores", 3.0 * scores, 3.5 * scores, count);
  }
  if (fusion_.dropout && !fusion_.keeps_scores) {
    const auto own = static_cast<double>(chunk_);
    const double seen = static_cast<double>(others) + (heads.bidirectional ? own : 0.5 * own);
    const double window = heads.window > 0 ? static_cast<double>(heads.window) : seen;
    call("attention.dropout",
         dropout_of_scores(static_cast<double>(sequences * heads.query_heads) * own *
                           std::min(seen, window)),
         count);
  }
  if (cp_ > 1) {
    // As slow as the hop that closes the ring, the one between the ranks farthest apart.
    collective("attention.ring", CollectiveKind::send_receive, passed, 2,
               count * static_cast<double>(cp_ - 1), tp_ * (cp_ - 1));
    graph_.back().overlapped = true;
    // The gradients of keys and values travel with them.
    std::get<Collective>(graph_.back().op).backward_bytes = 2.0 * passed;
    // The output of each other rank's keys is added to the sum, which is in fp32 (NVIDIA/TransformerEngine
    // pytorch/attention/dot_product_attention/context_parallel.py).
    const double outputs =
        static_cast<double>(sequences * chunk_ * heads.query_heads * heads.value_dim);
    elementwise("attention.merge_parts", outputs * (kHiddenBytes + 4.0), outputs * 4.0,
                count * static_cast<double>(cp_ - 1));
  }
}

void GraphBuilder::grouped_query(const LayerGroup& layer, double count) {
  const AttentionShape& a = model_.attention;
  const std::int64_t heads = a.query_heads / tp_;
  // Copied when there are fewer than ranks.
  const std::int64_t kv_heads = ceil_div(layer.kv_heads, tp_);
  const std::int64_t query = heads * a.head_dim;
  const std::int64_t kv = kv_heads * a.head_dim;
  const auto rows = static_cast<double>(tokens_);
  if (a.q_rank > 0) {
    streamed("attention.down", tokens_, a.q_rank + 2 * kv, hidden_, precision_.attention, count,
             layer.streams);
    const double latent = rows * static_cast<double>(a.q_rank) * kHiddenBytes;
    elementwise("attention.latent_norm", latent, latent, count);
    streamed("attention.query", tokens_, query, a.q_rank, precision_.attention, count,
             layer.streams);
  } else {
    streamed("attention.qkv", tokens_, (a.output_gate ? 2 : 1) * query + 2 * kv, hidden_,
             precision_.attention, count, layer.streams);
  }
  const double qk = rows * static_cast<double>(query + kv);
  const double fresh = rows * static_cast<double>(2 * kv);
  if (fusion_.unfused_rope) {
    call("attention.rope", unfused_rope(qk), count);
  } else if (fusion_.separate_cache_write) {
    elementwise("attention.rope", qk * kHiddenBytes, qk * kHiddenBytes, count);
  } else {
    elementwise(
        "attention.rope", (qk + rows * static_cast<double>(kv)) * kHiddenBytes,
        rows * static_cast<double>(query) * kHiddenBytes + byte_count(fresh, precision_.kv_cache),
        count);
  }
  if (fusion_.separate_cache_write) {
    elementwise("attention.cache_write", fresh * kHiddenBytes,
                byte_count(fresh, precision_.kv_cache), count);
  }
  if (a.joint_qk_norm) {
    constexpr double kSquares = 2.0 * 4.0;  // fp32 sums over the queries and over the keys
    collective("attention.qk_all_reduce", CollectiveKind::all_reduce, rows * kSquares, tp_, count);
  }
  if (a.qk_norm) {
    elementwise("attention.qk_norm", qk * kHiddenBytes, qk * kHiddenBytes, count);
  }
  const AttentionHeads shape{heads,
                             kv_heads,
                             a.head_dim,
                             a.head_dim,
                             layer.window,
                             2 * kv,
                             precision_.kv_cache,
                             layer.mixer == Mixer::chunked_attention,
                             layer.mixer == Mixer::bidirectional_attention};
  decode_attention(shape, count);
  prefill_attention(shape, static_cast<double>(2 * kv), kv_heads, count);
  const double outputs = rows * static_cast<double>(query);
  if (a.output_gate) {
    elementwise("attention.gate", 2.0 * outputs * kHiddenBytes, outputs * kHiddenBytes, count);
  }
  quantise("attention.quantise_out", outputs, precision_.attention_output, count,
           QuantisedAfter::attention);
  streamed("attention.out", tokens_, hidden_, query, precision_.attention_output, count,
           layer.streams);
}

// Decode attends in the latent space, with weights absorbed into queries and outputs. Prefill expands the latent of
// new and cached tokens to full heads. Where an index chooses keys, prefill attends in the latent space too, to the
// chosen keys, if that is less work.
void GraphBuilder::latent(double count) {
  const AttentionShape& a = model_.attention;
  const LinearFormat format = precision_.attention;
  const std::int64_t heads = a.query_heads / tp_;
  const std::int64_t cache = a.kv_rank + a.rope_dim;
  const std::int64_t qk = a.nope_dim + a.rope_dim;
  const std::int64_t keys = batch_.prefill_tokens + batch_.cached_tokens;
  const bool chosen =
      attends_to_chosen(a, batch_.prefill_tokens, batch_.cached_tokens);  // in prefill
  linear("attention.down", tokens_, a.q_rank + cache, hidden_, format, count);
  elementwise("attention.latent_norm",
              static_cast<double>(tokens_ * (a.q_rank + cache)) * kHiddenBytes,
              static_cast<double>(tokens_ * a.q_rank) * kHiddenBytes +
                  byte_count(static_cast<double>(tokens_ * cache), precision_.kv_cache),
              count);
  if (a.q_rank > 0) {
    quantise("attention.quantise_latent", static_cast<double>(tokens_ * a.q_rank), format, count,
             QuantisedAfter::other);
  }
  linear("attention.query", tokens_, heads * qk, a.q_rank > 0 ? a.q_rank : hidden_, format, count);
  if (fusion_.unfused_rope) {
    call("attention.rope", unfused_rope(static_cast<double>(tokens_ * (heads + 1) * a.rope_dim)),
         count);
  }
  if (a.index.top_k > 0) {
    index_scores(count);
  }
  const LinearFormat plain = precision_.plain;  // the absorbed weights are not quantised
  const std::int64_t absorbed = decode_rows_ + (chosen ? prefill_rows_ : 0);
  linear("attention.absorb_query", absorbed, a.kv_rank, a.nope_dim, plain, count, heads);
  if (!chosen) {
    const std::int64_t own = trades_heads() ? heads / cp_ : heads;
    quantise("attention.quantise_keys",
             static_cast<double>(batch_.prefill_sequences * keys * a.kv_rank), format, count,
             QuantisedAfter::other);
    linear("attention.expand", batch_.prefill_sequences * keys, own * (a.nope_dim + a.value_dim),
           a.kv_rank, format, count);
  }
  const AttentionHeads latents{
      heads, 1, cache, a.kv_rank, a.index.top_k, cache, precision_.kv_cache};
  const AttentionHeads expanded{
      heads, heads, qk, a.value_dim, 0, heads * (qk + a.value_dim), plain.activations};
  decode_attention(latents, count);
  prefill_attention(chosen ? latents : expanded, static_cast<double>(cache), 1, count);
  linear("attention.absorb_value", absorbed, a.value_dim, a.kv_rank, plain, count, heads);
  const LinearFormat output = precision_.attention_output;
  quantise("attention.quantise_out", static_cast<double>(tokens_ * heads * a.value_dim), output,
           count, QuantisedAfter::absorbed);
  linear("attention.out", tokens_, hidden_, heads * a.value_dim, output, count);
}

// The index is small, and every tensor-parallel rank computes all of it.
void GraphBuilder::index_scores(double count) {
  const AttentionShape& a = model_.attention;
  const SparseIndex& index = a.index;
  linear("index.query", tokens_, index.heads * index.dim, a.q_rank > 0 ? a.q_rank : hidden_,
         precision_.attention, count);
  linear("index.key", tokens_, index.dim + index.heads, hidden_, precision_.attention, count);
  const auto made = static_cast<double>(tokens_ * (index.heads + 1) * index.dim);
  elementwise("index.rope", made * kHiddenBytes, byte_count(made, precision_.index), count);
  const auto scores = [&](std::string_view name, std::int64_t sequences, std::int64_t queries,
                          std::int64_t cached) {
    if (sequences > 0) {
      call(name,
           IndexScores{index.heads, index.dim, index.top_k, sequences, queries, cached,
                       precision_.index},
           count);
    }
  };
  scores("index.decode", batch_.decode_sequences, batch_.query_tokens,
         decode_context(mapping_, batch_));
  scores("index.prefill", batch_.prefill_sequences, chunk_,
         balanced_before(batch_.cached_tokens, batch_.prefill_tokens, chunk_));
}

// The convolution multiplies the new tokens of every sequence with the conv_kernel − 1 tokens before them, which are
// kept per sequence. A context group cuts the kept tokens of decoding sequences by channels.
void GraphBuilder::convolution(const RecurrentShape& shape, std::int64_t all, double count) {
  const RecurrentNames& names = names_of(shape.kind);
  const auto emit = [&](std::string_view name, std::int64_t sequences, std::int64_t rows,
                        std::int64_t channels) {
    if (rows > 0) {
      const auto kept = static_cast<double>(sequences * channels * (shape.conv_kernel - 1));
      const double bytes = (static_cast<double>(rows * channels) + kept) * kHiddenBytes;
      const auto flop = static_cast<double>(2 * rows * channels * shape.conv_kernel);
      call(name, Elementwise{bytes, bytes, flop, shape.conv_kernel}, count);
    }
  };
  emit(names.convolution_update, batch_.decode_sequences, decode_rows_, ceil_div(all, cp_));
  emit(names.convolution, batch_.prefill_sequences, prefill_rows_, all);
}

// A rank has a part of the channels, so what they select is added up over ranks.
void GraphBuilder::selection(const RecurrentShape& shape, double count) {
  const RecurrentNames& names = names_of(shape.kind);
  const std::int64_t inner = shape.inner() / tp_;
  const double selected =
      static_cast<double>(tokens_) * static_cast<double>(shape.selected()) * kHiddenBytes;
  linear(names.select, tokens_, shape.selected(), inner, precision_.recurrent, count);
  collective(names.select_reduce, CollectiveKind::all_reduce, selected, tp_, count);
  if (shape.selection_norm) {
    elementwise(names.select_norm, selected, selected, count);
  }
  linear(names.step, tokens_, inner, shape.step_rank, precision_.recurrent, count);
}

// Between the convolution and the norm a context group trades tokens for heads, since the recurrence must see a
// sequence in order.
//
// ways      ranks that share the heads of a sequence after the trade
// inner     values of one token on a tensor-parallel rank
// gate      what the first projection makes for the gate of each value
// keys      keys of one token on that rank; queries are as many
// channels  values, keys and queries: what the convolution sees
// traded    elements of a token that go to the heads: of Mamba-1 also steps and gates, B and C
// handed    bytes that a rank hands out for one channel
void GraphBuilder::recurrent(const RecurrentShape& shape, double count) {
  const RecurrentNames& names = names_of(shape.kind);
  const LinearFormat format = precision_.recurrent;
  const std::int64_t ways = tp_ * cp_;
  const auto rows = static_cast<double>(tokens_);
  const std::int64_t inner = shape.inner() / tp_;
  const std::int64_t keys = ceil_div(shape.key_heads, tp_) * shape.key_dim;
  const std::int64_t channels = shape.is_selective() ? inner : inner + 2 * keys;
  const std::int64_t traded = shape.is_selective() ? 3 * inner + 2 * keys : channels;
  norm_after_feed_forward(names.norm, count);
  quantise(names.quantise, rows * static_cast<double>(hidden_), format, count,
           QuantisedAfter::norm);
  const std::int64_t gate = shape.gate_rank > 0 ? shape.repeated() : inner;
  linear(names.in, tokens_, gate + channels + shape.head_scalars() / tp_, hidden_, format, count);
  if (shape.gate_rank > 0) {
    linear(names.decay, tokens_, shape.decays() / tp_, shape.gate_rank, format, count);
    linear(names.gate, tokens_, shape.gates() / tp_, shape.gate_rank, format, count);
  }
  convolution(shape, channels, count);
  if (shape.is_selective()) {
    selection(shape, count);
  }
  if (names.gating != nullptr) {
    const double scalars =
        rows * static_cast<double>((shape.head_scalars() + shape.decays()) / tp_);
    elementwise(names.gating, scalars * kHiddenBytes, scalars * 4.0, count);
  }
  const double handed = static_cast<double>(prefill_rows_) * kHiddenBytes;
  const RecurrentHeads heads{shape.kind,    shape.heads / ways, ceil_div(shape.key_heads, ways),
                             shape.key_dim, shape.value_dim,    precision_.state};
  if (batch_.decode_sequences > 0) {
    call(names.update, StateUpdate{heads, batch_.decode_sequences, batch_.query_tokens}, count);
    collective(names.gather, CollectiveKind::all_gather,
               static_cast<double>(decode_rows_ * inner) * kHiddenBytes, cp_, count, tp_);
  }
  if (batch_.prefill_sequences > 0) {
    collective(names.to_heads, CollectiveKind::all_to_all, handed * static_cast<double>(traded),
               cp_, count, tp_);
    call(names.scan, StateScan{heads, batch_.prefill_sequences, batch_.prefill_tokens, shape.chunk},
         count);
    collective(names.to_tokens, CollectiveKind::all_to_all, handed * static_cast<double>(inner),
               cp_, count, tp_);
  }
  const double outputs = rows * static_cast<double>(inner);
  if (names.gated_norm != nullptr) {
    elementwise(names.gated_norm, 2.0 * outputs * kHiddenBytes, outputs * kHiddenBytes, count);
  }
  quantise(names.quantise_out, outputs, format, count, QuantisedAfter::other);
  linear(names.out, tokens_, hidden_, inner, format, count);
  reduce(names.all_reduce, format, count);
}

}  // namespace roofcast::workloads
