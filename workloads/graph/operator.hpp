// SPDX-License-Identifier: Apache-2.0
//
// The closed set of operators: what one rank is asked to do, in shapes. No hardware here.
//
// Work (FLOP, bytes) is counted in models/work.hpp, time in models/*. Equal shapes compare equal,
// so their costs can be remembered.
#pragma once

#include <string_view>
#include <variant>
#include <vector>

#include "base/units/number_format.hpp"
#include "workloads/architecture/architecture.hpp"

namespace roofcast::workloads {

using base::NumberFormat;

inline constexpr double kHiddenBytes = 2.0;  // the residual stream and what leaves a GEMM are bf16

// out[m,n] = activations[m,k] · weights[k,n], `batch` independent ones in one kernel.
struct Gemm {
  std::int64_t m = 0, n = 0, k = 0;
  std::int64_t batch = 1;
  NumberFormat activations = NumberFormat::bf16;
  NumberFormat weights = NumberFormat::bf16;
  // Sets of weights that a benchmark's loop takes in turn and that a large L2 may hold; 0: a model's.
  std::int64_t copies = 0;
  friend bool operator==(const Gemm&, const Gemm&) = default;
};

// The same linear layer of many experts in one kernel: `pairs` (token, expert) rows fall on this
// rank, on `distinct` of its experts (expected values); each expert's weights are [k,n].
struct GroupedGemm {
  double pairs = 0.0;
  double distinct = 0.0;
  std::int64_t n = 0, k = 0;
  NumberFormat activations = NumberFormat::bf16;
  NumberFormat weights = NumberFormat::bf16;
  bool even = false;                // as many rows for each expert, which no traffic has
  bool alternative_kernel = false;  // kernels that a stack takes for some models or batches only
  friend bool operator==(const GroupedGemm&, const GroupedGemm&) = default;
};

// Heads of one rank. GQA: cache_elements = 2 · kv_heads · head_dim. Absorbed MLA: one shared head
// of kv_rank + rope_dim, cached once.
struct AttentionHeads {
  std::int64_t query_heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t qk_dim = 0;
  std::int64_t value_dim = 0;
  std::int64_t window = 0;          // keys a query sees at most; 0 = all before it
  std::int64_t cache_elements = 0;  // read per cached token
  NumberFormat cache = NumberFormat::bf16;
  bool chunked = false;        // keys since the last multiple of window
  bool bidirectional = false;  // keys of the whole sequence, or window on each side
  friend bool operator==(const AttentionHeads&, const AttentionHeads&) = default;
};

// Causal attention of `new_tokens` queries a sequence over themselves and `cached_tokens` before
// them.
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

// Attention of `query_tokens` queries a sequence (1 + draft tokens) over a context of mean length.
// `repeated`: the same step ran just before, as when a benchmark replays it, so that caches of the
// chip still hold a part of the context. In a model the weights of a layer have replaced it.
struct DecodeAttention {
  AttentionHeads heads;
  std::int64_t sequences = 0;
  std::int64_t query_tokens = 1;
  std::int64_t context = 0;
  bool repeated = false;
  friend bool operator==(const DecodeAttention&, const DecodeAttention&) = default;
};

// Scores of a sparse attention's index and the choice of its top_k keys: `queries` new tokens a
// sequence against themselves and `cached` keys before them.
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

// Heads of a recurrent mixer on one rank; the state is key_dim × value_dim a head.
struct RecurrentHeads {
  Recurrence kind = Recurrence::ssm;
  std::int64_t heads = 0;
  std::int64_t key_heads = 0;
  std::int64_t key_dim = 0;
  std::int64_t value_dim = 0;
  NumberFormat state = NumberFormat::fp32;
  friend bool operator==(const RecurrentHeads&, const RecurrentHeads&) = default;
};

// The recurrence over `tokens` prompt tokens a sequence, `chunk` at a time as matrix products.
struct StateScan {
  RecurrentHeads heads;
  std::int64_t sequences = 0;
  std::int64_t tokens = 0;
  std::int64_t chunk = 0;
  friend bool operator==(const StateScan&, const StateScan&) = default;
};

// The recurrence of decoding sequences, `tokens` steps each (1 + draft tokens).
struct StateUpdate {
  RecurrentHeads heads;
  std::int64_t sequences = 0;
  std::int64_t tokens = 1;
  friend bool operator==(const StateUpdate&, const StateUpdate&) = default;
};

// A memory-bound kernel: norm, activation, rotary embedding with cache write, quantise, sampling, …
struct Elementwise {
  double read_bytes = 0.0;
  double written_bytes = 0.0;
  double flop = 0.0;
  std::int64_t taps = 0;  // of a short convolution along the tokens; else 0
  friend bool operator==(const Elementwise&, const Elementwise&) = default;
};

// Rows of embedding tables, found by index and added up bag by bag: `rows` in all on this rank, `distinct` different
// ones of them (expected values), for `bags` sums of `width` elements.
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
  std::int64_t tokens = 0;  // whose routing this rank decides
  double pairs = 0.0;       // rows permuted and combined here
  std::int64_t hidden = 0;
  std::int64_t experts = 0;
  std::int64_t top_k = 0;
  NumberFormat activations = NumberFormat::bf16;
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

// All-reduce kernels of a serving stack beside the library's: ranks read each other's memory between
// barriers, or push their data with a flag in every word.
enum class AllReduceKernels : std::uint8_t { library, barriers, flags };
std::string_view name(AllReduceKernels kernels);

// Whose activations leave the kernel before already quantised: nobody's, those with one scale a tensor
// (a compiler fuses that), or those with a scale a block too. The rest are quantised by their own kernels.
enum class QuantiseFusion : std::uint8_t { none, tensors, all };

// Between `ranks` ranks, `stride` apart in the order tensor, data, pipeline. `bytes`: all_reduce,
// the vector each rank holds; all_gather, the result; reduce_scatter, the input; all_to_all, what
// one rank hands out (its own share included); broadcast and send_receive, the message.
struct Collective {
  CollectiveKind kind = CollectiveKind::all_reduce;
  double bytes = 0.0;
  std::int64_t ranks = 1;
  std::int64_t stride = 1;
  AllReduceKernels custom = AllReduceKernels::library;
  std::int64_t copies = 1;  // all_to_all: of each row, to ranks drawn at random (top-k experts)
  bool deduplicated =
      false;              // all_to_all: by kernels that send a row once to each rank, come what may
  double rows = 0.0;      // all_to_all: of one rank, before they are copied
  std::int64_t sms = 20;  // all_to_all: that those kernels keep to (DeepEP's default)
  friend bool operator==(const Collective&, const Collective&) = default;
};

using Operator =
    std::variant<Gemm, GroupedGemm, PrefillAttention, DecodeAttention, IndexScores, StateScan,
                 StateUpdate, Elementwise, TableLookup, ExpertRouting, Collective>;

// One operator of a step and how often it runs (layers collapse).
struct Call {
  Operator op;
  std::string_view name;  // "attention.qkv"; a literal
  double count = 1.0;
  bool in_layers =
      true;  // false: embedding and head, which stand on the first and last pipeline stage
  // Runs beside the last call before it that does not, after others that do: only what that one does not
  // hide takes time.
  bool beside = false;
  bool exchange =
      false;  // of tokens between ranks and experts; another batch may compute meanwhile
};

using Graph = std::vector<Call>;

// "gemm", "attention", "recurrence", "moe", "elementwise", "collective".
std::string_view category(const Operator& op);

}  // namespace roofcast::workloads
