// SPDX-License-Identifier: Apache-2.0
//
// Keys of a configuration that its family does not read. Most change nothing that is counted here: tokens, dropout,
// initial values. Some are of other families and change the work there: a file that has one is not what its model_type
// says, or its own code reads more than the class of that name.
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "base/nearest.hpp"
#include "workloads/hugging_face/hugging_face_parts.hpp"

namespace roofcast::workloads {
namespace {

using base::Node;

// Keys that change what layers compute in a family that reads them.
constexpr std::string_view kLayerKeys[] = {"altup_num_inputs",
                                           "attention_chunk_size",
                                           "attention_types",
                                           "attn_layer_indices",
                                           "attn_layer_period",
                                           "attn_type_list",
                                           "block_configs",
                                           "conv_L_cache",
                                           "cross_attention_layers",
                                           "full_attention_interval",
                                           "hidden_size_per_layer_input",
                                           "hybrid_override_pattern",
                                           "index_topk",
                                           "laurel_rank",
                                           "layer_types",
                                           "layers_block_type",
                                           "linear_attn_config",
                                           "linear_num_value_heads",
                                           "lru_width",
                                           "num_kv_shared_layers",
                                           "num_mem_blocks",
                                           "parallel_attn_mlp_res",
                                           "residual_moe",
                                           "share_q_dim",
                                           "sliding_window_pattern",
                                           "use_cla",
                                           "word_embed_proj_dim",
                                           "zero_expert_num"};
// The same for experts. In a model without experts they say nothing.
constexpr std::string_view kExpertKeys[] = {"decoder_sparse_step",
                                            "expert_layer_period",
                                            "first_k_dense_replace",
                                            "interleave_moe_layer_step",
                                            "mlp_layer_types",
                                            "mlp_only_layers",
                                            "moe_intermediate_size",
                                            "moe_latent_size",
                                            "moe_layer_freq",
                                            "moe_layer_interval",
                                            "moe_layer_num_skipped",
                                            "moe_layer_start_index",
                                            "moe_layers",
                                            "moe_layers_enum",
                                            "moe_num_shared_experts",
                                            "moe_shared_expert_intermediate_size",
                                            "n_group",
                                            "n_shared_experts",
                                            "num_expert_group",
                                            "num_shared_expert",
                                            "num_shared_experts",
                                            "share_expert_dim",
                                            "shared_expert_intermediate_size",
                                            "shared_intermediate_size"};
// Numbers of layers or groups, of which 1 is the same as none.
constexpr std::string_view kEveryKeys[] = {"decoder_sparse_step",       "expert_layer_period",
                                           "interleave_moe_layer_step", "moe_layer_freq",
                                           "moe_layer_interval",        "n_group",
                                           "num_expert_group"};
constexpr std::string_view kMtpKeys[] = {"mtp_num_hidden_layers", "num_mtp_layers",
                                         "num_mtp_modules", "num_nextn_predict_layers"};

template <std::size_t N>
bool is_in(const std::string_view (&keys)[N], std::string_view key) {
  return std::find(std::begin(keys), std::end(keys), key) != std::end(keys);
}

// Whether a value says that there is none.
bool says_none(const Node& value) {
  if (value.is_sequence() || value.is_map()) {
    return value.entries.empty() &&
           std::all_of(value.items.begin(), value.items.end(), [](const Node& item) {
             return says_none(item) || item.text == "full_attention" || item.text == "sparse";
           });
  }
  return value.is_null() || value.text.empty() || value.text == "false" || value.text == "0" ||
         value.text == "0.0";
}

// Whether a few characters in one place make one of the other.
bool is_misspelt(std::string_view wrong, std::string_view right) {
  constexpr std::size_t kShortest = 8;
  constexpr std::size_t kWrong = 2;
  const auto [shorter, longer] = std::minmax({wrong.size(), right.size()});
  const auto start = std::mismatch(wrong.begin(), wrong.end(), right.begin(), right.end());
  const auto end = std::mismatch(wrong.rbegin(), wrong.rend(), right.rbegin(), right.rend());
  return shorter >= kShortest && (start.first - wrong.begin()) + (end.first - wrong.rbegin()) +
                                         static_cast<std::ptrdiff_t>(kWrong) >=
                                     static_cast<std::ptrdiff_t>(longer);
}

// Whether some family reads it.
bool is_known_elsewhere(std::string_view key) {
  const auto& families = hugging_face_families();
  return is_in(kLayerKeys, key) || is_in(kExpertKeys, key) || is_in(kMtpKeys, key) ||
         std::any_of(families.begin(), families.end(), [&](const HuggingFaceFamily& family) {
           return std::any_of(
               family.keys.begin(), family.keys.end(),
               [&](const HuggingFaceKey& known) { return known.own == key || known.usual == key; });
         });
}

// The key that was asked for, is not there, and is nearly this one.
std::string meant(const HuggingFaceConfig& c, std::string_view key) {
  std::vector<std::string> near;
  for (const std::string& other : c.asked()) {
    const Node* found = c.node().find(other);
    if ((found == nullptr || found->is_null()) && is_misspelt(key, other)) {
      near.push_back(other);
    }
  }
  return is_known_elsewhere(key) ? std::string() : base::nearest_name(key, near).value_or("");
}

}  // namespace

void refuse_unread(HuggingFaceModel& m, std::string_view model_type) {
  HuggingFaceConfig& c = m.config;
  const bool experts = m.document.find("moe") != nullptr;
  for (const auto& [key, place, value] : c.node().entries) {
    const bool is_read = c.asked().contains(key);
    if (is_read || says_none(value) || (is_in(kEveryKeys, key) && value.text == "1")) {
      continue;
    }
    if (is_in(kMtpKeys, key)) {
      leave_out(m,
                fmt::format("Multi-token prediction ({}) of \"{}\" is not read.", key, model_type));
    } else if (key == "sliding_window") {
      leave_out(m,
                fmt::format("sliding_window is not read: layers of \"{}\" see everything before.",
                            model_type));
    } else if (is_in(kLayerKeys, key) || (experts && is_in(kExpertKeys, key))) {
      c.problem(value.place, key,
                fmt::format("changes what layers compute, and \"{}\" does not read it: this key or "
                            "model_type is wrong",
                            model_type));
    } else if (const std::string right = meant(c, key); !right.empty()) {
      c.problem(place, key, fmt::format("unknown key; did you mean \"{}\"?", right));
    }
  }
}

}  // namespace roofcast::workloads
