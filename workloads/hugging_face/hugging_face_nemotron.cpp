// SPDX-License-Identifier: Apache-2.0
//
// Families with many kinds of layers: cut by architecture search (nemotron-nas), or with layers that are
// either a mixer or a feed-forward (nemotron_h).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "workloads/hugging_face/hugging_face_parts.hpp"

namespace roofcast::workloads {
namespace {

using base::Node;

constexpr std::size_t kMostBlocks = 10'000;
constexpr double kMostWidth = 1e15;

void block_attention(HuggingFaceConfig c, std::int64_t heads, HuggingFaceLayer& layer) {
  refuse(c, {"replace_with_linear", "is_mamba", "mamba", "llama4", "sparsify"});
  if (c.flag("no_op", false)) {
    layer.mixer = "none";
    return;
  }
  const Figure group = c.required("n_heads_in_group");
  layer.place = group.place;
  if (group.value > 0) {
    layer.kv_heads = heads / group.value;
    if (heads % group.value != 0) {
      c.problem(group.place, "n_heads_in_group",
                fmt::format("must divide num_attention_heads, {}", heads));
    }
  }
  if (c.has("window_length")) {
    layer.mixer = "sliding_attention";
    layer.window = c.required("window_length").value;
  }
}

void block_ffn(HuggingFaceConfig c, std::int64_t hidden, HuggingFaceLayer& layer) {
  refuse(c, {"replace_with_linear", "moe", "sparsify"});
  if (c.flag("no_op", false)) {
    layer.ffn = "none";
  } else if (c.has("intermediate_size")) {
    layer.intermediate = c.required("intermediate_size").value;
  } else {
    // As in the class DeciLMForCausalLM: 2/3 of ffn_mult times hidden, rounded up to a multiple of 256.
    const double multiple = c.required_number("ffn_mult");
    const double width =
        std::min(std::floor(2.0 * multiple * static_cast<double>(hidden) / 3.0), kMostWidth);
    layer.intermediate = 256 * static_cast<std::int64_t>(std::ceil(width / 256.0));
  }
}

// The figure of the first layer that has one becomes that of the model. Layers with the same figure then leave it out.
Figure common(HuggingFaceLayers& layers, std::int64_t HuggingFaceLayer::*figure) {
  const auto it = std::find_if(layers.begin(), layers.end(),
                               [&](const HuggingFaceLayer& layer) { return layer.*figure > 0; });
  if (it == layers.end()) {
    return {};
  }
  const Figure first{(*it).*figure, it->place};
  for (HuggingFaceLayer& layer : layers) {
    layer.*figure = layer.*figure == first.value ? 0 : layer.*figure;
  }
  return first;
}

void unknown_block(HuggingFaceModel& m, const Node& value, std::string_view key) {
  m.config.unknown(value, key, "kind of layer",
                   {"mamba", "linear_attention", "attention", "full_attention", "mlp", "moe"});
}

bool set_block(HuggingFaceLayer& layer, std::string_view kind) {
  const bool attends = kind == "*" || kind == "attention" || kind == "full_attention";
  const bool mamba = kind == "M" || kind == "mamba" || kind == "linear_attention";
  const bool experts = kind == "E" || kind == "moe";
  layer.mixer = attends ? "attention" : mamba ? "mamba" : "none";
  layer.ffn = experts ? "moe" : kind == "-" || kind == "mlp" ? "mlp" : "none";
  return layer.mixer != "none" || layer.ffn != "none";
}

// Layers as a list of words, or as a text with a letter for each.
HuggingFaceLayers blocks(HuggingFaceModel& m, std::string_view list_key,
                         std::string_view pattern_key) {
  HuggingFaceConfig& c = m.config;
  HuggingFaceLayers layers;
  const Node* list = c.has(list_key) ? c.find(list_key) : nullptr;
  if (list != nullptr && list->is_sequence()) {
    if (list->items.size() > kMostBlocks) {
      c.problem(list->place, list_key, fmt::format("has more than {} layers", kMostBlocks));
      return {};
    }
    for (const Node& item : list->items) {
      HuggingFaceLayer layer;
      layer.place = item.place;
      if (!set_block(layer, item.text)) {
        unknown_block(m, item, list_key);
        return {};
      }
      layers.push_back(layer);
    }
    return layers;
  }
  const std::string pattern = c.text(pattern_key).substr(0, kMostBlocks + 1);
  if (pattern.size() > kMostBlocks) {
    c.problem(c.place_of(pattern_key), pattern_key,
              fmt::format("has more than {} layers", kMostBlocks));
    return {};
  }
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    HuggingFaceLayer layer;
    layer.place = c.place_of(pattern_key);
    if (!set_block(layer, pattern.substr(i, 1))) {
      layer.place.mark.column += static_cast<int>(i) + 1;  // after the opening quote
      c.problem(layer.place, pattern_key,
                fmt::format("unknown kind of layer \"{}\"; M is Mamba-2, * attention, E experts, - "
                            "an MLP",
                            pattern.substr(i, 1)));
      return {};
    }
    layers.push_back(layer);
  }
  return layers;
}

// Layers may be written both ways, but not in two orders.
void refuse_another_order(HuggingFaceModel& m, std::string_view list_key,
                          std::string_view pattern_key) {
  HuggingFaceConfig& c = m.config;
  const std::string pattern = c.has(list_key) ? c.text(pattern_key) : "";
  bool same = pattern.empty() || pattern.size() == m.layers.size();
  for (std::size_t i = 0; same && i < pattern.size(); ++i) {
    HuggingFaceLayer layer;
    set_block(layer, pattern.substr(i, 1));
    same = layer.is_like(m.layers[i]);
  }
  if (!same) {
    c.problem(c.place_of(pattern_key), pattern_key,
              fmt::format("says other layers than {}", list_key));
  }
}

// Joins a layer that is a mixer and the next one that is a feed-forward into one layer that is both.
HuggingFaceLayers joined(const HuggingFaceLayers& layers) {
  HuggingFaceLayers pairs;
  for (const HuggingFaceLayer& layer : layers) {
    if (layer.mixer == "none" && !pairs.empty() && pairs.back().ffn == "none") {
      pairs.back().ffn = layer.ffn;
    } else {
      pairs.push_back(layer);
    }
  }
  return pairs;
}

}  // namespace

