// SPDX-License-Identifier: Apache-2.0
#include "sim/recommend/shapes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace roofcast::sim {
namespace {

using workloads::Mapping;

constexpr std::int64_t kMostStages = 16;
constexpr std::int64_t kPromptEighths = 6;  // of the GPUs, at most

std::string pool_name(const workloads::Pool& pool) {
  const Mapping& m = pool.mapping;
  std::string text = pool.replicas > 1 ? fmt::format("{} x ", pool.replicas) : "";
  text += fmt::format("TP{}", m.tensor_parallel);
  for (const auto& [word, ways] : {std::pair{" PP", m.pipeline_parallel},
                                   {" DP", m.data_parallel},
                                   {" EP", m.expert_parallel}}) {
    text += ways > 1 ? fmt::format("{}{}", word, ways) : "";
  }
  return text;
}

Shape one_pool(const Mapping& mapping, std::int64_t replicas) {
  Shape shape;
  shape.main.mapping = mapping;
  shape.main.replicas = replicas;
  return shape;
}

Shape two_pools(const Mapping& prompts, std::int64_t prompt_replicas, const Mapping& decodes,
                std::int64_t decode_replicas) {
  Shape shape = one_pool(decodes, decode_replicas);
  shape.prompts = one_pool(prompts, prompt_replicas).main;
  return shape;
}

// Replicas of p and d ranks.
std::vector<std::pair<std::int64_t, std::int64_t>> splits(std::int64_t p, std::int64_t d,
                                                          std::int64_t gpus, Load load) {
  std::vector<std::pair<std::int64_t, std::int64_t>> all;
  if (load == Load::free) {
    for (std::int64_t eighths = 1; eighths <= kPromptEighths; ++eighths) {
      const std::int64_t a = std::max<std::int64_t>(1, gpus * eighths / 8 / p);
      const std::int64_t b = (gpus - a * p) / d;
      if (b >= 1 && (all.empty() || all.back() != std::pair{a, b})) {
        all.emplace_back(a, b);
      }
    }
    return all;
  }
  for (const std::int64_t a : counts(gpus / p, 2)) {
    for (const std::int64_t b : counts(std::max<std::int64_t>(0, (gpus - a * p) / d), 2)) {
      all.emplace_back(a, b);
    }
  }
  return all;
}

}  // namespace

std::vector<std::int64_t> counts(std::int64_t most, std::int64_t per_octave) {
  std::vector<std::int64_t> all;
  std::int64_t step = 1;
  for (std::int64_t n = 1; n <= most; n += step) {
    step = n == 2 * step * per_octave ? 2 * step : step;
    all.push_back(n);
  }
  return all;
}

std::string name(const Shape& shape) {
  return shape.prompts ? fmt::format("prefill {}, decode {}", pool_name(*shape.prompts),
                                     pool_name(shape.main))
                       : pool_name(shape.main);
}

std::vector<Mapping> legal_mappings(const workloads::Architecture& model,
                                    const hardware::System& system, std::int64_t gpus) {
  const std::int64_t most = std::min(gpus, system.chips);
  const std::int64_t domain = std::min(most, system.scale_up_domain);
  const bool has_experts = model.moe.experts > 0;
  std::vector<Mapping> all;
  const auto add = [&](Mapping mapping, std::int64_t experts) {
    mapping.expert_parallel = experts;
    if (workloads::fault_of(model, mapping) == workloads::MappingFault::none) {
      all.push_back(mapping);
    }
  };
  for (std::int64_t tp = 1; tp <= domain; tp *= 2) {
    const bool stages = 2 * tp > domain || !system.scale_up.peer_access;
    for (std::int64_t pp = 1; pp <= (stages ? kMostStages : 1) && tp * pp <= most; pp *= 2) {
      Mapping mapping;
      mapping.tensor_parallel = tp;
      mapping.pipeline_parallel = pp;
      add(mapping, 1);
      if (has_experts && tp > 1) {
        add(mapping, tp);
      }
    }
    for (std::int64_t dp = 2; has_experts && tp * dp <= most; dp *= 2) {
      Mapping mapping;
      mapping.tensor_parallel = tp;
      mapping.data_parallel = dp;
      add(mapping, tp * dp);
    }
  }
  return all;
}

std::vector<Shape> shapes_of_one_pool(const std::vector<Mapping>& mappings, std::int64_t gpus,
                                      Load load) {
  std::vector<Shape> shapes;
  for (const Mapping& mapping : mappings) {
    const std::int64_t most = gpus / mapping.ranks();
    const auto replicas =
        load == Load::fixed ? counts(most, 8) : std::vector<std::int64_t>(most > 0 ? 1 : 0, most);
    for (const std::int64_t n : replicas) {
      shapes.push_back(one_pool(mapping, n));
    }
  }
  return shapes;
}

std::vector<Shape> shapes_of_two_pools(const std::vector<Mapping>& mappings, std::int64_t domain,
                                       std::int64_t gpus, Load load) {
  std::vector<Shape> shapes;
  for (const Mapping& prompts : mappings) {
    for (const Mapping& decodes : mappings) {
      if (prompts.pipeline_parallel > 1 || decodes.pipeline_parallel > 1 ||
          prompts.ranks() > domain) {
        continue;
      }
      for (const auto& [a, b] : splits(prompts.ranks(), decodes.ranks(), gpus, load)) {
        shapes.push_back(two_pools(prompts, a, decodes, b));
      }
    }
  }
  return shapes;
}

}  // namespace roofcast::sim
