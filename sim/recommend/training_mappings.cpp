// SPDX-License-Identifier: Apache-2.0
#include "sim/recommend/training_mappings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "base/document/problems.hpp"
#include "base/integers.hpp"
#include "sim/scenario/knob.hpp"
#include "workloads/architecture/parameters.hpp"
#include "workloads/training/pipeline_layout.hpp"

namespace roofcast::sim {
namespace {

using workloads::Mapping;
using workloads::Module;
using workloads::Recompute;

constexpr std::int64_t kMostTrainingStages = 64;
constexpr std::int64_t kMostSequences = 8;   // of a micro-batch
constexpr std::int64_t kLeastTokens = 1024;  // of a sequence, on a rank

// Chunks of a rank, and the layout where embedding and loss count as a layer.
struct Chunks {
  std::int64_t virtual_stages = 1;
  std::string layout;
};

std::string repeated(std::int64_t layers) {
  return layers == 0 ? "" : layers == 1 ? "t" : fmt::format("t*{}", layers);
}

// Of a chunk a stage: the layout whose last stage has as many layers less as the head has parameters of. Empty where that
// is none, or more than a stage has.
std::string lighter_end(const workloads::Architecture& model, std::int64_t stages) {
  const std::int64_t layers = model.layer_count();
  const double table = base::as_double(model.vocab * model.hidden);
  const double layer = (workloads::active_parameters(model) - table) / base::as_double(layers);
  const std::int64_t head = std::llround(table / layer);
  const std::int64_t all = layers + head;
  if (head == 0 || all / stages < head) {
    return {};
  }
  std::string text = "E";
  for (std::int64_t stage = 0; stage + 1 < stages; ++stage) {
    text += repeated(all / stages + (stage < all % stages ? 1 : 0)) + "|";
  }
  return text + repeated(all / stages - head) + "L";
}

// Of 1f1b any number of chunks a rank, of zb_v two, of the others one.
std::vector<Chunks> chunks_of(const workloads::Architecture& model, std::int64_t stages,
                              workloads::Schedule schedule) {
  const std::int64_t layers = model.layer_count();
  const bool interleaves = schedule == workloads::Schedule::one_forward_one_backward;
  const std::int64_t least = schedule == workloads::Schedule::zero_bubble_v ? 2 : 1;
  std::vector<Chunks> all;
  if (stages == 1) {
    return {{least, {}}};
  }
  for (std::int64_t v = least; v == least || (interleaves && stages * v <= layers + 2); ++v) {
    const std::int64_t chunks = stages * v;
    if ((layers + 2) % chunks == 0) {
      const std::int64_t own = (layers + 2) / chunks;
      const std::string ends = repeated(own - 1);
      all.push_back({v, fmt::format("E{}|({}|)*{}{}L", ends, repeated(own), chunks - 2, ends)});
    } else if (layers % chunks == 0 || v == least) {
      all.push_back({v, {}});
    }
  }
  if (const std::string lighter = lighter_end(model, stages); least == 1 && !lighter.empty()) {
    all.push_back({1, lighter});
  }
  return all;
}

std::vector<Recompute> recomputes_of(const workloads::Architecture& model) {
  std::vector<Recompute> all(3);
  all[1].add(Module::norms);
  const auto has = [&](workloads::Ffn ffn) {
    return std::any_of(model.layers.begin(), model.layers.end(),
                       [&](const workloads::LayerGroup& layer) { return layer.ffn == ffn; });
  };
  if (has(workloads::Ffn::mlp)) {
    all[1].add(Module::mlp);
  }
  if (has(workloads::Ffn::moe)) {
    all[1].add(Module::expert_activation);
  }
  if (model.attention.kind == workloads::AttentionKind::mla) {
    all[1].add(Module::mla_up);
  }
  all[2].full = true;
  return all;
}

// Calls `of` with 1, 2, 4, … up to `most`.
template <class Of>
void each_power(std::int64_t most, Of of) {
  for (std::int64_t n = 1; n <= most; n *= 2) {
    of(n);
  }
}

}  // namespace

std::vector<TrainingChoice> training_choices(const ScenarioView& s, std::int64_t gpus) {
  const workloads::Training& t = *s.training;
  const std::int64_t layers = s.model->layer_count();
  const bool interleaves = t.schedule == workloads::Schedule::one_forward_one_backward;
  const std::vector<Recompute> recomputes = recomputes_of(*s.model);
  std::vector<TrainingChoice> all;
  const auto add_with = [&](const Mapping& mapping, const Chunks& chunks) {
    each_power(kMostSequences, [&](std::int64_t micro_batch) {
      const std::int64_t share = mapping.data_parallel * micro_batch;
      const std::int64_t count = t.global_batch / share;
      const bool turns =
          interleaves && chunks.virtual_stages > 1 && count % mapping.pipeline_parallel != 0;
      if (t.global_batch % share == 0 && !turns) {
        for (const Recompute& recompute : recomputes) {
          all.push_back({mapping, micro_batch, chunks.virtual_stages, chunks.layout, recompute});
        }
      }
    });
  };
  const std::int64_t domain = std::min(gpus, s.platform->system.scale_up_domain);
  each_power(domain, [&](std::int64_t tp) {
    each_power(std::max<std::int64_t>(1, t.sequence_length / kLeastTokens), [&](std::int64_t cp) {
      each_power(std::min(kMostTrainingStages, layers), [&](std::int64_t pp) {
        if (gpus % (tp * cp * pp) != 0) {
          return;
        }
        Mapping mapping = *s.mapping;
        mapping.tensor_parallel = tp;
        mapping.context_parallel = cp;
        mapping.pipeline_parallel = pp;
        mapping.data_parallel = gpus / (tp * cp * pp);
        mapping.sequence_parallel = tp > 1;
        const std::vector<Chunks> chunks = chunks_of(*s.model, pp, t.schedule);
        const std::int64_t experts = s.model->moe.experts;
        each_power(std::max<std::int64_t>(1, std::min(experts, gpus / pp)), [&](std::int64_t ep) {
          mapping.expert_parallel = ep;
          if (experts == 0 || (gpus / pp % ep == 0 && experts % ep == 0)) {
            for (const Chunks& some : chunks) {
              add_with(mapping, some);
            }
          }
        });
      });
    });
  });
  return all;
}

std::string mapping_name(const Mapping& m) {
  std::string text = fmt::format("TP{}", m.tensor_parallel);
  for (const auto& [word, ways] : {std::pair{" CP", m.context_parallel},
                                   {" PP", m.pipeline_parallel},
                                   {" EP", m.expert_parallel},
                                   {" DP", m.data_parallel}}) {
    text += ways > 1 ? fmt::format("{}{}", word, ways) : "";
  }
  return text;
}

std::string recompute_name(const Recompute& recompute) {
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < workloads::kModuleNames.size(); ++i) {
    if (recompute.has(static_cast<Module>(i))) {
      names.push_back(workloads::kModuleNames[i]);
    }
  }
  return recompute.full  ? "full"
         : names.empty() ? "none"
                         : fmt::format("{}", fmt::join(names, " "));
}

