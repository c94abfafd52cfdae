// SPDX-License-Identifier: Apache-2.0
//
// The architecture of a model: the dimensions that decide parameters, work and cache.
//
// A layer is a mixer, in which tokens see each other, and a feed-forward. Either may be absent: in Nemotron-H
// a layer is one of the two, and models cut by architecture search lack parts of some layers.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/document/catalog.hpp"
#include "base/document/fields.hpp"
#include "workloads/architecture/expert_load.hpp"
#include "workloads/architecture/recommender.hpp"

namespace roofcast::workloads {

enum class AttentionKind { gqa, mla };

// DeepSeek sparse attention (arXiv 2512.02556). `heads` small heads of `dim` score every earlier token, and attention
// reads the top_k best. The keys of the index, one vector a token, are cached too.
struct SparseIndex {
  std::int64_t heads = 0;
  std::int64_t dim = 0;
  std::int64_t top_k = 0;  // 0 = no index, attention is dense
  bool operator==(const SparseIndex&) const = default;
};

// Grouped-query attention (multi-head when kv_heads = query_heads), or multi-head latent attention (DeepSeek-V2, arXiv
// 2405.04434). MLA caches one vector of kv_rank + rope_dim a token for all heads. With a q_rank queries are projected
// to that width, normalised, and then to their heads (in GQA: multi-matrix factorization, Step-3, arXiv 2507.19427).
struct AttentionShape {
  AttentionKind kind = AttentionKind::gqa;
  std::int64_t query_heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t head_dim = 0;
  std::int64_t window = 0;  // tokens, of sliding_attention and chunked_attention layers
  bool qkv_bias = false;
  bool qk_norm = false;
  bool joint_qk_norm = false;  // one norm over all heads, so tensor-parallel ranks add up squares
  bool output_gate = false;    // the query projection also makes a gate for each output
  std::int64_t q_rank = 0;     // 0: queries come from the hidden state
  // MLA
  std::int64_t kv_rank = 0;
  std::int64_t nope_dim = 0;
  std::int64_t rope_dim = 0;
  std::int64_t value_dim = 0;
  SparseIndex index;
  bool operator==(const AttentionShape&) const = default;
};

enum class Recurrence : std::uint8_t { ssm, delta, selective };
inline constexpr std::int64_t kSelectiveBlock =
    2048;  // the most tokens of a block of a selective scan
std::string_view name(Recurrence kind);

// A mixer with a state of fixed size: a matrix of key_dim × value_dim a head, however long the context is.
//   mamba      Mamba-2 (arXiv 2405.21060): value_dim is its head_dim, key_dim its state size, and key_heads are
//              its groups of B and C
//   delta_net  gated delta net (arXiv 2412.06464): value heads share key heads
//   mamba1     Mamba, the first (arXiv 2312.00752): each channel is a head of one value
// One projection makes gate, values, keys, queries and the scalars of each head (Mamba's step size; decay and write
// strength of the delta rule). Values, keys and queries go through a causal convolution.
// With a gate_rank (Kimi delta attention, arXiv 2510.26692) each key channel has a decay of its own. Decays and gates are
// each projected to that width first, on every rank, and then to their heads.
// Mamba-1 projects gate and values alone, and the convolution sees the values. A second projection, of what it made, gives
// B, C and a vector of step_rank; a third one makes the step size of each channel of that vector.
struct RecurrentShape {
  Recurrence kind = Recurrence::ssm;
  std::int64_t heads = 0;
  std::int64_t key_heads = 0;
  std::int64_t key_dim = 0;
  std::int64_t value_dim = 0;
  std::int64_t conv_kernel = 0;
  std::int64_t chunk = 0;  // tokens of a prompt that are computed as one block of matrix products
  std::int64_t gate_rank = 0;          // of delta_net; 0: one decay a head
  std::int64_t step_rank = 0;          // of mamba1
  bool selection_norm = false;         // of mamba1: B, C and the vector of step_rank are normalised
  bool selection_norm_weights = true;  // and these norms have weights

