// SPDX-License-Identifier: Apache-2.0
#include "workloads/hugging_face/hugging_face.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>

#include "base/nearest.hpp"
#include "workloads/hugging_face/hugging_face_parts.hpp"
#include "workloads/hugging_face/hugging_face_precision.hpp"

namespace roofcast::workloads {
namespace {

using base::Node;

const Node* scalar_at(const Node& node, std::string_view key) {
  const Node* found = node.find(key);
  return found != nullptr && found->is_scalar() && !found->text.empty() ? found : nullptr;
}

const Node* architecture_of(const Node& node) {
  const Node* list = node.find("architectures");
  return list != nullptr && !list->items.empty() ? &list->items.front() : nullptr;
}

// The key under which a model of images or sound keeps the configuration of its language model.
std::string_view key_of_text(const Node& config) {
  for (const std::string_view key : {"text_config", "llm_config", "language_config"}) {
    if (const Node* found = config.find(key); found != nullptr && found->is_map()) {
      return key;
    }
  }
  return "";
}

const HuggingFaceFamily* family_named(std::string_view model_type) {
  const auto& families = hugging_face_families();
  const auto it = std::find_if(families.begin(), families.end(),
                               [&](const auto& family) { return family.model_type == model_type; });
  return it != families.end() ? &*it : nullptr;
}

const HuggingFaceFamily* family_of(const Node& config) {
  const Node* type = scalar_at(config, "model_type");
  const Node* architecture = architecture_of(config);
  for (const HuggingFaceFamily& family : hugging_face_families()) {
    if (type != nullptr &&
        (type->text == family.model_type || type->text + "_text" == family.model_type)) {
      return &family;
    }
  }
  for (const HuggingFaceFamily& family : hugging_face_families()) {
    if (architecture != nullptr && architecture->text == family.architecture) {
      return &family;
    }
  }
  return nullptr;
}

// Keys that decide what a layer is made of, and the family whose keys they are.
struct DecidingKey {
  std::string_view key;
  std::string_view family;
};
constexpr DecidingKey kDeciding[] = {
    {"kv_lora_rank", "deepseek_v3"},          {"n_routed_experts", "deepseek_v3"},
    {"linear_num_value_heads", "qwen3_next"}, {"hybrid_override_pattern", "nemotron_h"},
    {"num_local_experts", "mixtral"},         {"num_experts", "qwen3_moe"},
    {"num_key_value_heads", "llama"},         {"intermediate_size", "llama"}};

// "; the keys kv_lora_rank, n_routed_experts decide …": of a file that can be read as a model of their family.
std::string deciding_keys(const Node& config, const std::function<bool(std::string_view)>& reads) {
  std::vector<std::string_view> found;
  std::string_view family;
  for (const DecidingKey& deciding : kDeciding) {
    if (scalar_at(config, deciding.key) != nullptr) {
      found.push_back(deciding.key);
      family = family.empty() ? deciding.family : family;
    }
  }
  return found.empty() || !reads(family)
             ? ""
             : fmt::format(
                   "; the keys {} decide what a layer is: if they mean what they mean in "
                   "\"{}\", write that as model_type",
                   fmt::join(found, ", "), family);
}

// Of a family whose layers are not modelled: the key that says so.
bool refused(const Node& config, base::Problems& problems) {
  const Node* type = scalar_at(config, "model_type");
  for (const HuggingFaceRefusal& refusal : hugging_face_refusals()) {
    if (type != nullptr &&
        (type->text == refusal.model_type || type->text + "_text" == refusal.model_type)) {
      const Node* key = config.find(refusal.key);
      problems.add(key != nullptr ? key->place : type->place,
                   key != nullptr ? refusal.key : "model_type",
                   fmt::format("\"{}\" has {}, which is not modelled", type->text, refusal.why));
      return true;
    }
  }
  return false;
}

// `reads`: whether the file is without problems as a model of a family.
void report_family(const Node& config, const std::function<bool(std::string_view)>& reads,
                   base::Problems& problems) {
  if (refused(config, problems)) {
    return;
  }
  std::vector<std::string> supported;
  for (const HuggingFaceFamily& family : hugging_face_families()) {
    supported.emplace_back(family.model_type);
  }
  const Node* type = scalar_at(config, "model_type");
  const Node* named = type != nullptr ? type : architecture_of(config);
  const std::string name = named != nullptr ? named->text : "";
  std::string message = fmt::format("models of type \"{}\" are not supported", name);
  if (const auto near = base::nearest_name(name, supported)) {
    message += fmt::format("; the nearest that is: \"{}\"", *near);
  }
  problems.add(named != nullptr ? named->place : config.place,
               type != nullptr ? "model_type" : "architectures",
               fmt::format("{}{} (supported: {})", message, deciding_keys(config, reads),
                           fmt::join(supported, ", ")));
}

// A class beside another model_type, and keys of parts that the family does not have.
void refuse_contradictions(HuggingFaceModel& m, const HuggingFaceFamily& family) {
  HuggingFaceConfig& c = m.config;
  const Node* architecture = architecture_of(c.node());
  for (const HuggingFaceFamily& other : hugging_face_families()) {
    if (architecture != nullptr && scalar_at(c.node(), "model_type") != nullptr &&
        architecture->text == other.architecture && other.translate != family.translate) {
      c.problem(architecture->place, "architectures",
                fmt::format("{} is the class of \"{}\", but model_type is \"{}\"",
                            other.architecture, other.model_type, family.model_type));
      return;
    }
  }
  for (const std::string_view key : {"num_experts", "num_local_experts", "n_routed_experts"}) {
    if (m.document.find("moe") == nullptr && !c.is_null(key) && c.has(key) &&
        c.optional(key, 0).value > 1) {
      c.problem(
          c.place_of(key), key,
          fmt::format("no layer has experts as \"{}\" is read: this key or model_type is wrong",
                      family.model_type));
    }
  }
  const Node* attention = m.document.find("attention");
  const Node* kind = attention != nullptr ? attention->find("kind") : nullptr;
  if (kind != nullptr && kind->text != "mla" && c.has("kv_lora_rank") &&
      !c.is_null("kv_lora_rank")) {
    c.problem(c.place_of("kv_lora_rank"), "kv_lora_rank",
              fmt::format("\"{}\" has no latent attention: this key or model_type is wrong",
                          family.model_type));
  }
}

void refuse_encoders(HuggingFaceConfig& c) {
  for (const std::string_view key : {"is_encoder_decoder", "add_cross_attention"}) {
    if (c.flag(key, false)) {
      c.problem(c.place_of(key), key, "models with an encoder are not modelled");
    }
  }
}

std::string name_of(const Node& config, const Node& text, const HuggingFaceFamily& family) {
  for (const Node* node : {&config, &text}) {
    if (const Node* name = scalar_at(*node, "_name_or_path")) {
      return name->text;
    }
  }
  const Node* architecture = architecture_of(config);
  return architecture != nullptr && !architecture->text.empty() ? architecture->text
                                                                : std::string(family.model_type);
}

// As vLLM reads it: YaRN stretches the context of the training before, linear and dynamic scaling that of the file.
Figure longest_context(HuggingFaceConfig& c) {
  Figure longest = c.required("max_position_embeddings");
  const Node* scaling = c.find(c.first_of({"rope_scaling", "rope_parameters"}));
  if (scaling == nullptr || !scaling->is_map()) {
    return longest;
  }
  HuggingFaceConfig rope = c.at(*scaling, "rope_scaling");
  const std::string type = rope.text(rope.first_of({"rope_type", "type"}));
  const bool yarn = type.ends_with("yarn");
  if ((!yarn && type != "linear" && type != "dynamic") || !rope.has("factor")) {
    return longest;
  }
  const Figure before = yarn ? rope.optional("original_max_position_embeddings", 0) : longest;
  const double stretched =
      std::min(static_cast<double>(before.value) * rope.required_number("factor"), 1e15);
  if (stretched > static_cast<double>(longest.value)) {
    longest = {static_cast<std::int64_t>(stretched), rope.place_of("factor")};
  }
  return longest;
}

void head_of(HuggingFaceModel& m, const Node& config, const HuggingFaceFamily& family) {
  HuggingFaceConfig& c = m.config;
  const base::Place& top = config.place;
  m.set("", "name", name_of(config, c.node(), family), top);
  m.set("", "max_context", longest_context(c));
  m.set("", "hidden", c.required("hidden_size"));
  m.set("", "vocab", c.required("vocab_size"));
}

void tail_of(HuggingFaceModel& m, const Node& config, const HuggingFaceFamily& family) {
  bool interleaved = false;
  m.document["layers"] = layer_groups(m.layers, m.irregular, interleaved);
  if (interleaved) {
    m.set("", "interleaved", true, m.layers.front().place);
  }
  if (!m.mtp.empty()) {
    m.document["mtp"] = layer_groups(m.mtp, true, interleaved);
  }
  const std::string file =
      config.place.source ? std::filesystem::path(config.place.source->name).filename().string()
                          : std::string("a document");
  m.set("", "source",
        fmt::format("{}, a Hugging Face configuration of model_type {}", file, family.model_type),
        config.place);
  if (m.notes.empty()) {
    return;
  }
  Node& notes = m.document["notes"];
  notes.kind = Node::Kind::sequence;
  for (const std::string& note : m.notes) {
    notes.items.push_back(base::scalar_node(note, config.place));
  }
}

// The document of a model of `family`. `key`: of its language model, or empty.
Node translated(const Node& config, std::string_view key, const HuggingFaceFamily& family,
                base::Problems& problems) {
  const Node& text = key.empty() ? config : *config.find(key);
  HuggingFaceModel m{
      HuggingFaceConfig(text, std::string(key), problems, family.keys), {}, {}, {}, false, {}};
  m.document.kind = Node::Kind::map;
  m.document.place = config.place;
  m.document.reference = config.reference;
  if (!key.empty()) {
    m.notes.push_back(fmt::format(
        "Only the language model ({}) is described: encoders of images or sound are not.", key));
  }
  HuggingFaceConfig outer(config, "", problems);
  refuse_encoders(outer);
  head_of(m, config, family);
  HuggingFaceConfig& tied = m.config.has("tie_word_embeddings") ? m.config : outer;
  m.set("", "tied_embeddings", tied.flag("tie_word_embeddings", family.tied),
        tied.place_of("tie_word_embeddings"));
  family.translate(m);
  native_precision(m, config);
  refuse_contradictions(m, family);
  refuse_unread(m, family.model_type);
  tail_of(m, config, family);
  return std::move(m.document);
}

}  // namespace

bool is_hugging_face(const Node& document) {
  return document.find("model_type") != nullptr || document.find("architectures") != nullptr;
}

Node from_hugging_face(const Node& config) {
  base::Problems problems;
  const std::string_view key = key_of_text(config);
  const Node& text = key.empty() ? config : *config.find(key);
  const HuggingFaceFamily* family = family_of(text);
  const bool named = scalar_at(text, "model_type") != nullptr;
  family = family == nullptr && !named ? family_of(config) : family;
  if (family == nullptr) {
    const auto reads = [&](std::string_view model_type) {
      base::Problems silent;
      translated(config, key, *family_named(model_type), silent);
      return silent.size() == 0;
    };
    report_family(named ? text : config, reads, problems);
    problems.throw_if_any();
  }
  Node document = translated(config, key, *family, problems);
  problems.throw_if_any();
  return document;
}

}  // namespace roofcast::workloads