base::Node with_choice(const base::Node& document, const TrainingChoice& choice) {
  base::Node with = document;
  base::Problems problems;
  const auto set = [&](std::string_view path, const std::string& value) {
    set_knob(with, {"recommend", fmt::format("{}={}", path, value), {}}, problems);
  };
  const Mapping& m = choice.mapping;
  for (const auto& [key, ways] : {std::pair{"tensor", m.tensor_parallel},
                                  {"context", m.context_parallel},
                                  {"pipeline", m.pipeline_parallel},
                                  {"expert", m.expert_parallel},
                                  {"data", m.data_parallel}}) {
    set(fmt::format("deployment.{}_parallel", key), fmt::format("{}", ways));
  }
  set("deployment.sequence_parallel", m.sequence_parallel ? "true" : "false");
  set("training.micro_batch", fmt::format("{}", choice.micro_batch));
  set("training.virtual_stages", fmt::format("{}", choice.virtual_stages));
  if (base::Node* training = with.find_path("training")) {
    std::erase_if(training->entries, [](const base::Entry& entry) {
      return entry.key == "layout" || entry.key == "recompute_layers";
    });
  }
  if (!choice.layout.empty()) {
    set("training.layout", fmt::format("\"{}\"", choice.layout));
  }
  const std::string again = recompute_name(choice.recompute);
  std::string listed = again;
  std::replace(listed.begin(), listed.end(), ' ', ',');
  set("training.recompute", again.find(' ') == std::string::npos ? again : "[" + listed + "]");
  problems.throw_if_any();
  return with;
}

}  // namespace roofcast::sim
