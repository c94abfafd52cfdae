// SPDX-License-Identifier: Apache-2.0
//
// Emits the calls of one iteration. Internal to workloads: mixer_graph.cpp has the emitters of mixers,
// feed_forward_graph.cpp those of feed-forwards, recommender_graph.cpp those of recommenders.
#pragma once

#include "base/integers.hpp"
#include "workloads/graph/graph.hpp"
#include "workloads/graph/layer_calls.hpp"

namespace roofcast::workloads {

using base::byte_count;
using base::ceil_div;

class GraphBuilder {
 public:
  GraphBuilder(const Architecture& model, const Precision& precision, const Mapping& mapping,
               Fusion fusion, const Batch& batch, Graph& graph);
  void build(LayerCalls* calls = nullptr);

 private:
  // Mixers
  void mixer(const LayerGroup& layer, double count);
  void grouped_query(const LayerGroup& layer, double count);
  void latent(double count);
  void index_scores(double count);
  void decode_attention(AttentionHeads heads, double count);
  void prefill_attention(const AttentionHeads& heads, double passed_elements,
                         std::int64_t passed_heads, double count);
  void recurrent(const RecurrentShape& shape, double count);
  void convolution(const RecurrentShape& shape, std::int64_t all, double count);
  void selection(const RecurrentShape& shape, double count);

  // Feed-forwards
  void dense(const LayerGroup& layer, double count);
  void experts(double count);
  LinearFormat router_format() const;
  bool joins_shared_experts() const;
  void feed_forward(const char* up, const char* act, const char* down, std::int64_t intermediate,
                    bool gated, LinearFormat format, double count, std::int64_t streams = 1);

  // Recommenders (recommender_graph.cpp)
  void look_up(const Recommender& recommender);
  void chain(std::string_view name, std::int64_t from, const std::vector<std::int64_t>& widths);

  void head();
  void predict(std::int64_t token);

  // The parts of these emitters
  bool trades_heads() const { return cp_ > 1 && mapping_.context_method == ContextMethod::ulysses; }
  double rows_bytes() const {
    return static_cast<double>(tokens_) * static_cast<double>(hidden_) * kHiddenBytes;
  }
  void call(std::string_view name, Operator op, double count) {
    graph_.push_back({std::move(op), name, count, in_layers_});
  }
  // One FLOP for each byte read is near enough: these kernels are never compute bound.
  void elementwise(std::string_view name, double read, double written, double count) {
    call(name, Elementwise{read, written, read}, count);
  }
  void linear(std::string_view name, std::int64_t m, std::int64_t n, std::int64_t k,
              LinearFormat format, double count, std::int64_t groups = 1) {
    if (m > 0) {
      call(name, Gemm{m, n, k, groups, format.activations, format.weights, 0, format.storage},
           count);
    }
  }
  // Every stream has its own weights for its part of the tokens.
  void streamed(std::string_view name, std::int64_t m, std::int64_t n, std::int64_t k,
                LinearFormat format, double count, std::int64_t streams) {
    linear(name, ceil_div(m, streams), n, k, format, count * static_cast<double>(streams));
  }
  bool all_reduces_normalise() const {
    return fusion_.norm && tp_ > 1 && !mapping_.sequence_parallel;
  }
  bool norm_is_in_all_reduce() const {
    return all_reduces_normalise() && rows_bytes() <= kFusedNormBytes;
  }
  bool fuses_quantise(LinearFormat format, QuantisedAfter after) const {
    if (after == QuantisedAfter::absorbed && !batch_.loss) {
      return false;
    }
    switch (fusion_.quantise) {
      case QuantiseFusion::none:
        return false;
      case QuantiseFusion::tensors:
        return format.activations == NumberFormat::fp8;
      case QuantiseFusion::all_but_fp8_blocks:
        return format.activations != NumberFormat::fp8_block;
      case QuantiseFusion::all_reduces:
        return after == QuantisedAfter::attention ||
               (after == QuantisedAfter::norm && norm_is_in_all_reduce());
      case QuantiseFusion::all:
        return true;
    }
    return true;
  }
  // Activations arrive in bf16 and are multiplied in a narrower format. Empty where another kernel quantises them.
  void quantise(std::string_view name, double elements, LinearFormat format, double count,
                QuantisedAfter after);
  // RMS norm with the residual addition in one kernel, which reads both streams and writes both. Empty where the
  // all-reduce before it does that.
  void norm(std::string_view name, double count);
  // The norm before a mixer, which follows feed-forwards.
  void norm_after_feed_forward(std::string_view name, double count);
  // `format`: of the linear layer that is reduced. All layers of a kind have one. `meets_norm`: a pass may join it with
  // the norm after it.
  void reduce(std::string_view name, LinearFormat format, double count, bool meets_norm = true);
  // Elements of the tokens that a rank quantises itself.
  double own_elements() const {
    const bool shares = fusion_.gathers_quantised && mapping_.sequence_parallel;
    return static_cast<double>(tokens_ * hidden_) / static_cast<double>(shares ? tp_ : 1);
  }
  void collective(std::string_view name, CollectiveKind kind, double bytes, std::int64_t ranks,
                  double count, std::int64_t stride = 1);

  const Architecture& model_;
  const Precision& precision_;
  const Mapping& mapping_;
  const Fusion fusion_;
  const Batch& batch_;
  Graph& graph_;
  const std::int64_t hidden_;
  const std::int64_t tp_;
  const std::int64_t cp_;
  const std::int64_t decode_rows_;
  const std::int64_t chunk_;         // new tokens of each prompt on this rank
  const std::int64_t prefill_rows_;  // new tokens of all prompts on this rank
  const std::int64_t tokens_;        // rows of the linear layers of this rank
  bool in_layers_ = false;
};

}  // namespace roofcast::workloads
