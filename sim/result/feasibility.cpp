// SPDX-License-Identifier: Apache-2.0
#include "sim/result/feasibility.hpp"

#include <optional>
#include <utility>

#include "models/operators/operator_cost.hpp"
#include "sim/iteration/draft_model.hpp"
#include "sim/iteration/front_models.hpp"
#include "sim/iteration/memory.hpp"
#include "workloads/traffic/agents.hpp"

namespace roofcast::sim {
namespace {

using workloads::MappingFault;

// The width of a rank's part of a layer that ends within a block of 128 x 128 scales, where the stack cannot cut one. A
// layer that is not cut may.
std::optional<std::int64_t> cut_block(const ScenarioView& s) {
  constexpr std::int64_t kBlock = 128;
  if (!s.serving->stack.whole_blocks) {
    return std::nullopt;
  }
  const workloads::Architecture& model = *s.model;
  const workloads::Precision& p = *s.precision;
  const workloads::AttentionShape& a = model.attention;
  const workloads::MoeShape& moe = model.moe;
  const std::int64_t tp = s.mapping->tensor_parallel;
  const bool has_moe = model.layers_with(workloads::Ffn::moe) > 0;
  const bool mla = a.kind == workloads::AttentionKind::mla;
  struct Part {
    bool present;
    const workloads::LinearFormat* format;
    std::int64_t width;
    std::int64_t ranks;
  };
  const Part parts[] = {
      {has_moe, &p.experts, moe.intermediate, s.mapping->expert_tensor_parallel()},
      {has_moe && moe.shared_experts > 0, &p.shared, moe.shared_experts * moe.shared_intermediate,
       tp},
      {model.layers_with(workloads::Ffn::mlp) > 0, &p.mlp, model.mlp.intermediate, tp},
      {a.query_heads > 0, &p.attention,
       a.query_heads * (mla ? a.nope_dim + a.rope_dim : a.head_dim), tp},
      {a.query_heads > 0, &p.attention_output, a.query_heads * (mla ? a.value_dim : a.head_dim),
       tp},
      {a.query_heads > 0 && !mla, &p.attention, a.kv_heads * a.head_dim, std::min(tp, a.kv_heads)}};
  for (const auto& [present, format, width, ranks] : parts) {
    if (present && ranks > 1 && format->weights == base::NumberFormat::fp8_block &&
        width / ranks % kBlock != 0) {
      return width / ranks;
    }
  }
  return std::nullopt;
}

// The first number format of multiplications that a part of the model needs and the chip lacks.
std::optional<base::MathType> missing_math(const ScenarioView& s) {
  const models::Machine& machine = s.platform->machine;
  const workloads::Architecture& model = *s.model;
  const workloads::Precision& p = *s.precision;
  const bool mlp = model.layers_with(workloads::Ffn::mlp) > 0 || model.recommender;
  const bool moe = model.layers_with(workloads::Ffn::moe) > 0;
  const bool recurrent = model.has(workloads::Mixer::mamba) ||
                         model.has(workloads::Mixer::delta_net) ||
                         model.has(workloads::Mixer::mamba1);
  const bool attention = model.attention.query_heads > 0;
  const bool plain = moe || model.attention.kind == workloads::AttentionKind::mla;
  const std::pair<bool, const workloads::LinearFormat*> parts[] = {
      {attention, &p.attention},
      {attention, &p.attention_output},
      {recurrent, &p.recurrent},
      {mlp, &p.mlp},
      {moe, &p.experts},
      {moe && model.moe.shared_experts > 0, &p.shared},
      {moe && model.projects_latent(), &p.latent},
      {plain, &p.plain},
      {true, &p.head}};
  for (const auto& [present, format] : parts) {
    const base::MathType math = base::math_of(format->activations, format->weights);
    if (present && !machine.supports(math)) {
      return math;
    }
  }
  // Recurrences run on the vector units.
  if (recurrent && !machine.supports(base::MathType::fp32)) {
    return base::MathType::fp32;
  }
  const base::MathType keys = machine.attention_math(p.kv_cache);
  return machine.supports(keys) ? std::nullopt : std::optional(keys);
}

bool lacks_sparsity(const ScenarioView& s) {
  return s.platform->machine.sparsity == 0.0 && workloads::has_sparse_weights(*s.precision);
}

void check_front(const FrontModels& front, ServingEstimate& e) {
  for (const auto& pass : front.all) {
    const models::Footprint f = footprint_of(pass->view);
    if (const auto math = missing_math(pass->view)) {
      e.infeasible = infeasible::NumberFormat{*math};
    } else if (pass->apart && f.cache.si() <= 0.0) {
      e.infeasible = infeasible::FrontWeights{f.fixed(), f.limit};
    }
  }
}

}  // namespace

// With two pools both are checked: each has a platform of its own in the scenario that is checked for it.
Infeasible cap_fault(const Platform& platform) {
  const models::PowerRates& rates = platform.machine.power;
  const hardware::Chip& chip = platform.system.chip;
  if (!rates.known()) {
    return {};
  }
  const base::Watts least = rates.idle_of(rates.spare);
  if (rates.limit <= least) {
    return infeasible::PowerCap{*chip.cap_used(), least, platform.system.calibration.limit_share,
                                platform.system.capped_by_rack};
  }
  if (chip.cap && *chip.cap > *chip.tdp) {
    return infeasible::CapAboveTdp{*chip.cap, *chip.tdp};
  }
  return {};
}

void check_runnable(const ScenarioView& s, ServingEstimate& e) {
  const workloads::Traffic& traffic = *s.traffic;
  const std::int64_t iteration_tokens = s.serving->limits.max_tokens_per_iteration;
  const MappingFault fault = workloads::fault_of(*s.model, *s.mapping);
  const bool no_module = s.draft != nullptr && s.draft->model.layers.empty();
  const MappingFault draft_fault = s.draft == nullptr || no_module
                                       ? MappingFault::none
                                       : workloads::fault_of(s.draft->model, s.draft->mapping);
  const std::optional<std::int64_t> cut = cut_block(s);
  const std::int64_t draft_ranks = s.draft == nullptr ? 0 : s.draft->mapping.stage_ranks();
  const std::int64_t answer = s.model->autoregressive ? traffic.output_tokens : 0;
  const std::int64_t length = traffic.input_tokens + answer;
  const bool no_encoder = traffic.images > 0 && s.model->vision.empty();
  const double image_tokens = traffic.images == 0 || no_encoder
                                  ? 0.0
                                  : static_cast<double>(traffic.images) *
                                        static_cast<double>(s.model->vision.front().tokens());
  if (fault != MappingFault::none) {
    e.infeasible = infeasible::Mapping{fault};
  } else if (cut) {
    e.infeasible = infeasible::CutBlock{*cut};
  } else if (e.gpus > s.platform->system.chips) {
    e.infeasible = infeasible::SystemSize{e.gpus, s.platform->system.chips};
  } else if (Infeasible cap = cap_fault(*s.platform);
             !std::holds_alternative<std::monostate>(cap)) {
    e.infeasible = std::move(cap);
  } else if (length > s.model->max_context) {
    e.infeasible = infeasible::Context{length, s.model->max_context};
  } else if (!s.model->autoregressive && traffic.input_tokens > iteration_tokens) {
    e.infeasible = infeasible::WholePrompt{traffic.input_tokens, iteration_tokens};
  } else if (!s.model->autoregressive &&
             (traffic.output_tokens != 1 || traffic.cached_tokens > 0)) {
    e.infeasible = infeasible::NoDecodes{};
  } else if (!s.model->autoregressive && s.serving->speculation.drafts()) {
    e.infeasible = infeasible::NothingToDraft{};
  } else if (no_encoder) {
    e.infeasible = infeasible::NoVisionEncoder{};
  } else if (image_tokens > static_cast<double>(traffic.input_tokens)) {
    e.infeasible = infeasible::Images{image_tokens, traffic.input_tokens};
  } else if (draft_ranks > s.mapping->stage_ranks()) {
    e.infeasible = infeasible::DraftRanks{draft_ranks, s.mapping->stage_ranks()};
  } else if (no_module) {
    e.infeasible = infeasible::NoDraftModule{};
  } else if (draft_fault != MappingFault::none) {
    e.infeasible = infeasible::DraftMapping{draft_fault};
  } else if (traffic.agents && workloads::mean_turns(traffic.agents->agents) > 1.0 &&
             !returns_to_context(s)) {
    e.infeasible = infeasible::RoutedAgents{};
  } else if (const auto math = missing_math(s)) {
    e.infeasible = infeasible::NumberFormat{*math};
  } else if (const auto drafts = s.draft != nullptr ? missing_math(s.draft->view) : std::nullopt) {
    e.infeasible = infeasible::NumberFormat{*drafts};
  } else if (lacks_sparsity(s) || (s.draft != nullptr && lacks_sparsity(s.draft->view))) {
    e.infeasible = infeasible::NoSparsity{};
  }
  if (e.fits() && s.front != nullptr) {
    check_front(*s.front, e);
  }
}

void check_memory(const Cache& cache, ServingEstimate& e) {
  const models::Footprint& f = e.footprint;
  if (f.cache.si() <= 0.0) {
    e.infeasible = infeasible::Weights{f.fixed(), f.limit};
  } else if (cache.full_request > f.cache) {
    e.infeasible = infeasible::KvCache{cache.full_request, f.cache};
  }
}

bool check_pool(const ScenarioView& pool, PoolKind kind, std::int64_t gpus, ServingEstimate& e,
                PoolMemory& memory) {
  const std::int64_t all = e.gpus;
  e.gpus = gpus;
  check_runnable(pool, e);
  e.gpus = all;
  if (e.fits()) {
    e.footprint = memory.footprint = footprint_of(pool);
    memory.cache = cache_of(pool);
    check_memory(memory.cache, e);
  }
  e.pool = e.fits() ? PoolKind::none : kind;
  return e.fits();
}

void check_load(const ScenarioView& s, ServingEstimate& e) {
  if (e.steady.utilisation >= 1.0) {
    e.infeasible =
        infeasible::Load{workloads::mean_rate(*s.traffic->arrivals).si(), e.steady.saturation};
  }
}

}  // namespace roofcast::sim
