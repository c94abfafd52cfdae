// SPDX-License-Identifier: Apache-2.0
//
// What the families of Hugging Face configurations have in common. Each function reads the keys of one part
// of a model and writes that part of our document.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "workloads/hugging_face/hugging_face_config.hpp"

namespace roofcast::workloads {

// One layer in the words of our schema. 0: the figure of the model.
struct HuggingFaceLayer {
  std::string_view mixer = "attention";
  std::string_view ffn = "mlp";
  std::int64_t kv_heads = 0;
  std::int64_t window = 0;
  std::int64_t intermediate = 0;
  base::Place place;

  bool is_like(const HuggingFaceLayer& other) const {
    return mixer == other.mixer && ffn == other.ffn && kv_heads == other.kv_heads &&
           window == other.window && intermediate == other.intermediate;
  }
};
using HuggingFaceLayers = std::vector<HuggingFaceLayer>;

// A configuration and its translation so far.
struct HuggingFaceModel {
  HuggingFaceConfig config;
  base::Node document;       // our document, without layers, mtp and notes
  HuggingFaceLayers layers;  // from first to last
  HuggingFaceLayers mtp;
  bool irregular = false;  // layers follow no pattern, so their order is kept
  std::vector<std::string> notes;

  // `group` is a top-level key of our document, or empty for the top itself.
  void set(std::string_view group, std::string_view key, const Figure& figure);
  void set(std::string_view group, std::string_view key, bool flag, const base::Place& place);
  void set(std::string_view group, std::string_view key, std::string text,
           const base::Place& place);
  bool mixes(std::string_view mixer) const;  // whether a layer has this mixer
  bool feeds(std::string_view ffn) const;    // whether a layer has this feed-forward
};

// Equal layers as groups. Layers keep their order if all layers of each kind stand together, or if they are irregular.
// Otherwise each kind is one group and `interleaved` is set.
base::Node layer_groups(const HuggingFaceLayers& layers, bool irregular, bool& interleaved);

struct GqaDefaults {
  std::int64_t head_dim = 0;  // 0 = hidden_size / num_attention_heads
  bool qkv_bias = false;
  bool qk_norm = false;
  bool output_gate = false;
};

// The product, as far as a document may have such a number.
Figure times(const Figure& figure, std::int64_t factor);
// A feature of a layer that changes little, and is not timed.
void leave_out(HuggingFaceModel& m, std::string_view note);
// A key whose feature changes what a layer computes: a problem, unless it is null, false or 0.
void refuse(HuggingFaceConfig& c, std::initializer_list<std::string_view> keys,
            std::string_view why = "is not modelled");

// num_hidden_layers equal layers.
void start_layers(HuggingFaceModel& m, std::string_view mixer, std::string_view ffn);
// Sets the mixer of each layer where layer_types lists them. `linear_attention`: the mixer that this word means.
void layer_types(HuggingFaceModel& m, std::string_view linear_attention = "");
// Every `pattern`-th layer has full attention, the others a window, unless layer_types lists them.
void slide_between(HuggingFaceModel& m, std::string_view pattern_key, std::int64_t pattern);
// All layers have sliding attention.
void slide_all(HuggingFaceModel& m);
// Attention and feed-forward of a layer read the same input.
void side_by_side(HuggingFaceModel& m);
void gqa(HuggingFaceModel& m, const GqaDefaults& defaults);
void mla(HuggingFaceModel& m);
// Sets the window of the layers that have one.
void window(HuggingFaceModel& m);
void mlp(HuggingFaceModel& m, std::string_view key = "intermediate_size", bool gated = true);
void mamba(HuggingFaceModel& m);
// Sets the routed experts. Returns false when no layer has experts.
bool moe(HuggingFaceModel& m, std::string_view intermediate_key, bool gated = true);
void shared_experts(HuggingFaceModel& m, const Figure& count, const Figure& intermediate);
// Experts of a router without a balancing bias are chosen unevenly: the assumption of the catalog's models.
void popular_experts(HuggingFaceModel& m);
// Sets the multi-token-prediction modules: one layer each, with full attention and the feed-forward of the last layer.
void mtp(HuggingFaceModel& m, std::string_view key);

// A family of models whose configurations have the same keys.
struct HuggingFaceFamily {
  std::string_view model_type;
  std::string_view architecture;
  void (*translate)(HuggingFaceModel& m);
  HuggingFaceKeys keys = {};  // spelled in another way
  bool tied = false;          // where the file does not say tie_word_embeddings
};
const std::vector<HuggingFaceFamily>& hugging_face_families();

// The families of each file.
std::span<const HuggingFaceFamily> gated_families();   // and others of the usual kind
std::span<const HuggingFaceFamily> plain_families();   // whose MLP is not gated
std::span<const HuggingFaceFamily> expert_families();  // whose experts have keys of their own
std::span<const HuggingFaceFamily> hybrid_families();  // with recurrent layers

// Refuses keys that nobody asked for, if they change the work of models elsewhere or are misspelt. Keys whose parts are
// merely left out become notes.
void refuse_unread(HuggingFaceModel& m, std::string_view model_type);

// Families with many kinds of layers, in hugging_face_nemotron.cpp.
void nemotron_nas(HuggingFaceModel& m);
void nemotron_h(HuggingFaceModel& m);

// Families whose layers the models here lack, and the key that says so.
struct HuggingFaceRefusal {
  std::string_view model_type;
  std::string_view key;
  std::string_view why;
};
std::span<const HuggingFaceRefusal> hugging_face_refusals();

}  // namespace roofcast::workloads
