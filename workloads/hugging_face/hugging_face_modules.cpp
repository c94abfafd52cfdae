// SPDX-License-Identifier: Apache-2.0
//
// Which modules of a model are left out of its quantisation. Each format of checkpoints has lists of names, with patterns
// of its own: part of a name (transformers, AWQ), * as in file names (ModelOpt), regular expressions after "re:"
// (compressed-tensors), "-:" or "+:" (GPTQ). They are tried on the names of the modules that this model has.
#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "workloads/hugging_face/hugging_face_precision.hpp"

namespace roofcast::workloads {
namespace {

using base::Node;

constexpr std::size_t kMostNames = 20'000;   // that a list may have
constexpr std::size_t kMostForAll = 200;     // of them without the number of a layer
constexpr std::size_t kMostChoices = 1'000;  // that an expression may stand for

// A name or pattern. `*` stands for any characters.
struct ModulePattern {
  std::string text;
  bool plain = false;     // part of a name, from dot to dot
  bool anchored = false;  // the end of the pattern is the end of the name
};

// One linear layer, with the names it has in different families, separated by |.
struct LinearModule {
  std::string_view part;
  std::string_view names;
};

constexpr std::array kGqaModules = {
    LinearModule{"attention", "self_attn.q_proj|self_attn.qkv_proj|mixer.q_proj"},
    LinearModule{"attention", "self_attn.k_proj|self_attn.qkv_proj|mixer.k_proj"},
    LinearModule{"attention", "self_attn.v_proj|self_attn.qkv_proj|mixer.v_proj"},
    LinearModule{"attention_output", "self_attn.o_proj|mixer.o_proj"}};
// MLA's kv_b_proj is absorbed and stays in 16 bits.
constexpr std::array kMlaModules = {
    LinearModule{"attention", "self_attn.q_a_proj|self_attn.q_proj|self_attn.fused_qkv_a_proj"},
    LinearModule{"attention", "self_attn.q_b_proj|self_attn.q_proj"},
    LinearModule{"attention", "self_attn.kv_a_proj_with_mqa|self_attn.fused_qkv_a_proj"},
    LinearModule{"attention_output", "self_attn.o_proj"}};
constexpr std::array kDeltaNetModules = {
    LinearModule{"recurrent", "linear_attn.in_proj_qkv|linear_attn.in_proj_qkvz"},
    LinearModule{"recurrent", "linear_attn.in_proj_z|linear_attn.in_proj_qkvz"},
    LinearModule{"recurrent", "linear_attn.out_proj"}};
constexpr std::array kKimiDeltaModules = {
    LinearModule{"recurrent", "self_attn.q_proj"}, LinearModule{"recurrent", "self_attn.k_proj"},
    LinearModule{"recurrent", "self_attn.v_proj"}, LinearModule{"recurrent", "self_attn.o_proj"}};
constexpr std::array kMambaModules = {LinearModule{"recurrent", "mamba.in_proj|mixer.in_proj"},
                                      LinearModule{"recurrent", "mamba.out_proj|mixer.out_proj"}};
constexpr std::array kMlpModules = {
    LinearModule{"mlp",
                 "mlp.gate_proj|mlp.gate_up_proj|mixer.up_proj|feed_forward.gate_proj|shared_mlp."
                 "input_linear"},
    LinearModule{
        "mlp",
        "mlp.up_proj|mlp.gate_up_proj|mixer.up_proj|feed_forward.up_proj|shared_mlp.input_linear"},
    LinearModule{"mlp",
                 "mlp.down_proj|mixer.down_proj|feed_forward.down_proj|shared_mlp.output_linear"}};
constexpr std::array kExpertsModules = {
    LinearModule{"experts",
                 "mlp.experts.0.gate_proj|mlp.experts.gate_up_proj|block_sparse_moe.experts.0.w1|"
                 "mixer.experts.0.up_proj|feed_forward.experts.gate_up_proj"},
    LinearModule{"experts",
                 "mlp.experts.0.up_proj|mlp.experts.gate_up_proj|block_sparse_moe.experts.0.w3|"
                 "mixer.experts.0.up_proj|feed_forward.experts.gate_up_proj"},
    LinearModule{"experts",
                 "mlp.experts.0.down_proj|mlp.experts.down_proj|block_sparse_moe.experts.0.w2|"
                 "mixer.experts.0.down_proj|feed_forward.experts.down_proj"}};
constexpr std::array kSharedModules = {
    LinearModule{
        "shared",
        "mlp.shared_experts.gate_proj|mlp.shared_expert.gate_proj|mixer.shared_experts.up_proj|"
        "feed_forward.shared_expert.gate_proj|shared_mlp.input_linear"},
    LinearModule{
        "shared",
        "mlp.shared_experts.up_proj|mlp.shared_expert.up_proj|mixer.shared_experts.up_proj|"
        "feed_forward.shared_expert.up_proj|shared_mlp.input_linear"},
    LinearModule{
        "shared",
        "mlp.shared_experts.down_proj|mlp.shared_expert.down_proj|mixer.shared_experts.down_proj|"
        "feed_forward.shared_expert.down_proj|shared_mlp.output_linear"}};

const Node& or_none(const Node* node) {
  static const Node kNone;
  return node != nullptr ? *node : kNone;
}

std::vector<LinearModule> modules_of(const HuggingFaceModel& m, const HuggingFaceLayer& layer) {
  std::vector<LinearModule> modules;
  const auto add = [&](const auto& more) {
    modules.insert(modules.end(), more.begin(), more.end());
  };
  if (layer.mixer == "delta_net") {
    m.document.find_path("delta_net.gate_rank") != nullptr ? add(kKimiDeltaModules)
                                                           : add(kDeltaNetModules);
  } else if (layer.mixer == "mamba" || layer.mixer == "mamba1") {
    add(kMambaModules);
  } else if (layer.mixer != "none") {
    const Node* kind = m.document.find_path("attention.kind");
    kind != nullptr && kind->text == "mla" ? add(kMlaModules) : add(kGqaModules);
  }
  if (layer.ffn == "mlp") {
    add(kMlpModules);
  } else if (layer.ffn == "moe") {
    add(kExpertsModules);
    if (m.document.find_path("moe.shared_experts") != nullptr) {
      add(kSharedModules);
    }
  }
  return modules;
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

bool is_small(std::string_view name) {
  name = name.substr(0, name.find_last_not_of("*.") + 1);
  for (const std::string_view small :
       {"vision", "visual", "image", "audio", "projector", "mtp", "indexer", "norm", "bias",
        "conv1d", "in_proj_a", "in_proj_b", "kv_b_proj", "lm_head", "embed", "router", "rotary"}) {
    if (contains(name, small)) {
      return true;
    }
  }
  return name.ends_with("gate");
}

// Models of images and text, and Nemotron-H, have a longer way to the layers.
std::string from_model(std::string_view name) {
  for (const std::string_view longer :
       {"model.language_model.", "language_model.model.", "language_model.", "backbone."}) {
    if (name.starts_with(longer)) {
      return "model." + std::string(name.substr(longer.size()));
    }
  }
  return std::string(name);
}

// `text` with `*` may stand for `name`.
bool stands_for(std::string_view text, std::string_view name) {
  std::size_t star = std::string_view::npos;
  std::size_t retry = 0;
  std::size_t i = 0;
  std::size_t j = 0;
  while (j < name.size()) {
    if (i < text.size() && text[i] == '*') {
      star = i++;
      retry = j;
    } else if (i < text.size() && text[i] == name[j]) {
      ++i;
      ++j;
    } else if (star != std::string_view::npos) {
      i = star + 1;
      j = ++retry;
    } else {
      return false;
    }
  }
  return text.find_first_not_of('*', i) == std::string_view::npos;
}

// A pattern means a module and all that is in it.
bool matches(const ModulePattern& pattern, const std::string& name) {
  if (pattern.plain) {
    return contains("." + name + ".", "." + pattern.text + ".");
  }
  if (pattern.anchored) {
    return stands_for(pattern.text, name);
  }
  return stands_for(pattern.text, name) || stands_for(pattern.text + ".*", name);
}

// An expression without choices: one for each of (a|b). Nothing where it has other groups.
std::optional<std::vector<std::string>> without_choices(std::string_view expression) {
  std::vector<std::string> all = {std::string(expression)};
  for (std::size_t open = 0; (open = all.front().find('(')) != std::string::npos;) {
    std::vector<std::string> more;
    for (const std::string& one : all) {
      open = one.find('(');
      const std::size_t close =
          one.find_first_of("()", open == std::string::npos ? open : open + 1);
      if (close == std::string::npos || one[close] != ')' ||
          (close + 1 < one.size() && contains("*+?{", one.substr(close + 1, 1)))) {
        return std::nullopt;
      }
      std::string_view choices = std::string_view(one).substr(open + 1, close - open - 1);
      choices.remove_prefix(choices.starts_with("?:") ? 2 : 0);
      for (std::size_t bar = 0; bar != std::string_view::npos;) {
        bar = choices.find('|');
        more.push_back(one.substr(0, open) + std::string(choices.substr(0, bar)) +
                       one.substr(close + 1));
        choices.remove_prefix(bar == std::string_view::npos ? choices.size() : bar + 1);
      }
      if (more.size() > kMostChoices) {
        return std::nullopt;
      }
    }
    all = std::move(more);
  }
  return all;
}

// A regular expression of dots, stars and letters.
std::optional<ModulePattern> pattern_of(std::string_view expression) {
  ModulePattern pattern;
  expression.remove_prefix(expression.starts_with('^') ? 1 : 0);
  while (!expression.empty()) {
    const auto take = [&](std::string_view start, std::string_view meaning) {
      const bool found = expression.starts_with(start);
      pattern.text += found ? meaning : "";
      expression.remove_prefix(found ? start.size() : 0);
      return found;
    };
    if (expression == "$") {
      pattern.anchored = true;
      return pattern;
    }
    if (take(".*", "*") || take(".+", "*") || take("\\d+", "*") || take("[0-9]+", "*") ||
        take("\\.", ".")) {
      continue;
    }
    if (contains("\\()[]{}|+*?^$", expression.substr(0, 1))) {
      return std::nullopt;
    }
    pattern.text += expression.front();
    expression.remove_prefix(1);
  }
  pattern.text += '*';  // an expression is tried at the start of a name
  return pattern;
}

struct ModulePatterns {
  bool known = true;
  std::vector<ModulePattern> of_all_layers;
  std::map<std::size_t, std::vector<ModulePattern>> of_layer;
  std::size_t count = 0;

  void add(ModulePattern pattern);
  void add_expression(std::string_view expression);
  void add_name(const std::string& name);
};

// The layer that a pattern names.
std::optional<std::size_t> layer_of(std::string_view text) {
  constexpr std::string_view kBefore = "layers.";
  const std::size_t at = text.find(kBefore);
  if (at == std::string_view::npos) {
    return std::nullopt;
  }
  text.remove_prefix(at + kBefore.size());
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const bool whole = digits > 0 && digits < 6 && (digits == text.size() || text[digits] == '.');
  return whole ? std::optional(std::stoul(std::string(text.substr(0, digits)))) : std::nullopt;
}

void ModulePatterns::add(ModulePattern pattern) {
  pattern.text = from_model(pattern.text);
  if (const auto layer = layer_of(pattern.text)) {
    of_layer[*layer].push_back(std::move(pattern));
  } else {
    of_all_layers.push_back(std::move(pattern));
  }
  known = known && ++count <= kMostNames && of_all_layers.size() <= kMostForAll;
}

void ModulePatterns::add_expression(std::string_view expression) {
  const auto choices = without_choices(expression);
  known = known && choices;
  for (const std::string& choice : choices.value_or(std::vector<std::string>{})) {
    const auto pattern = pattern_of(choice);
    known = known && pattern;
    add(pattern.value_or(ModulePattern{}));
  }
}

void ModulePatterns::add_name(const std::string& name) {
  constexpr std::string_view kExpression = "re:";
  if (name.starts_with(kExpression)) {
    add_expression(std::string_view(name).substr(kExpression.size()));
  } else {
    add({name, name.find('*') == std::string::npos, false});
  }
}

ModulePatterns left_out(const Node& quantization) {
  ModulePatterns patterns;
  for (const Node* group : {&quantization, quantization.find("quantization")}) {
    for (const std::string_view key :
         {"ignore", "ignored_layers", "exclude_modules", "modules_to_not_convert"}) {
      const Node* list = group != nullptr ? group->find(key) : nullptr;
      for (const Node& item : or_none(list).items) {
        patterns.add_name(item.text);
      }
    }
  }
  for (const base::Entry& entry : or_none(quantization.find("dynamic")).entries) {
    const bool excluded = entry.key.starts_with("-:");
    const bool changes = !excluded && !entry.value.entries.empty();
    patterns.known = patterns.known && !changes;
    if (excluded) {
      patterns.add_expression(std::string_view(entry.key).substr(2));
    }
  }
  return patterns;
}

// compressed-tensors: what is quantised at all. "Linear" is everything.
ModulePatterns targets(const Node& quantization) {
  ModulePatterns patterns;
  for (const base::Entry& group : or_none(quantization.find("config_groups")).entries) {
    for (const Node& item : or_none(group.value.find("targets")).items) {
      patterns.add_name(item.text == "Linear" ? "*" : item.text);
    }
  }
  if (patterns.count == 0) {
    patterns.add_name("*");
  }
  return patterns;
}

bool any_name(std::string_view spellings, std::size_t layer,
              const std::function<bool(const std::string&)>& is_one) {
  bool found = false;
  while (!spellings.empty()) {
    const std::size_t bar = std::min(spellings.find('|'), spellings.size());
    found = is_one("model.layers." + std::to_string(layer) + "." +
                   std::string(spellings.substr(0, bar))) ||
            found;
    spellings.remove_prefix(std::min(bar + 1, spellings.size()));
  }
  return found;
}

// Whether it stands for a module of any model. Lists name parts that a model of the family lacks.
bool is_of_some_model(const ModulePattern& pattern) {
  const auto in = [&](const auto& modules) {
    return std::any_of(modules.begin(), modules.end(), [&](const LinearModule& module) {
      return any_name(module.names, layer_of(pattern.text).value_or(0),
                      [&](const std::string& name) { return matches(pattern, name); });
    });
  };
  return in(kGqaModules) || in(kMlaModules) || in(kDeltaNetModules) || in(kMambaModules) ||
         in(kMlpModules) || in(kExpertsModules) || in(kSharedModules);
}

// Tries patterns on modules, and keeps which of them stood for one.
class TriedPatterns {
 public:
  explicit TriedPatterns(ModulePatterns patterns) : patterns_(std::move(patterns)) {}

  bool names(std::size_t layer, std::string_view spellings) {
    const auto of_layer = patterns_.of_layer.find(layer);
    return any_name(spellings, layer, [&](const std::string& name) {
      const bool of_all = any(patterns_.of_all_layers, name);
      return (of_layer != patterns_.of_layer.end() && any(of_layer->second, name)) || of_all;
    });
  }

  // Whether what stood for no module is small, or of another model.
  bool others_are_small(std::size_t layers) const {
    const auto small = [&](const std::vector<ModulePattern>& all) {
      return std::all_of(all.begin(), all.end(), [&](const ModulePattern& pattern) {
        return used_.contains(pattern.text) || is_small(pattern.text) || is_of_some_model(pattern);
      });
    };
    // Layers behind the last one are those of multi-token prediction.
    return patterns_.known && small(patterns_.of_all_layers) &&
           std::all_of(patterns_.of_layer.begin(), patterns_.of_layer.end(),
                       [&](const auto& of) { return of.first >= layers || small(of.second); });
  }

 private:
  bool any(const std::vector<ModulePattern>& all, const std::string& name) {
    bool found = false;
    for (const ModulePattern& pattern : all) {
      if (matches(pattern, name)) {
        used_.insert(pattern.text);
        found = true;
      }
    }
    return found;
  }

  ModulePatterns patterns_;
  std::set<std::string, std::less<>> used_;
};

}  // namespace

bool HuggingFaceParts::is_plain(std::string_view part) const {
  return std::find(plain.begin(), plain.end(), part) != plain.end();
}

bool HuggingFaceParts::is_quantised(std::string_view part) const {
  return std::find(quantised.begin(), quantised.end(), part) != quantised.end();
}

HuggingFaceParts parts_left_out(const HuggingFaceModel& m, const Node& quantization) {
  struct Count {
    std::size_t all = 0;
    std::size_t plain = 0;
  };
  TriedPatterns excluded(left_out(quantization));
  TriedPatterns included(targets(quantization));
  std::map<std::string_view, Count> counts;
  for (std::size_t layer = 0; layer < m.layers.size(); ++layer) {
    for (const LinearModule& module : modules_of(m, m.layers[layer])) {
      const bool is_plain =
          excluded.names(layer, module.names) || !included.names(layer, module.names);
      ++counts[module.part].all;
      counts[module.part].plain += is_plain ? 1U : 0U;
    }
  }
  HuggingFaceParts parts;
  parts.known =
      excluded.others_are_small(m.layers.size()) && included.others_are_small(m.layers.size());
  for (const auto& [part, count] : counts) {
    parts.known = parts.known && (count.plain == 0 || count.plain == count.all);
    (count.plain == 0 ? parts.quantised : parts.plain).emplace_back(part);
  }
  parts.known = parts.known && !parts.quantised.empty();
  return parts;
}

}  // namespace roofcast::workloads
