// SPDX-License-Identifier: Apache-2.0
#include "models/work.hpp"

#include <algorithm>

#include "base/overloaded.hpp"

namespace roofcast::models {
namespace {

constexpr double kHiddenBytes = 2.0;  // bf16 outputs and queries

Work work(double flop, double bytes, double message = 0.0) {
  return {base::Flops::from_si(flop), base::Bytes::from_si(bytes), base::Bytes::from_si(message)};
}

double byte_count(double elements, base::NumberFormat format) {
  return base::bytes_of(elements, format).si();
}

double query_bytes(const workloads::AttentionHeads& heads, double rows) {
  return rows * static_cast<double>(heads.query_heads * (heads.qk_dim + heads.value_dim)) *
         kHiddenBytes;
}

}  // namespace

double causal_pairs(std::int64_t new_tokens, std::int64_t cached_tokens, std::int64_t window) {
  const auto n = static_cast<double>(new_tokens);
  const auto cached = static_cast<double>(cached_tokens);
  if (window <= 0 || new_tokens + cached_tokens <= window) {
    return n * cached + n * (n + 1.0) / 2.0;
  }
  // The first `growing` queries see fewer keys than the window holds.
  const auto w = static_cast<double>(window);
  const double growing = std::max(0.0, w - cached - 1.0);
  return growing * cached + growing * (growing + 1.0) / 2.0 + (n - growing) * w;
}

Work gemm_work(const workloads::Gemm& op) {
  const auto m = static_cast<double>(op.m);
  const auto n = static_cast<double>(op.n);
  const auto k = static_cast<double>(op.k);
  const auto batch = static_cast<double>(op.batch);
  return work(2.0 * m * n * k * batch,
              batch * (byte_count(m * k, op.activations) + byte_count(k * n, op.weights) +
                       m * n * kHiddenBytes));
}

Work grouped_gemm_work(const workloads::GroupedGemm& op) {
  const auto n = static_cast<double>(op.n);
  const auto k = static_cast<double>(op.k);
  return work(2.0 * op.pairs * n * k, byte_count(op.distinct * n * k, op.weights) +
                                          byte_count(op.pairs * k, op.activations) +
                                          op.pairs * n * kHiddenBytes);
}

Work prefill_attention_work(const workloads::PrefillAttention& op) {
  const auto& h = op.heads;
  const auto sequences = static_cast<double>(op.sequences);
  const double pairs = sequences * causal_pairs(op.new_tokens, op.cached_tokens, h.window);
  const std::int64_t reach = op.new_tokens + op.cached_tokens;
  const std::int64_t keys = h.window > 0 ? std::min(reach, op.new_tokens + h.window - 1) : reach;
  return work(2.0 * static_cast<double>((h.qk_dim + h.value_dim) * h.query_heads) * pairs,
              query_bytes(h, sequences * static_cast<double>(op.new_tokens)) +
                  sequences * byte_count(static_cast<double>(keys * h.cache_elements), h.cache));
}

Work decode_attention_work(const workloads::DecodeAttention& op) {
  const auto& h = op.heads;
  const auto sequences = static_cast<double>(op.sequences);
  const auto queries = static_cast<double>(op.query_tokens);
  const auto keys = static_cast<double>(h.window > 0 ? std::min(op.context, h.window) : op.context);
  return work(2.0 * static_cast<double>((h.qk_dim + h.value_dim) * h.query_heads) * sequences *
                  queries * keys,
              query_bytes(h, sequences * queries) +
                  sequences * byte_count(keys * static_cast<double>(h.cache_elements), h.cache));
}

Work elementwise_work(const workloads::Elementwise& op) {
  return work(op.flop, op.read_bytes + op.written_bytes);
}

Work expert_routing_work(const workloads::ExpertRouting& op) {
  const auto hidden = static_cast<double>(op.hidden);
  const auto tokens = static_cast<double>(op.tokens);
  const double scores = tokens * static_cast<double>(op.experts) * 4.0;
  const double permuted = 2.0 * byte_count(op.pairs * hidden, op.activations);
  const double combined = op.pairs * hidden * kHiddenBytes + tokens * hidden * kHiddenBytes;
  return work(op.pairs * hidden, scores + permuted + combined);
}

Work collective_work(const workloads::Collective& op) {
  using workloads::CollectiveKind;
  const auto n = static_cast<double>(op.ranks);
  if (op.ranks <= 1) {
    return {};
  }
  const double remote = (n - 1.0) / n;
  switch (op.kind) {
    case CollectiveKind::all_reduce:
      return work(0.0, 0.0, 2.0 * remote * op.bytes);
    case CollectiveKind::all_gather:
    case CollectiveKind::reduce_scatter:
    case CollectiveKind::all_to_all:
      return work(0.0, 0.0, remote * op.bytes);
    case CollectiveKind::send_receive:
      return work(0.0, 0.0, op.bytes);
  }
  return {};
}

Work work_of(const workloads::Operator& op) {
  return std::visit(
      base::overloaded{
          [](const workloads::Gemm& o) { return gemm_work(o); },
          [](const workloads::GroupedGemm& o) { return grouped_gemm_work(o); },
          [](const workloads::PrefillAttention& o) { return prefill_attention_work(o); },
          [](const workloads::DecodeAttention& o) { return decode_attention_work(o); },
          [](const workloads::Elementwise& o) { return elementwise_work(o); },
          [](const workloads::ExpertRouting& o) { return expert_routing_work(o); },
          [](const workloads::Collective& o) { return collective_work(o); },
      },
      op);
}

}  // namespace roofcast::models
