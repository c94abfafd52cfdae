// SPDX-License-Identifier: Apache-2.0
//
// Translates quantization_config and dtype of a Hugging Face configuration to a precision of the catalog, or to one with
// changes.
#include "workloads/hugging_face/hugging_face_precision.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>

namespace roofcast::workloads {
namespace {

using base::Node;

// What the precisions of the catalog say of linear layers and of the KV cache (workloads/precisions).
struct LinearFormatNames {
  std::string_view id;
  std::string_view weights;
  std::string_view activations;
  std::string_view kv_cache;
};
constexpr LinearFormatNames kPublishedFormats[] = {{"w4a16", "int4", "bf16", "bf16"},
                                                   {"w8a16", "int8", "bf16", "bf16"},
                                                   {"int8", "int8", "int8", "bf16"},
                                                   {"fp8", "fp8", "fp8", "fp8"},
                                                   {"fp8_block", "fp8_block", "fp8_block", "fp8"},
                                                   {"nvfp4", "nvfp4", "nvfp4", "fp8"},
                                                   {"mxfp4_experts", "bf16", "bf16", "bf16"}};

// How a file says that linear layers are quantised.
struct PublishedFormat {
  std::string_view id;
  std::int64_t group_size = 0;  // 0: that of the format
  bool sparse = false;
};

const Node* find(const Node& outer, const Node& text, std::string_view key) {
  const Node* found = text.find(key);
  found = found == nullptr || found->is_null() ? outer.find(key) : found;
  return found == nullptr || found->is_null() ? nullptr : found;
}

std::string text_at(const Node& node, std::string_view path) {
  const Node* found = node.find_path(path);
  return found != nullptr && found->is_scalar() ? found->text : std::string();
}

// ModelOpt writes its keys on top or one level below.
std::string modelopt_at(const Node& quantization, std::string_view key) {
  const std::string text = text_at(quantization, key);
  return text.empty() ? text_at(quantization, fmt::format("quantization.{}", key)) : text;
}

bool is_set(const Node* node) { return node != nullptr && !node->is_null(); }

// Integers with a scale for each `group` weights; -1, or no group, is one scale for each row.
std::optional<PublishedFormat> integers(const HuggingFaceModel& m, std::string_view bits,
                                        const std::string& group) {
  const bool four = bits == "4";
  const std::string_view id = four ? "w4a16" : "w8a16";
  const std::string_view usual = four ? "128" : "-1";
  if (group.empty() || group == usual) {
    return PublishedFormat{id};
  }
  if (group == "-1") {
    return PublishedFormat{id, std::stoll(text_at(m.document, "hidden"))};
  }
  const bool whole = group.size() < 6 &&
                     group.find_first_not_of("0123456789") == std::string::npos && group != "0";
  return whole ? std::optional(PublishedFormat{id, std::stoll(group)}) : std::nullopt;
}

bool has_usual_blocks(const Node* blocks) {
  return !is_set(blocks) || blocks->items.empty() ||
         std::all_of(blocks->items.begin(), blocks->items.end(),
                     [](const Node& item) { return item.text == "128"; });
}

// compressed-tensors: the format of the only group of weights, and whether activations are quantised too.
std::optional<PublishedFormat> of_groups(const HuggingFaceModel& m, const Node& quantization) {
  const Node* groups = quantization.find("config_groups");
  if (groups == nullptr || groups->entries.size() != 1) {
    return std::nullopt;
  }
  const Node& group = groups->entries.front().value;
  const std::string format = text_at(group, "weights.type") + text_at(group, "weights.num_bits");
  const std::string strategy = text_at(group, "weights.strategy");
  const std::string size = text_at(group, "weights.group_size");
  const bool activations = is_set(group.find("input_activations"));
  if ((format == "int4" || format == "int8") && !activations) {
    return integers(m, format.substr(3), strategy == "channel" ? "-1" : size);
  }
  if (format == "int8" && text_at(group, "input_activations.type") != "float" && size.empty()) {
    return PublishedFormat{"int8"};
  }
  if (format == "float8" && activations && strategy == "block" &&
      has_usual_blocks(group.find_path("weights.block_structure"))) {
    return PublishedFormat{"fp8_block"};
  }
  if (format == "float8" && activations && strategy != "block" && strategy != "group") {
    return PublishedFormat{"fp8"};
  }
  const bool nvfp4 = format == "float4" && activations && size == "16";
  return nvfp4 ? std::optional(PublishedFormat{"nvfp4"}) : std::nullopt;
}

std::optional<PublishedFormat> of_method(const HuggingFaceModel& m, const Node& quantization) {
  const std::string method = text_at(quantization, "quant_method");
  if (method == "mxfp4" && m.feeds("moe")) {
    return PublishedFormat{"mxfp4_experts"};
  }
  if (method == "fp8") {
    const Node* blocks = quantization.find("weight_block_size");
    return has_usual_blocks(blocks)
               ? std::optional(PublishedFormat{is_set(blocks) ? "fp8_block" : "fp8"})
               : std::nullopt;
  }
  if (method == "modelopt") {
    const std::string algorithm = modelopt_at(quantization, "quant_algo");
    const std::string size = modelopt_at(quantization, "group_size");
    const bool nvfp4 = algorithm == "NVFP4" && (size.empty() || size == "16");
    return nvfp4                ? std::optional(PublishedFormat{"nvfp4"})
           : algorithm == "FP8" ? std::optional(PublishedFormat{"fp8"})
                                : std::nullopt;
  }
  const std::string bits = text_at(quantization, "bits");
  if ((method == "gptq" || method == "awq") && (bits == "4" || bits == "8") &&
      !is_set(quantization.find("modules_in_block_to_quantize"))) {
    return integers(m, bits, text_at(quantization, "group_size"));
  }
  return method == "compressed-tensors" ? of_groups(m, quantization) : std::nullopt;
}

// 2:4 sparse weights are stored without their zeros. Files with other zeros are not known.
bool read_sparsity(const Node& quantization, PublishedFormat& published) {
  const Node* sparsity = quantization.find("sparsity_config");
  const std::string format = is_set(sparsity) ? text_at(*sparsity, "format") : "";
  published.sparse =
      format.starts_with("sparse-24") || text_at(quantization, "format") == "marlin-24";
  const Node* targets = is_set(sparsity) ? sparsity->find("targets") : nullptr;
  const Node* ignored = is_set(sparsity) ? sparsity->find("ignore") : nullptr;
  const bool all =
      targets == nullptr || (targets->items.size() == 1 && targets->items.front().text == "Linear");
  const bool head_only =
      ignored == nullptr || std::all_of(ignored->items.begin(), ignored->items.end(),
                                        [](const Node& item) { return item.text == "lm_head"; });
  return published.sparse ? all && head_only : format.empty() || format == "dense";
}

// The format of the KV cache that the file names; nothing where it names none.
std::string kv_cache(const Node& quantization) {
  std::string format = modelopt_at(quantization, "kv_cache_quant_algo");
  if (const Node* scheme = quantization.find("kv_cache_scheme"); is_set(scheme)) {
    format = text_at(*scheme, "type") + text_at(*scheme, "num_bits");
  }
  std::transform(format.begin(), format.end(), format.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return format == "float8" ? "fp8" : format == "float4" ? "nvfp4" : format == "none" ? "" : format;
}

class PrecisionChanges {
 public:
  explicit PrecisionChanges(const base::Place& place) : place_(place) {}

  void set(std::string_view key, std::string_view value) {
    node_[key] = base::scalar_node(std::string(value), place_);
  }
  // The format of one part.
  void set_part(std::string_view part, std::string_view weights, std::string_view activations,
                const PublishedFormat& published) {
    Node& group = node_[part];
    group["weights"] = base::scalar_node(std::string(weights), place_);
    group["activations"] = base::scalar_node(std::string(activations), place_);
    const bool quantised = weights != activations || weights != "bf16";
    if (quantised && published.group_size > 0) {
      group["group_size"] = base::scalar_node(std::to_string(published.group_size), place_);
    }
    if (published.sparse) {
      group["sparse"] = base::scalar_node(quantised ? "2:4" : "none", place_);
    }
  }
  // The id alone, where nothing changes.
  Node of(std::string_view id) const {
    if (node_.entries.empty()) {
      return base::scalar_node(std::string(id), place_);
    }
    Node named;
    named.place = place_;
    named["base"] = base::scalar_node(std::string(id), place_);
    named.entries.insert(named.entries.end(), node_.entries.begin(), node_.entries.end());
    return named;
  }

 private:
  base::Place place_;
  Node node_;
};

// The output projection of attention and the shared experts follow another part unless they are named.
void write_parts(const HuggingFaceParts& parts, const LinearFormatNames& format,
                 const PublishedFormat& published, PrecisionChanges& changes) {
  const auto plain = [&](std::string_view part) {
    changes.set_part(part, "bf16", "bf16", published);
  };
  for (const std::string_view part : {"attention", "recurrent", "mlp", "experts"}) {
    if (parts.is_plain(part)) {
      plain(part);
    }
  }
  for (const auto& [part, leader] :
       {std::pair("attention_output", "attention"), std::pair("shared", "mlp")}) {
    if (parts.is_plain(part) && !parts.is_plain(leader)) {
      plain(part);
    } else if (parts.is_quantised(part) && parts.is_plain(leader)) {
      changes.set_part(part, format.weights, format.activations, published);
    }
  }
}

// vLLM and SGLang give the cache the type of the activations where nobody says another one. The kernels of sparse
// attention take FP8 (vllm/model_executor/models/config.py, DeepseekV32ForCausalLM).
void write_kv_cache(HuggingFaceModel& m, const Node& quantization, const LinearFormatNames& format,
                    PrecisionChanges& changes) {
  const bool sparse_attention = m.document.find_path("attention.index") != nullptr;
  std::string cache = kv_cache(quantization);
  if (cache.empty() && format.kv_cache != "bf16" && !sparse_attention) {
    leave_out(m,
              "quantization_config names no format of the KV cache: bf16 is taken, as servers "
              "take it unless they are told.");
  } else if (!cache.empty() && cache != "fp8" && cache != "nvfp4" && cache != "int8") {
    leave_out(m,
              fmt::format("The format of the KV cache, {}, is not known: bf16 is taken.", cache));
    cache = "";
  }
  cache = !cache.empty() ? cache : sparse_attention ? std::string(format.kv_cache) : "bf16";
  if (cache != format.kv_cache) {
    changes.set("kv_cache", cache);
  }
}

// The format in which states are kept, where it is not the default of precisions.
void write_state(HuggingFaceModel& m, const Node& outer, PrecisionChanges& changes) {
  const Node* type = find(outer, m.config.node(), "mamba_ssm_cache_dtype");
  type = type != nullptr ? type : find(outer, m.config.node(), "mamba_ssm_dtype");
  const bool recurrent = m.mixes("mamba") || m.mixes("mamba1") || m.mixes("delta_net");
  if (recurrent && type != nullptr && type->text.ends_with("float16")) {
    changes.set("state", type->text.ends_with("bfloat16") ? "bf16" : "fp16");
  }
}

// Of weights that are not quantised.
std::string_view of_type(HuggingFaceModel& m, const Node& type) {
  if (type.text.ends_with("float16") && !type.text.ends_with("bfloat16")) {
    return "fp16";
  }
  if (!type.text.ends_with("bfloat16")) {
    leave_out(m, fmt::format("Weights are published in {}, forecast as bf16.", type.text));
  }
  return "bf16";
}

}  // namespace

void native_precision(HuggingFaceModel& m, const Node& outer) {
  const Node& text = m.config.node();
  const Node* quantization = find(outer, text, "quantization_config");
  if (quantization == nullptr) {
    const Node* type = find(outer, text, "dtype");
    type = type == nullptr ? find(outer, text, "torch_dtype") : type;
    if (type != nullptr) {
      PrecisionChanges changes(type->place);
      write_state(m, outer, changes);
      m.document["native_precision"] = changes.of(of_type(m, *type));
    }
    return;
  }
  std::optional<PublishedFormat> published = of_method(m, *quantization);
  const bool experts_only = published && published->id == "mxfp4_experts";
  const HuggingFaceParts parts =
      experts_only ? HuggingFaceParts{} : parts_left_out(m, *quantization);
  if (!published || !parts.known || !read_sparsity(*quantization, *published)) {
    leave_out(m, fmt::format("No precision of the catalog is plainly that of quantization_config "
                             "(quant_method {}): say precision yourself.",
                             text_at(*quantization, "quant_method")));
    return;
  }
  const LinearFormatNames& format =
      *std::find_if(std::begin(kPublishedFormats), std::end(kPublishedFormats),
                    [&](const LinearFormatNames& f) { return f.id == published->id; });
  PrecisionChanges changes(quantization->place);
  if (published->group_size > 0) {
    changes.set("group_size", std::to_string(published->group_size));
  }
  if (published->sparse) {
    changes.set("sparse", "2:4");
  }
  write_kv_cache(m, *quantization, format, changes);
  write_state(m, outer, changes);
  write_parts(parts, format, *published, changes);
  m.document["native_precision"] = changes.of(format.id);
}

}  // namespace roofcast::workloads
