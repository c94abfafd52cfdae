// SPDX-License-Identifier: Apache-2.0
//
// The closed set of operators: what one rank computes or sends, as shapes. No hardware here.
//
// models/work.hpp counts the work (FLOP, bytes) and models/operators has the time. Equal shapes compare
// equal, so that their costs can be cached.
#pragma once

#include <string_view>
#include <variant>
#include <vector>

#include "base/units/number_format.hpp"
#include "base/units/weight_storage.hpp"
#include "workloads/architecture/architecture.hpp"

namespace roofcast::workloads {

using base::NumberFormat;

// The residual stream and the outputs of GEMMs are bf16.
inline constexpr double kHiddenBytes = 2.0;

// out[m,n] = activations[m,k] · weights[k,n]; `batch` independent products in one kernel.
struct Gemm {
  std::int64_t m = 0, n = 0, k = 0;
  std::int64_t batch = 1;
  NumberFormat activations = NumberFormat::bf16;
  NumberFormat weights = NumberFormat::bf16;
  // Sets of weights that the loop of a benchmark uses in turn; a large L2 may hold them. 0: the GEMM of a model.
  std::int64_t copies = 0;
  base::WeightStorage storage = {};
  friend bool operator==(const Gemm&, const Gemm&) = default;
};

// The same linear layer of many experts in one kernel. This rank gets `pairs` (token, expert) rows for `distinct` of
// its experts (expected values). The weights of each expert are [k,n].
struct GroupedGemm {
  double pairs = 0.0;
  double distinct = 0.0;
  std::int64_t n = 0, k = 0;
  NumberFormat activations = NumberFormat::bf16;
  NumberFormat weights = NumberFormat::bf16;
  bool even = false;                // every expert gets as many rows: only in benchmarks
  bool alternative_kernel = false;  // a kernel that a stack uses for some models or batches only
  base::WeightStorage storage = {};
  friend bool operator==(const GroupedGemm&, const GroupedGemm&) = default;
};

// The attention heads of one rank. GQA has cache_elements = 2 · kv_heads · head_dim. Absorbed MLA has one shared head
// of kv_rank + rope_dim, which is cached once.
struct AttentionHeads {
  std::int64_t query_heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t qk_dim = 0;
  std::int64_t value_dim = 0;
  std::int64_t window = 0;          // the most keys that a query sees; 0: all before it
  std::int64_t cache_elements = 0;  // elements read per cached token
  NumberFormat cache = NumberFormat::bf16;
  bool chunked = false;        // a query sees the keys since the last multiple of window
  bool bidirectional = false;  // a query sees the whole sequence, or window keys on each side
  friend bool operator==(const AttentionHeads&, const AttentionHeads&) = default;
};

// All heads read one latent, not keys and values of their own.
inline bool shares_latent(const AttentionHeads& h) {
  return h.cache_elements < h.kv_heads * (h.qk_dim + h.value_dim);
}

// Causal attention: in each sequence `new_tokens` queries see themselves and `cached_tokens` before them.
struct PrefillAttention {
  AttentionHeads heads;
  std::int64_t sequences = 0;
  std::int64_t new_tokens = 0;
  std::int64_t cached_tokens = 0;
  bool widened = false;  // an 8-bit cache is widened to 16 bits before it is multiplied
  friend bool operator==(const PrefillAttention&, const PrefillAttention&) = default;
};
inline NumberFormat multiplied(const PrefillAttention& op) {
  return op.widened ? NumberFormat::bf16 : op.heads.cache;
}

// Attention of `query_tokens` queries a sequence (1 + draft tokens) over a context of mean length. `repeated`: the same
// kernel ran just before on the same context, as in a benchmark, so that the caches of the chip still hold a part of
// it. In a model the weights of the other layers have replaced it.
struct DecodeAttention {
  AttentionHeads heads;
  std::int64_t sequences = 0;
  std::int64_t query_tokens = 1;
  std::int64_t context = 0;
  bool repeated = false;
  friend bool operator==(const DecodeAttention&, const DecodeAttention&) = default;
};

// The index of sparse attention: scores, and the choice of the top_k keys. In each sequence `queries` new tokens are
// scored against themselves and `cached` keys before them.
struct IndexScores {
  std::int64_t heads = 0;
  std::int64_t dim = 0;
  std::int64_t top_k = 0;
  std::int64_t sequences = 0;
  std::int64_t queries = 0;
  std::int64_t cached = 0;
  NumberFormat keys = NumberFormat::fp8;
  friend bool operator==(const IndexScores&, const IndexScores&) = default;
};

// The heads of a recurrent mixer on one rank. The state of a head is key_dim × value_dim.
struct RecurrentHeads {
  Recurrence kind = Recurrence::ssm;
  std::int64_t heads = 0;
  std::int64_t key_heads = 0;
  std::int64_t key_dim = 0;
  std::int64_t value_dim = 0;
  NumberFormat state = NumberFormat::fp32;
  friend bool operator==(const RecurrentHeads&, const RecurrentHeads&) = default;
};

// The recurrence over `tokens` prompt tokens a sequence. Each `chunk` of tokens is computed as matrix products.
struct StateScan {
  RecurrentHeads heads;
  std::int64_t sequences = 0;
  std::int64_t tokens = 0;
  std::int64_t chunk = 0;
  friend bool operator==(const StateScan&, const StateScan&) = default;
};

// The recurrence of decoding sequences: `tokens` updates of each state (1 + draft tokens). `repeated`: as DecodeAttention's.
// `copied`: states are read in 16 bits and written to another place; only in benchmarks.
struct StateUpdate {
  RecurrentHeads heads;
  std::int64_t sequences = 0;
  std::int64_t tokens = 1;
  bool repeated = false;
  bool copied = false;
  friend bool operator==(const StateUpdate&, const StateUpdate&) = default;
};

// A memory-bound kernel: norm, activation, rotary embedding with cache write, quantise, sampling, …
struct Elementwise {
  double read_bytes = 0.0;
  double written_bytes = 0.0;
  double flop = 0.0;
  std::int64_t taps = 0;  // tokens that a short convolution multiplies; 0 for other kernels
  // Threads next to each other read elements this far apart: strided access. 1: next to each other.
  std::int64_t stride = 1;
  std::int64_t element_bytes = 4;  // that a thread reads at once
  // Different bytes of a kernel that a benchmark repeats: what is written over what was read counts once. 0: a model's
  // kernel, which runs on what another one left.
  double repeated_bytes = 0.0;
  friend bool operator==(const Elementwise&, const Elementwise&) = default;
};

// Rows of embedding tables, found by index and added up bag by bag. This rank reads `rows` rows, of which `distinct`
// are different (expected values), and makes `bags` sums of `width` elements.
struct TableLookup {
  double rows = 0.0;
  double distinct = 0.0;
  double bags = 0.0;
  std::int64_t width = 0;
  NumberFormat format = NumberFormat::bf16;
  friend bool operator==(const TableLookup&, const TableLookup&) = default;
};

// Top-k, sort, permute and combine around the experts of one rank.
struct ExpertRouting {
  std::int64_t tokens = 0;  // tokens for which this rank chooses experts
  double pairs = 0.0;       // (token, expert) rows that this rank permutes and combines
  std::int64_t hidden = 0;
  std::int64_t experts = 0;
  std::int64_t top_k = 0;
  NumberFormat activations = NumberFormat::bf16;
  bool alternative_kernel = false;    // as GroupedGemm's
  std::int64_t searched_experts = 0;  // of the rank: kernels pass over them in search of rows
  friend bool operator==(const ExpertRouting&, const ExpertRouting&) = default;
};

enum class CollectiveKind : std::uint8_t {
  all_reduce,
  all_gather,
  reduce_scatter,
  all_to_all,
  broadcast,
  send_receive,
};
std::string_view name(CollectiveKind kind);

// The all-reduce kernels of a serving stack. `library`: none of its own. `barriers`: ranks read each other's memory
// between barriers. `flags`: ranks push their data with a flag in every word.
enum class AllReduceKernels : std::uint8_t { library, barriers, flags };
std::string_view name(AllReduceKernels kernels);

// A collective between `ranks` ranks, which are `stride` apart in the order tensor, data, pipeline. The meaning of
// `bytes`:
//   all_reduce               the vector that each rank holds
//   all_gather               the result
//   reduce_scatter           the input
//   all_to_all               what one rank hands out, with the share that it keeps
//   broadcast, send_receive  the message
struct Collective {
  CollectiveKind kind = CollectiveKind::all_reduce;
  double bytes = 0.0;
  std::int64_t ranks = 1;
  std::int64_t stride = 1;
  AllReduceKernels custom = AllReduceKernels::library;
  // Of all_to_all:
  std::int64_t copies = 1;    // copies of each row, to ranks drawn at random (top-k experts)
  bool deduplicated = false;  // only kernels that send a row once to each rank
  double rows = 0.0;          // rows of one rank, before they are copied
  std::int64_t sms = 20;      // SMs that those kernels use (DeepEP's default)
  bool staged =
      false;  // the stack's own kernels pass rows through slots, from which receivers take them
  // Of all_reduce and reduce_scatter: the elements that are added up are int8. Only in benchmarks.
  bool sums_int8 = false;
  // Of the opposite exchange of a backward pass; 0: as many. Only what is gathered may be in few bits.
  double backward_bytes = 0.0;
  friend bool operator==(const Collective&, const Collective&) = default;
};

// Ranks of a collective that fit into one scale-up domain of so many chips. It leaves the domain if it has more.
std::int64_t ranks_in_a_domain(const Collective& op, std::int64_t domain);

using Operator =
    std::variant<Gemm, GroupedGemm, PrefillAttention, DecodeAttention, IndexScores, StateScan,
                 StateUpdate, Elementwise, TableLookup, ExpertRouting, Collective>;

// One operator of an iteration and how often it runs. Equal layers are one call with a count.
struct Call {
  Operator op;
  std::string_view name;  // "attention.qkv"; a literal
  double count = 1.0;
  bool in_layers = true;  // false: embedding and head, on the first and the last pipeline stage
  // Overlapped with the last call before it that is not overlapped itself. Several such calls run one after another.
  // They take only the time that the call before them does not hide.
  bool overlapped = false;
  // Exchanges tokens between ranks and experts; another batch may compute meanwhile.
  bool exchange = false;
  bool weight_gradient = false;  // of a backward pass: what no other stage waits for
};

using Graph = std::vector<Call>;

// "gemm", "attention", "recurrence", "moe", "elementwise", "collective".
std::string_view category(const Operator& op);

}  // namespace roofcast::workloads
