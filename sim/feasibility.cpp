// SPDX-License-Identifier: Apache-2.0
#include "sim/feasibility.hpp"

#include <fmt/format.h>

#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include "models/operator_cost.hpp"
#include "sim/agents.hpp"
#include "sim/draft.hpp"

namespace roofcast::sim {
namespace {

using workloads::MappingFault;

void refuse(ServingEstimate& e, Infeasible why, double needed, double available,
            std::uint8_t detail = 0) {
  e.infeasible = why;
  e.needed = needed;
  e.available = available;
  e.detail = detail;
}

std::string mapping_reason(MappingFault fault) {
  switch (fault) {
    case MappingFault::heads:
      return "tensor_parallel does not divide the query heads";
    case MappingFault::kv_heads:
      return "tensor_parallel neither divides the KV heads nor is a multiple of them";
    case MappingFault::intermediate:
      return "tensor_parallel does not divide the feed-forward width";
    case MappingFault::no_experts:
      return "expert_parallel and redundant_experts need experts, and this model has none";
    case MappingFault::expert_width:
      return "the ranks of a stage / expert_parallel do not divide the experts' width";
    case MappingFault::experts:
      return "expert_parallel does not divide the experts, redundant ones included";
    case MappingFault::expert_ranks:
      return "expert_parallel does not divide tensor_parallel x context_parallel x data_parallel";
    case MappingFault::layers:
      return "pipeline_parallel is more than the layers";
    case MappingFault::recurrent_heads:
      return "tensor_parallel x context_parallel does not divide the recurrent heads";
    case MappingFault::context_heads:
      return "tensor_parallel x context_parallel does not divide the query heads (ulysses)";
    case MappingFault::decode_context:
      return "decode_context_parallel does not divide the tensor-parallel copies of the KV cache";
    case MappingFault::none:
      break;
  }
  return {};
}

// The first multiplier that a part of the model needs and the chip lacks.
std::optional<base::MathType> missing_math(const ScenarioView& s) {
  const models::Machine& machine = s.platform->machine;
  const workloads::Architecture& model = *s.model;
  const workloads::Precision& p = *s.precision;
  const bool mlp = model.layers_with(workloads::Ffn::mlp) > 0 || model.recommender;
  const bool moe = model.layers_with(workloads::Ffn::moe) > 0;
  const bool recurrent =
      model.has(workloads::Mixer::mamba) || model.has(workloads::Mixer::delta_net);
  const bool attention = model.attention.query_heads > 0;
  const bool plain = moe || model.attention.kind == workloads::AttentionKind::mla;
  const std::pair<bool, const workloads::LinearFormat*> parts[] = {
      {attention, &p.attention},
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

// In the input; without an encoder more than any.
double image_tokens(const ScenarioView& s) {
  const auto images = static_cast<double>(s.traffic->images);
  if (s.model->vision.empty()) {
    return images * std::numeric_limits<double>::max();
  }
  return images * static_cast<double>(s.model->vision.front().tokens());
}

}  // namespace

models::Footprint footprint_of(const ScenarioView& s) {
  return models::footprint(s.platform->system.chip, *s.model, *s.precision, *s.mapping, *s.serving,
                           s.draft != nullptr ? s.draft->weights : base::Bytes{});
}

base::Bytes states_of(const ScenarioView& s) {
  return static_cast<double>(s.serving->speculation.query_tokens()) *
         models::state_bytes(*s.model, *s.precision, *s.mapping);
}

base::Bytes keys_of(double tokens, const ScenarioView& s) {
  const std::int64_t block = s.serving->stack.kv_block_tokens;
  const base::Bytes own = models::cache_bytes(tokens, *s.model, *s.precision, *s.mapping, block);
  return s.draft == nullptr
             ? own
             : own + models::cache_bytes(tokens, s.draft->resident, s.draft->precision,
                                         s.draft->mapping, block);
}

Cache cache_of(const ScenarioView& s) {
  const workloads::Traffic& t = *s.traffic;
  const auto full = static_cast<double>(t.input_tokens + t.output_tokens);
  const auto drafted = static_cast<double>(s.serving->speculation.verified());
  const base::Bytes states = states_of(s);
  return {states + keys_of(workloads::mean_context(t) + drafted, s),
          states + keys_of(full + drafted, s)};
}

void check_runnable(const ScenarioView& s, ServingEstimate& e) {
  const MappingFault fault = workloads::fault_of(*s.model, *s.mapping);
  const bool no_module = s.draft != nullptr && s.draft->model.layers.empty();
  const MappingFault draft_fault = s.draft == nullptr || no_module
                                       ? MappingFault::none
                                       : workloads::fault_of(s.draft->model, s.draft->mapping);
  const std::int64_t draft_ranks = s.draft == nullptr ? 0 : s.draft->mapping.stage_ranks();
  const std::int64_t answer = s.model->autoregressive ? s.traffic->output_tokens : 0;
  const std::int64_t length = s.traffic->input_tokens + answer;
  if (fault != MappingFault::none) {
    refuse(e, Infeasible::mapping, 0, 0, static_cast<std::uint8_t>(fault));
  } else if (e.gpus > s.platform->system.chips) {
    refuse(e, Infeasible::system_size, static_cast<double>(e.gpus),
           static_cast<double>(s.platform->system.chips));
  } else if (length > s.model->max_context) {
    refuse(e, Infeasible::context, static_cast<double>(length),
           static_cast<double>(s.model->max_context));
  } else if (!s.model->autoregressive &&
             (s.traffic->output_tokens != 1 || s.traffic->cached_tokens > 0 ||
              s.traffic->input_tokens > s.serving->limits.max_tokens_per_step)) {
    refuse(e, Infeasible::one_pass, static_cast<double>(s.traffic->input_tokens),
           static_cast<double>(s.serving->limits.max_tokens_per_step));
  } else if (image_tokens(s) > static_cast<double>(s.traffic->input_tokens)) {
    refuse(e, Infeasible::images, image_tokens(s), static_cast<double>(s.traffic->input_tokens));
  } else if (draft_ranks > s.mapping->stage_ranks()) {
    refuse(e, Infeasible::draft, static_cast<double>(draft_ranks),
           static_cast<double>(s.mapping->stage_ranks()));
  } else if (no_module || draft_fault != MappingFault::none) {
    refuse(e, Infeasible::draft, 0, 0, static_cast<std::uint8_t>(draft_fault));
  } else if (s.traffic->agents && !returns_to_context(s)) {
    refuse(e, Infeasible::no_closed_form, 0, 0, 1);
  } else if (const auto math = missing_math(s)) {
    refuse(e, Infeasible::number_format, 0, 0, static_cast<std::uint8_t>(*math));
  } else if (const auto drafts = s.draft != nullptr ? missing_math(s.draft->view) : std::nullopt) {
    refuse(e, Infeasible::number_format, 0, 0, static_cast<std::uint8_t>(*drafts));
  }
}

void check_memory(const Cache& cache, ServingEstimate& e) {
  const models::Footprint& f = e.footprint;
  if (f.cache.si() <= 0.0) {
    refuse(e, Infeasible::weights, f.fixed().si(), f.limit.si());
  } else if (cache.full_request > f.cache) {
    refuse(e, Infeasible::cache, cache.full_request.si(), f.cache.si());
  }
}

void check_load(const ScenarioView& s, ServingEstimate& e) {
  if (e.steady.utilisation >= 1.0) {
    refuse(e, Infeasible::load, workloads::mean_rate(*s.traffic->arrivals).si(),
           e.steady.saturation);
  }
}

namespace {

std::string why(const ServingEstimate& e) {
  const double gb = base::giga;
  switch (e.infeasible) {
    case Infeasible::none:
      return {};
    case Infeasible::mapping:
      return mapping_reason(static_cast<MappingFault>(e.detail));
    case Infeasible::system_size:
      return fmt::format("needs {} GPUs, the system has {}", e.needed, e.available);
    case Infeasible::number_format:
      return fmt::format(
          "the chip has no {} {} rate", base::name(static_cast<base::MathType>(e.detail)),
          static_cast<base::MathType>(e.detail) == base::MathType::fp32 ? "vector" : "tensor");
    case Infeasible::context:
      return fmt::format("{} tokens, the model's context is {}", e.needed, e.available);
    case Infeasible::one_pass:
      return e.needed > e.available
                 ? fmt::format("the model takes its {} tokens in one pass, a step has {}", e.needed,
                               e.available)
                 : "the model answers with one pass: output_tokens must be 1, cached_tokens 0";
    case Infeasible::images:
      return e.needed >= std::numeric_limits<double>::max()
                 ? "the model has no vision encoder"
                 : fmt::format("images of {} tokens in an input of {}", e.needed, e.available);
    case Infeasible::draft: {
      const auto fault = static_cast<MappingFault>(e.detail);
      if (e.needed > 0.0) {
        return fmt::format("the draft needs {} ranks, a stage has {}", e.needed, e.available);
      }
      return fault == MappingFault::none ? "the model has no multi-token-prediction module"
                                         : fmt::format("of the draft, {}", mapping_reason(fault));
    }
    case Infeasible::weights:
      return fmt::format(
          "weights, activations and reserve need {:.1f} GB a GPU, {:.1f} GB may be used",
          e.needed / gb, e.available / gb);
    case Infeasible::cache:
      return fmt::format("the KV cache of one request needs {:.1f} GB a GPU, {:.1f} GB are left",
                         e.needed / gb, e.available / gb);
    case Infeasible::load:
      return fmt::format("{:.4g} requests arrive a second, at most {:.4g} can be served", e.needed,
                         e.available);
    case Infeasible::no_closed_form:
      return e.detail != 0
                 ? "agents whose turns go to any of several replicas or attention-DP ranks are not "
                   "estimated (router: session keeps them to one replica); `roofcast simulate` "
                   "serves them"
                 : "two pools under arrivals, with agents or with speculative decoding are not "
                   "estimated; "
                   "`roofcast simulate` serves them";
    case Infeasible::trained_tables:
      return "training a recommender is not modelled: gradients of rows that a batch did not look "
             "up";
    case Infeasible::global_batch:
      return fmt::format(
          "a global batch of {} is not a multiple of data_parallel x micro_batch, {}", e.needed,
          e.available);
    case Infeasible::colocated:
      return "off_policy_steps need placement: split; colocated GPUs cannot generate while they "
             "train";
    case Infeasible::responses:
      return fmt::format("{} responses are not a multiple of the global batch, {}", e.needed,
                         e.available);
    case Infeasible::packed_length:
      return fmt::format(
          "prompt and longest response are {} tokens, training.sequence_length is {}", e.needed,
          e.available);
    case Infeasible::training_memory:
      return fmt::format(
          "parameters, gradients, optimizer and activations need {:.1f} GB a GPU, {:.1f} GB may be "
          "used",
          e.needed / gb, e.available / gb);
  }
  return {};
}

}  // namespace

std::string reason(const ServingEstimate& e) {
  const bool of_one_pool = e.infeasible == Infeasible::mapping ||
                           e.infeasible == Infeasible::weights || e.infeasible == Infeasible::cache;
  const std::string_view pool = !of_one_pool || e.pool == PoolKind::none ? ""
                                : e.pool == PoolKind::prefill            ? "prefill: "
                                                                         : "decode: ";
  return fmt::format("{}{}", pool, why(e));
}

}  // namespace roofcast::sim
