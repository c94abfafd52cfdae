// SPDX-License-Identifier: Apache-2.0
#include "workloads/hugging_face/hugging_face_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace roofcast::workloads {

using base::Node;

namespace {

constexpr base::Range kLayers{1.0, 10'000.0};
constexpr base::Range kModules{0.0, 100.0};
constexpr double kMostWhole = 1e15;  // of a whole number in a document

using Layer = HuggingFaceLayer;

Figure head_dim(HuggingFaceModel& m, const Figure& heads, std::int64_t fallback) {
  HuggingFaceConfig& c = m.config;
  const auto key = c.first_of({"head_dim", "attention_head_dim"});
  if (c.has(key) || fallback > 0) {
    return c.optional(key, fallback, base::at_least_one);
  }
  const Figure hidden = c.optional("hidden_size", 0, base::at_least_one);
  if (heads.value < 1) {
    return {0, heads.place};
  }
  if (hidden.value % heads.value != 0) {
    c.problem(heads.place, "num_attention_heads",
              fmt::format("must divide hidden_size, {}, as there is no head_dim", hidden.value));
  }
  return {hidden.value / heads.value, heads.place};
}

struct Group {
  HuggingFaceLayer layer;
  std::int64_t count = 0;
};

std::vector<Group> stretches(const HuggingFaceLayers& layers) {
  std::vector<Group> groups;
  for (const HuggingFaceLayer& layer : layers) {
    if (groups.empty() || !groups.back().layer.is_like(layer)) {
      groups.push_back({layer, 0});
    }
    ++groups.back().count;
  }
  return groups;
}

std::vector<Group> kinds(const HuggingFaceLayers& layers) {
  std::vector<Group> groups;
  for (const HuggingFaceLayer& layer : layers) {
    auto it = std::find_if(groups.begin(), groups.end(),
                           [&](const Group& group) { return group.layer.is_like(layer); });
    if (it == groups.end()) {
      it = groups.insert(groups.end(), {layer, 0});
    }
    ++it->count;
  }
  return groups;
}

Node group_node(const Group& group) {
  const HuggingFaceLayer& layer = group.layer;
  Node node;
  node.kind = Node::Kind::map;
  node.place = layer.place;
  const auto set = [&](std::string_view key, std::string text) {
    node[key] = base::scalar_node(std::move(text), layer.place);
  };
  set("count", std::to_string(group.count));
  set("mixer", std::string(layer.mixer));
  set("ffn", std::string(layer.ffn));
  for (const auto& [key, value] :
       {std::pair("kv_heads", layer.kv_heads), std::pair("window", layer.window),
        std::pair("intermediate", layer.intermediate)}) {
    if (value != 0) {
      set(key, std::to_string(value));
    }
  }
  return node;
}

}  // namespace

void HuggingFaceModel::set(std::string_view group, std::string_view key, const Figure& figure) {
  set(group, key, std::to_string(figure.value), figure.place);
}

void HuggingFaceModel::set(std::string_view group, std::string_view key, bool flag,
                           const base::Place& place) {
  set(group, key, std::string(flag ? "true" : "false"), place);
}

void HuggingFaceModel::set(std::string_view group, std::string_view key, std::string text,
                           const base::Place& place) {
  Node& target = group.empty() ? document : document[group];
  target[key] = base::scalar_node(std::move(text), place);
}

bool HuggingFaceModel::mixes(std::string_view mixer) const {
  return std::any_of(layers.begin(), layers.end(),
                     [&](const HuggingFaceLayer& layer) { return layer.mixer == mixer; });
}

bool HuggingFaceModel::feeds(std::string_view ffn) const {
  return std::any_of(layers.begin(), layers.end(),
                     [&](const HuggingFaceLayer& layer) { return layer.ffn == ffn; });
}

Node layer_groups(const HuggingFaceLayers& layers, bool irregular, bool& interleaved) {
  auto groups = stretches(layers);
  auto by_kind = kinds(layers);
  interleaved = !irregular && groups.size() > by_kind.size();
  if (interleaved) {
    groups = std::move(by_kind);
  }
  Node list;
  list.kind = Node::Kind::sequence;
  list.place = layers.empty() ? base::Place{} : layers.front().place;
  for (const Group& group : groups) {
    list.items.push_back(group_node(group));
  }
  return list;
}

void start_layers(HuggingFaceModel& m, std::string_view mixer, std::string_view ffn) {
  const Figure count = m.config.required("num_hidden_layers", kLayers);
  Layer layer;
  layer.mixer = mixer;
  layer.ffn = ffn;
  layer.place = count.place;
  m.layers.assign(static_cast<std::size_t>(count.value), layer);
}

Figure times(const Figure& figure, std::int64_t factor) {
  const double product = static_cast<double>(figure.value) * static_cast<double>(factor);
  return {static_cast<std::int64_t>(std::min(product, kMostWhole)), figure.place};
}

void leave_out(HuggingFaceModel& m, std::string_view note) { m.notes.emplace_back(note); }

void refuse(HuggingFaceConfig& c, std::initializer_list<std::string_view> keys,
            std::string_view why) {
  for (const std::string_view key : keys) {
    const Node* found = c.find(key);
    if (found != nullptr && !found->is_null() && found->text != "false" && found->text != "0") {
      c.problem(found->place, key, why);
    }
  }
}

void slide_all(HuggingFaceModel& m) {
  for (Layer& layer : m.layers) {
    layer.mixer = "sliding_attention";
    layer.place = m.config.place_of("sliding_window");
  }
}

void slide_between(HuggingFaceModel& m, std::string_view pattern_key, std::int64_t pattern) {
  HuggingFaceConfig& c = m.config;
  if (c.is_null("sliding_window")) {
    layer_types(m);
    return;
  }
  const std::int64_t every = c.optional(pattern_key, pattern, base::at_least_one).value;
  for (std::size_t i = 0; i < m.layers.size(); ++i) {
    if (static_cast<std::int64_t>(i + 1) % every != 0) {
      m.layers[i].mixer = "sliding_attention";
      m.layers[i].place = c.place_of("sliding_window");
    }
  }
  layer_types(m);
}

void side_by_side(HuggingFaceModel& m) {
  leave_out(m,
            "Attention and feed-forward of a layer read the same input; here one follows the "
            "other.");
}

void gqa(HuggingFaceModel& m, const GqaDefaults& defaults) {
  HuggingFaceConfig& c = m.config;
  const Figure heads = c.required("num_attention_heads");
  m.set("attention", "kind", std::string("gqa"), heads.place);
  m.set("attention", "query_heads", heads);
  m.set("attention", "kv_heads",
        c.has("num_key_value_heads") ? c.required("num_key_value_heads") : heads);
  m.set("attention", "head_dim", head_dim(m, heads, defaults.head_dim));
  m.set("attention", "qkv_bias", c.flag("attention_bias", defaults.qkv_bias),
        c.place_of("attention_bias"));
  m.set("attention", "qk_norm", c.flag("use_qk_norm", defaults.qk_norm), c.place_of("use_qk_norm"));
  if (defaults.output_gate) {
    m.set("attention", "output_gate", c.flag("attn_output_gate", true),
          c.place_of("attn_output_gate"));
  }
}

void window(HuggingFaceModel& m) {
  HuggingFaceConfig& c = m.config;
  if (m.mixes("sliding_attention")) {
    m.set("attention", "window", c.required("sliding_window"));
  }
  if (m.mixes("chunked_attention")) {
    m.set("attention", "window", c.required("attention_chunk_size"));
  }
}

void layer_types(HuggingFaceModel& m, std::string_view linear_attention) {
  HuggingFaceConfig& c = m.config;
  std::vector<std::pair<std::string, std::string_view>> mixers = {
      {"full_attention", "attention"},
      {"sliding_attention", "sliding_attention"},
      {"chunked_attention", "chunked_attention"},
      {"deepseek_sparse_attention", "attention"}};
  if (!linear_attention.empty()) {
    mixers.emplace_back("linear_attention", linear_attention);
  }
  std::vector<std::string> names;
  for (const auto& [name, mixer] : mixers) {
    names.push_back(name);
  }
  const Node* list = c.list_of_layers("layer_types", m.layers.size());
  for (std::size_t i = 0; list != nullptr && i < m.layers.size(); ++i) {
    const Node& item = list->items[i];
    const auto it = std::find(names.begin(), names.end(), item.text);
    if (it == names.end() && item.text == "linear_attention") {
      c.problem(item.place, "layer_types", "linear attention is not modelled in this family");
      return;
    }
    if (it == names.end()) {
      c.unknown(item, "layer_types", "layer type", names);
      return;
    }
    m.layers[i].mixer = mixers[static_cast<std::size_t>(it - names.begin())].second;
    m.layers[i].place = item.place;
  }
}

void mlp(HuggingFaceModel& m, std::string_view key, bool gated) {
  if (m.feeds("mlp")) {
    const Figure intermediate = m.config.required(key);
    m.set("mlp", "intermediate", intermediate);
    m.set("mlp", "gated", gated, intermediate.place);
  }
}

bool moe(HuggingFaceModel& m, std::string_view intermediate_key, bool gated) {
  HuggingFaceConfig& c = m.config;
  if (!m.feeds("moe")) {
    return false;
  }
  constexpr std::string_view kCounts[] = {"n_routed_experts", "num_experts", "num_local_experts"};
  const std::string_view key = c.first_of({kCounts[0], kCounts[1], kCounts[2]});
  const Figure experts = c.required(key);
  for (const std::string_view other : kCounts) {
    if (other != key && c.has(other) && c.optional(other, 0).value != experts.value) {
      c.problem(c.place_of(other), other, fmt::format("differs from {}, {}", key, experts.value));
    }
  }
  m.set("moe", "experts", experts);
  m.set("moe", "top_k", c.required(c.first_of({"num_experts_per_tok", "experts_per_token"})));
  if (const Figure groups = c.optional("n_group", 1, base::at_least_one); groups.value > 1) {
    m.set("moe", "groups", groups);
    m.set("moe", "top_k_groups", c.required("topk_group"));
  }
  m.set("moe", "intermediate", c.required(intermediate_key));
  m.set("moe", "gated", gated, experts.place);
  return true;
}

void shared_experts(HuggingFaceModel& m, const Figure& count, const Figure& intermediate) {
  if (count.value > 0 && intermediate.value > 0) {
    m.set("moe", "shared_experts", count);
    m.set("moe", "shared_intermediate", intermediate);
  }
}

void popular_experts(HuggingFaceModel& m) {
  if (m.feeds("moe")) {
    m.set("expert_load", "variation", {1, m.config.node().place});
    m.set(
        "expert_load", "source",
        std::string("assumed: what fits measured servers of models whose routers no bias balances"),
        m.config.node().place);
    leave_out(m,
              "expert_load is assumed: no bias balances this router, and experts are taken to be "
              "chosen as unevenly as fits measured servers.");
  }
}

void mtp(HuggingFaceModel& m, std::string_view key) {
  const Figure modules = m.config.optional(key, 0, kModules);
  Layer layer;
  layer.ffn = m.layers.empty() ? "mlp" : m.layers.back().ffn;
  layer.place = modules.place;
  m.mtp.assign(static_cast<std::size_t>(modules.value), layer);
}

void mamba(HuggingFaceModel& m) {
  HuggingFaceConfig& c = m.config;
  const Figure heads = c.required("mamba_num_heads");
  m.set("mamba", "heads", heads);
  if (c.text("mamba_head_dim") == "auto" && heads.value > 0) {
    const Figure inner =
        times(c.required("hidden_size"), c.optional("mamba_expand", 2, base::at_least_one).value);
    m.set("mamba", "head_dim", {inner.value / heads.value, heads.place});
  } else {
    m.set("mamba", "head_dim", c.required("mamba_head_dim"));
  }
  m.set("mamba", "state", c.required("ssm_state_size"));
  m.set("mamba", "groups", c.required(c.first_of({"n_groups", "mamba_n_groups"})));
  m.set("mamba", "conv_kernel",
        c.optional(c.first_of({"conv_kernel", "mamba_d_conv"}), 4, base::at_least_one));
  m.set("mamba", "chunk",
        c.optional(c.first_of({"chunk_size", "mamba_chunk_size"}), 128, base::at_least_one));
}

void mla(HuggingFaceModel& m) {
  HuggingFaceConfig& c = m.config;
  const Figure heads = c.required("num_attention_heads");
  m.set("attention", "kind", std::string("mla"), heads.place);
  m.set("attention", "query_heads", heads);
  m.set(
      "attention", "q_rank",
      c.is_null("q_lora_rank") ? Figure{0, c.place_of("q_lora_rank")} : c.required("q_lora_rank"));
  m.set("attention", "kv_rank", c.required("kv_lora_rank"));
  m.set("attention", "nope_dim", c.required("qk_nope_head_dim"));
  m.set("attention", "rope_dim", c.required("qk_rope_head_dim"));
  m.set("attention", "value_dim", c.required("v_head_dim"));
}

}  // namespace roofcast::workloads
