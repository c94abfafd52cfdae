// SPDX-License-Identifier: Apache-2.0
//
// Translates quantization_config and dtype of a Hugging Face configuration to a precision of the catalog.
#include <fmt/format.h>

#include <algorithm>

#include "workloads/hugging_face/hugging_face_config.hpp"

namespace roofcast::workloads {
namespace {

using base::Node;

const Node* find(const Node& outer, const Node& text, std::string_view key) {
  const Node* found = text.find(key);
  found = found == nullptr || found->is_null() ? outer.find(key) : found;
  return found == nullptr || found->is_null() ? nullptr : found;
}

std::string text_at(const Node& node, std::string_view path) {
  const Node* found = node.find_path(path);
  return found != nullptr && found->is_scalar() ? found->text : std::string();
}

bool is_set(const Node* node) { return node != nullptr && !node->is_null(); }

// `name`: a module that is not quantised, or a pattern. Returns whether it is a large part of the language model. Head,
// routers, norms, modules for images and small projections are no large part.
bool is_large_part(std::string_view name) {
  name = name.substr(0, name.find_last_not_of("*.$") + 1);
  const auto has = [&](std::string_view part) { return name.find(part) != std::string_view::npos; };
  for (const std::string_view small :
       {"vision", "visual", "mtp", "indexer", "norm", "bias", "conv1d", "in_proj_a", "in_proj_b"}) {
    if (has(small)) {
      return false;
    }
  }
  return !name.ends_with("gate") &&
         (has("attn") || has("mlp") || has("experts") || has("shared_expert") || has("mixer"));
}

bool leaves_parts(const Node& quantization) {
  for (const std::string_view key : {"ignore", "exclude_modules", "modules_to_not_convert"}) {
    const Node* list = quantization.find(key);
    if (list != nullptr && std::any_of(list->items.begin(), list->items.end(),
                                       [](const Node& item) { return is_large_part(item.text); })) {
      return true;
    }
  }
  return false;
}

// compressed-tensors: the format of the only group of weights, and whether activations are quantised too.
std::string of_groups(const Node& quantization) {
  const Node* groups = quantization.find("config_groups");
  if (groups == nullptr || groups->entries.size() != 1) {
    return "";
  }
  const Node& group = groups->entries.front().value;
  const std::string format = text_at(group, "weights.type") + text_at(group, "weights.num_bits");
  const Node* activations = group.find("input_activations");
  if (format == "int4" && !is_set(activations)) {
    return "w4a16";
  }
  if (format == "float8" && is_set(activations)) {
    return text_at(group, "weights.strategy") == "block" ? "fp8_block" : "fp8";
  }
  const bool nvfp4 = format == "float4" && text_at(group, "weights.group_size") == "16";
  return nvfp4 && is_set(activations) ? "nvfp4" : "";
}

std::string id_of(const Node& quantization) {
  const std::string method = text_at(quantization, "quant_method");
  if (method == "mxfp4") {
    return "mxfp4_experts";
  }
  if (leaves_parts(quantization)) {
    return "";
  }
  if (method == "fp8") {
    return is_set(quantization.find("weight_block_size")) ? "fp8_block" : "fp8";
  }
  if (method == "modelopt") {
    std::string algorithm = text_at(quantization, "quant_algo");
    algorithm = algorithm.empty() ? text_at(quantization, "quantization.quant_algo") : algorithm;
    return algorithm == "NVFP4" ? "nvfp4" : algorithm == "FP8" ? "fp8" : "";
  }
  if (method == "gptq" || method == "awq") {
    return text_at(quantization, "bits") == "4" ? "w4a16" : "";
  }
  return method == "compressed-tensors" ? of_groups(quantization) : "";
}

}  // namespace

NativePrecision native_precision(const Node& outer, const Node& text,
                                 std::vector<std::string>& notes) {
  if (const Node* quantization = find(outer, text, "quantization_config")) {
    std::string id = id_of(*quantization);
    if (id.empty()) {
      notes.push_back(
          fmt::format("No precision of the catalog is plainly that of quantization_config "
                      "(quant_method {}): say "
                      "precision yourself.",
                      text_at(*quantization, "quant_method")));
    }
    return {std::move(id), quantization->place};
  }
  const Node* dtype = find(outer, text, "dtype");
  dtype = dtype == nullptr ? find(outer, text, "torch_dtype") : dtype;
  if (dtype == nullptr) {
    return {};
  }
  if (dtype->text.ends_with("float16") && !dtype->text.ends_with("bfloat16")) {
    return {"fp16", dtype->place};
  }
  if (!dtype->text.ends_with("bfloat16")) {
    notes.push_back(fmt::format("Weights are published in {}, forecast as bf16.", dtype->text));
  }
  return {"bf16", dtype->place};
}

}  // namespace roofcast::workloads