void nemotron_nas(HuggingFaceModel& m) {
  HuggingFaceConfig& c = m.config;
  start_layers(m, "attention", "mlp");
  const std::int64_t heads = c.optional("num_attention_heads", 0, base::at_least_one).value;
  const std::int64_t hidden = c.optional("hidden_size", 0, base::at_least_one).value;
  const Node* list = c.list_of_layers("block_configs", m.layers.size());
  if (!c.has("block_configs")) {
    c.required("block_configs");
  }
  for (std::size_t i = 0; list != nullptr && i < m.layers.size(); ++i) {
    const Node& block = list->items[i];
    HuggingFaceConfig entry = c.at(block, fmt::format("block_configs[{}]", i));
    m.layers[i].place = block.place;
    if (const Node* attention = block.find("attention")) {
      block_attention(entry.at(*attention, "attention"), heads, m.layers[i]);
    } else {
      entry.required("attention");
    }
    if (const Node* ffn = block.find("ffn")) {
      block_ffn(entry.at(*ffn, "ffn"), hidden, m.layers[i]);
    } else {
      entry.required("ffn");
    }
  }
  m.irregular = true;
  gqa(m, {});
  if (const Figure kv_heads = common(m.layers, &HuggingFaceLayer::kv_heads); kv_heads.value > 0) {
    m.set("attention", "kv_heads", kv_heads);
  }
  if (const Figure width = common(m.layers, &HuggingFaceLayer::intermediate); width.value > 0) {
    m.set("mlp", "intermediate", width);
    m.set("mlp", "gated", true, width.place);
  }
}

// Its MLP and its experts are not gated (squared ReLU). The shared experts are one MLP of the width
// moe_shared_expert_intermediate_size.
void nemotron_h(HuggingFaceModel& m) {
  HuggingFaceConfig& c = m.config;
  const auto key = c.first_of({"hybrid_override_pattern", "layers_block_type"});
  if (!c.has(key)) {
    c.required(key);
  }
  m.layers = blocks(m, "layers_block_type", "hybrid_override_pattern");
  refuse_another_order(m, "layers_block_type", "hybrid_override_pattern");
  const auto count = c.optional("num_hidden_layers", static_cast<std::int64_t>(m.layers.size()));
  if (!m.layers.empty() && count.value != static_cast<std::int64_t>(m.layers.size())) {
    c.problem(c.place_of(key), key,
              fmt::format("has {} layers, num_hidden_layers is {}", m.layers.size(), count.value));
  }
  if (m.mixes("attention")) {
    gqa(m, {128});
  }
  if (m.mixes("mamba")) {
    mamba(m);
  }
  mlp(m, "intermediate_size", false);
  if (moe(m, "moe_intermediate_size", false)) {
    const Figure shared = c.optional("n_shared_experts", 1);
    const Figure width = c.optional("moe_shared_expert_intermediate_size", 0);
    shared_experts(m, shared, width);
    if (c.has("moe_latent_size")) {
      m.set("moe", "latent", c.required("moe_latent_size"));
    }
  }
  const auto modules = c.optional("num_nextn_predict_layers", 0, {0.0, 100.0}).value;
  HuggingFaceLayers module = blocks(m, "mtp_layers_block_type", "mtp_hybrid_override_pattern");
  if (module.empty()) {
    module.resize(2);
    set_block(module.front(), "*");
    set_block(module.back(), "E");
  }
  for (const HuggingFaceLayer& layer : joined(module)) {
    m.mtp.insert(m.mtp.end(), static_cast<std::size_t>(modules), layer);
  }
}

}  // namespace roofcast::workloads
