// SPDX-License-Identifier: Apache-2.0
#include "models/work.hpp"

#include <algorithm>
#include <cmath>

#include "base/overloaded.hpp"

namespace roofcast::models {
namespace {

using base::byte_count;
using workloads::kHiddenBytes;

Work work(double flop, double bytes, double message = 0.0) {
  return {base::Flops::from_si(flop), base::Bytes::from_si(bytes), base::Bytes::from_si(message)};
}

// Share of the weights that is multiplied.
double kept(base::WeightStorage storage) { return storage.sparse ? 0.5 : 1.0; }

double query_bytes(const workloads::AttentionHeads& heads, double rows) {
  return rows * static_cast<double>(heads.query_heads * (heads.qk_dim + heads.value_dim)) *
         kHiddenBytes;
}

// Bytes of one token of a recurrent mixer: values in and out, keys and queries, one scalar a head, and of a selective scan
// the gate.
double recurrent_row_bytes(const workloads::RecurrentHeads& h) {
  const std::int64_t scalars = h.kind == workloads::Recurrence::selective ? 2 : 1;
  return kHiddenBytes *
         static_cast<double>(h.heads * (2 * h.value_dim + scalars) + 2 * h.key_heads * h.key_dim);
}

// FLOP of one token and one element of a state, one after the other.
double update_flop(workloads::Recurrence kind) {
  return kind == workloads::Recurrence::ssm     ? 6.0
         : kind == workloads::Recurrence::delta ? 7.0
                                                : 8.0;
}

}  // namespace

double causal_pairs(std::int64_t new_tokens, std::int64_t cached_tokens, std::int64_t window,
                    bool chunked) {
  if (chunked && window > 0) {
    // The pairs of the first n tokens, chunk by chunk.
    const auto up_to = [window](std::int64_t n) {
      const auto w = static_cast<double>(window);
      const auto rest = static_cast<double>(n % window);
      return static_cast<double>(n / window) * w * (w + 1.0) / 2.0 + rest * (rest + 1.0) / 2.0;
    };
    return up_to(cached_tokens + new_tokens) - up_to(cached_tokens);
  }
  const auto n = static_cast<double>(new_tokens);
  const auto cached = static_cast<double>(cached_tokens);
  if (window <= 0 || new_tokens + cached_tokens <= window) {
    return n * cached + n * (n + 1.0) / 2.0;
  }
  // The first `growing` queries see fewer keys than the window holds; each later one sees w.
  const auto w = static_cast<double>(window);
  const double growing = std::max(0.0, w - cached - 1.0);
  return growing * cached + growing * (growing + 1.0) / 2.0 + (n - growing) * w;
}

double attended_pairs(const workloads::AttentionHeads& heads, std::int64_t new_tokens,
                      std::int64_t cached_tokens) {
  if (!heads.bidirectional) {
    return causal_pairs(new_tokens, cached_tokens, heads.window, heads.chunked);
  }
  const auto n = static_cast<double>(new_tokens + cached_tokens);
  const auto side = static_cast<double>(heads.window);
  const double all = side > 0.0 && side < n ? n * (2.0 * side + 1.0) - side * (side + 1.0) : n * n;
  return static_cast<double>(new_tokens) / n * all;
}

Work gemm_work(const workloads::Gemm& op) {
  const auto m = static_cast<double>(op.m);
  const auto n = static_cast<double>(op.n);
  const auto k = static_cast<double>(op.k);
  const auto batch = static_cast<double>(op.batch);
  return work(2.0 * kept(op.storage) * m * n * k * batch,
              batch * (byte_count(m * k, op.activations) +
                       base::bytes_of(k * n, op.weights, op.storage).si() + m * n * kHiddenBytes));
}

Work grouped_gemm_work(const workloads::GroupedGemm& op) {
  const auto n = static_cast<double>(op.n);
  const auto k = static_cast<double>(op.k);
  return work(2.0 * kept(op.storage) * op.pairs * n * k,
              base::bytes_of(op.distinct * n * k, op.weights, op.storage).si() +
                  byte_count(op.pairs * k, op.activations) + op.pairs * n * kHiddenBytes);
}

Work prefill_attention_work(const workloads::PrefillAttention& op) {
  const auto& h = op.heads;
  const auto sequences = static_cast<double>(op.sequences);
  const double pairs = sequences * attended_pairs(h, op.new_tokens, op.cached_tokens);
  const std::int64_t reach = op.new_tokens + op.cached_tokens;
  std::int64_t keys = reach;
  if (h.chunked && h.window > 0) {
    keys = reach - op.cached_tokens / h.window * h.window;
  } else if (h.window > 0 && !h.bidirectional) {
    keys = std::min(reach, op.new_tokens + h.window - 1);
  }
  return work(2.0 * static_cast<double>((h.qk_dim + h.value_dim) * h.query_heads) * pairs,
              query_bytes(h, sequences * static_cast<double>(op.new_tokens)) +
                  sequences * byte_count(static_cast<double>(keys * h.cache_elements), h.cache));
}

double visible_keys(const workloads::AttentionHeads& h, std::int64_t context) {
  if (h.window == 0 || context <= h.window) {
    return static_cast<double>(context);
  }
  return h.chunked ? static_cast<double>(h.window + 1) / 2.0 : static_cast<double>(h.window);
}

Work decode_attention_work(const workloads::DecodeAttention& op) {
  const auto& h = op.heads;
  const auto sequences = static_cast<double>(op.sequences);
  const auto queries = static_cast<double>(op.query_tokens);
  const double keys = visible_keys(h, op.context);
  return work(2.0 * static_cast<double>((h.qk_dim + h.value_dim) * h.query_heads) * sequences *
                  queries * keys,
              query_bytes(h, sequences * queries) +
                  sequences * byte_count(keys * static_cast<double>(h.cache_elements), h.cache));
}

Work index_scores_work(const workloads::IndexScores& op) {
  constexpr double kIndexScoreBytes = 4.0;
  const auto sequences = static_cast<double>(op.sequences);
  const auto queries = static_cast<double>(op.queries);
  const auto dim = static_cast<double>(op.dim);
  const auto heads = static_cast<double>(op.heads);
  const auto keys = static_cast<double>(op.queries + op.cached);
  const double pairs = causal_pairs(op.queries, op.cached, 0);
  const double chosen = queries * std::min(keys, static_cast<double>(op.top_k));
  return work(2.0 * heads * dim * sequences * pairs,
              sequences * (byte_count((keys + queries * heads) * dim, op.keys) +
                           kIndexScoreBytes * (2.0 * pairs + chosen)));
}

Work state_scan_work(const workloads::StateScan& op) {
  const auto& h = op.heads;
  const auto heads = static_cast<double>(h.heads);
  const auto key = static_cast<double>(h.key_dim);
  const auto value = static_cast<double>(h.value_dim);
  const auto chunk = static_cast<double>(std::min(op.chunk, op.tokens));
  const auto tokens = static_cast<double>(op.sequences * op.tokens);
  const double per_token =
      h.kind == workloads::Recurrence::selective ? update_flop(h.kind) * heads * key * value
      : h.kind == workloads::Recurrence::ssm
          ? (chunk + 1.0) * (key * static_cast<double>(h.key_heads) + value * heads) +
                4.0 * key * value * heads
          : heads * ((chunk + 1.0) * (3.0 * key + 2.0 * value) + 6.0 * key * value +
                     chunk * chunk / 3.0);
  return work(tokens * per_token,
              tokens * recurrent_row_bytes(h) + 2.0 * static_cast<double>(op.sequences) *
                                                    byte_count(heads * key * value, h.state));
}

Work state_update_work(const workloads::StateUpdate& op) {
  const auto& h = op.heads;
  const auto state = static_cast<double>(h.heads * h.key_dim * h.value_dim);
  const auto sequences = static_cast<double>(op.sequences);
  const auto tokens = static_cast<double>(op.tokens);
  const double read = byte_count(state, op.copied ? base::NumberFormat::bf16 : h.state);
  return work(
      update_flop(h.kind) * state * sequences * tokens,
      sequences * (read + tokens * byte_count(state, h.state) + tokens * recurrent_row_bytes(h)));
}

// Thread i of a warp reads the bytes from i · step on. Sectors that overlap are counted once: next to each other they are
// one run of bytes, and a step of a sector or more gives each thread its own.
double sectors_of_request(const workloads::Elementwise& op) {
  const auto bytes = static_cast<double>(op.element_bytes);
  const double step = bytes * static_cast<double>(op.stride);
  return step < kSectorBytes ? std::ceil(((kWarpThreads - 1.0) * step + bytes) / kSectorBytes)
                             : kWarpThreads * std::ceil(bytes / kSectorBytes);
}

Work elementwise_work(const workloads::Elementwise& op) {
  const double needed = static_cast<double>(op.element_bytes) * kWarpThreads / kSectorBytes;
  const double moved = op.stride > 1 ? sectors_of_request(op) / needed : 1.0;
  return work(op.flop, moved * op.read_bytes + op.written_bytes);
}

Work table_lookup_work(const workloads::TableLookup& op) {
  constexpr double kIndexBytes = 8.0;
  const auto width = static_cast<double>(op.width);
  return work(op.rows * width, byte_count(op.distinct * width, op.format) +
                                   kIndexBytes * (op.rows + op.bags) +
                                   op.bags * width * kHiddenBytes);
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
    case CollectiveKind::broadcast:
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
          [](const workloads::IndexScores& o) { return index_scores_work(o); },
          [](const workloads::StateScan& o) { return state_scan_work(o); },
          [](const workloads::StateUpdate& o) { return state_update_work(o); },
          [](const workloads::Elementwise& o) { return elementwise_work(o); },
          [](const workloads::TableLookup& o) { return table_lookup_work(o); },
          [](const workloads::ExpertRouting& o) { return expert_routing_work(o); },
          [](const workloads::Collective& o) { return collective_work(o); },
      },
      op);
}

}  // namespace roofcast::models