  std::int64_t inner() const { return heads * value_dim; }
  bool is_selective() const { return kind == Recurrence::selective; }
  std::int64_t conv_channels() const { return inner() + (is_selective() ? 0 : keys()); }
  std::int64_t head_scalars() const {
    return is_selective() ? 0 : (kind == Recurrence::ssm || gate_rank > 0 ? 1 : 2) * heads;
  }
  // Made of the hidden state: all outputs, and those that every rank computes.
  std::int64_t projected() const {
    return (gate_rank > 0 ? 0 : inner()) + conv_channels() + head_scalars() + repeated();
  }
  std::int64_t repeated() const { return 2 * gate_rank; }
  // Made of the projections of gate_rank: decays and gates.
  std::int64_t decays() const { return gate_rank > 0 ? heads * key_dim : 0; }
  std::int64_t gates() const { return gate_rank > 0 ? inner() : 0; }
  // Keys and queries, or B and C.
  std::int64_t keys() const { return 2 * key_heads * key_dim; }
  // Made of the convolved values: B, C and the vector that steps are made of.
  std::int64_t selected() const { return is_selective() ? step_rank + keys() : 0; }
  std::int64_t state_elements() const { return inner() * key_dim; }
  std::int64_t conv_state_elements() const { return conv_channels() * (conv_kernel - 1); }
  bool operator==(const RecurrentShape&) const = default;
};

struct MlpShape {
  std::int64_t intermediate = 0;
  bool gated = true;
  bool operator==(const MlpShape&) const = default;
};

// Mixture of experts. With `latent` (LatentMoE, arXiv 2601.18089) tokens are projected to that width for the routed
// experts. Router and shared experts stay at the hidden width. latent = hidden is the standard mixture, without
// projections.
struct MoeShape {
  std::int64_t experts = 0;
  std::int64_t top_k = 0;
  std::int64_t intermediate = 0;
  bool gated = true;
  std::int64_t shared_experts = 0;
  std::int64_t shared_intermediate = 0;  // width of each
  bool shared_gate = false;              // one more output of the router scales the shared expert
  bool fp32_router = false;              // servers keep and multiply the router in fp32
  std::int64_t latent = 0;               // width; 0: no projection
  ExpertGroups groups;
  ExpertPopularity popularity;
  bool operator==(const MoeShape&) const = default;
};

enum class Mixer : std::uint8_t {
  none,
  attention,
  sliding_attention,        // to the last `window` tokens
  chunked_attention,        // to the tokens since the last multiple of `window`
  bidirectional_attention,  // to the whole sequence, or `window` tokens on each side; keeps no cache
  mamba,
  delta_net,
  mamba1,
};
enum class Ffn : std::uint8_t { none, mlp, moe };

constexpr bool attends(Mixer mixer) {
  return mixer == Mixer::attention || mixer == Mixer::sliding_attention ||
         mixer == Mixer::chunked_attention || mixer == Mixer::bidirectional_attention;
}
// Whether the mixer keeps keys and values for later tokens.
constexpr bool caches(Mixer mixer) {
  return attends(mixer) && mixer != Mixer::bidirectional_attention;
}

// A group of equal layers. Dimensions that it lacks are those of the model.
struct LayerGroup {
  std::int64_t count = 0;
  Mixer mixer = Mixer::attention;
  Ffn ffn = Ffn::mlp;
  std::int64_t kv_heads = 0;      // of attention
  std::int64_t window = 0;        // of sliding, chunked and bidirectional attention
  std::int64_t intermediate = 0;  // of mlp
  // Of attention and mlp. `streams`: sets of weights, each for an equal part of the tokens (text and image in MMDiT,
  // arXiv 2403.03206). `modulation`: vectors of the hidden width that each set computes from the condition of a
  // sequence, to shift, scale and gate with (adaLN, arXiv 2212.09748).
  std::int64_t streams = 1;
  std::int64_t modulation = 0;
  bool operator==(const LayerGroup&) const = default;
};

struct VisionEncoder;

struct Architecture {
  std::string id;
  std::string name;
  std::string
      native_precision;  // id of the precision it was published in, or that this one changes
  std::int64_t max_context = 0;
  std::int64_t hidden = 0;
  std::int64_t vocab = 0;
  bool tied_embeddings = false;
  // true: the model answers token by token. false: it answers with its hidden states after one iteration (embeddings,
  // images) and has no output head.
  bool autoregressive = true;
  std::int64_t denoising_steps = 1;  // iterations over the same tokens, of diffusion models
  AttentionShape attention;
  RecurrentShape mamba;
  RecurrentShape delta_net;
  RecurrentShape mamba1;
  MlpShape mlp;
  MoeShape moe;
  std::vector<LayerGroup> layers;  // from first to last, unless interleaved
  bool interleaved = false;        // the groups alternate through the depth
  std::vector<LayerGroup> mtp;     // multi-token-prediction modules; no part of layers
  // Of a draft model: before the layers, the hidden state and the embedding of the next token are normalised and
  // projected from 2·hidden to hidden. Every rank computes the whole projection.
  bool joins_token = false;
  std::vector<VisionEncoder> vision;  // at most one
  std::optional<Recommender> recommender;
  std::optional<double> published_total;
  std::optional<double> published_active;

  std::int64_t layer_count() const;
  std::int64_t layers_with(Ffn ffn) const;
  // Modules of `mtp`, and the one for a token, counted from 0: the last one serves all further tokens.
  std::int64_t mtp_modules() const;
  const LayerGroup& mtp_module(std::int64_t token) const;
  bool has(Mixer mixer) const;
  // The width at which the routed experts see tokens.
  std::int64_t expert_hidden() const { return projects_latent() ? moe.latent : hidden; }
  bool projects_latent() const { return moe.latent > 0 && moe.latent != hidden; }
  const RecurrentShape& recurrent(Mixer mixer) const {
    return mixer == Mixer::mamba ? mamba : mixer == Mixer::mamba1 ? mamba1 : delta_net;
  }
};

// Encodes images before the first layer of a prompt. An image is a sequence of `patches`. merge² neighbours become one
// token of the prompt: two layers merge²·hidden wide project them (Qwen2-VL, arXiv 2409.12191).
struct VisionEncoder {
  std::int64_t patches = 0;
  std::int64_t merge = 1;  // patches along one side of such a square
  Architecture encoder;

  std::int64_t tokens() const { return patches / (merge * merge); }
  std::int64_t merged() const { return merge * merge * encoder.hidden; }
  double projection_parameters(std::int64_t hidden) const {
    return static_cast<double>(merged()) * static_cast<double>(merged() + hidden);
  }
};

void read(base::Fields& f, Architecture& architecture);

// Whether two models have the same dimensions. Their names and the lengths of their contexts may differ.
bool same_network(const Architecture& a, const Architecture& b);

base::Catalog model_catalog();

}  // namespace roofcast::workloads
