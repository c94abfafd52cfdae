// SPDX-License-Identifier: Apache-2.0
#include "sim/result/infeasible.hpp"

#include <fmt/format.h>

#include "base/overloaded.hpp"

namespace roofcast::sim {
namespace {

using workloads::MappingFault;

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

double gigabytes(base::Bytes bytes) { return bytes.si() / base::giga; }

std::string sentence(const Infeasible& infeasible) {
  using namespace infeasible;
  return std::visit(
      base::overloaded{
          [](const std::monostate&) { return std::string(); },
          [](const Mapping& r) { return mapping_reason(r.fault); },
          [](const SystemSize& r) {
            return fmt::format("needs {} GPUs, the system has {}", r.gpus, r.available);
          },
          [](const NumberFormat& r) {
            return fmt::format("the chip has no {} {} rate", base::name(r.math),
                               r.math == base::MathType::fp32 ? "vector" : "tensor");
          },
          [](const CutBlock& r) {
            return fmt::format(
                "a rank's part of a layer is {} wide, and the stack does not cut blocks of 128 x "
                "128 "
                "scales (mapping.whole_blocks)",
                r.width);
          },
          [](const NoSparsity&) {
            return std::string(
                "the chip has no sparsity.tensor: nothing is known of products with 2:4 sparse "
                "weights on it");
          },
          [](const PowerCap& r) {
            if (r.of_rack && r.cap < base::watt) {
              return std::string("the hosts of a rack take all of system.rack_power");
            }
            return fmt::format(
                "{} {}, of which the chip holds {:.3g}, is not above the {} that it draws when "
                "idle",
                r.of_rack ? "a GPU's share of system.rack_power," : "a power cap of",
                base::format_quantity(r.cap), r.held, base::format_quantity(r.least));
          },
          [](const CapAboveTdp& r) {
            return fmt::format("a power cap of {} is above the TDP of the chip, {}",
                               base::format_quantity(r.cap), base::format_quantity(r.tdp));
          },
          [](const Context& r) {
            return fmt::format("{} tokens, the model's context is {}", r.tokens, r.longest);
          },
          [](const WholePrompt& r) {
            return fmt::format("the model takes its {} tokens in one iteration, which has {}",
                               r.tokens, r.iteration_tokens);
          },
          [](const NoDecodes&) {
            return std::string(
                "the model answers in one iteration: output_tokens must be 1, cached_tokens 0");
          },
          [](const NothingToDraft&) {
            return std::string(
                "serving.speculative: the model answers in one iteration and decodes nothing that "
                "could be drafted");
          },
          [](const NoVisionEncoder&) { return std::string("the model has no vision encoder"); },
          [](const Images& r) {
            return fmt::format("images of {} tokens in an input of {}", r.tokens, r.input_tokens);
          },
          [](const DraftRanks& r) {
            return fmt::format("the draft model needs {} ranks, a stage has {}", r.ranks,
                               r.stage_ranks);
          },
          [](const NoDraftModule&) {
            return std::string("the model has no multi-token-prediction module");
          },
          [](const DraftMapping& r) {
            return fmt::format("of the draft model, {}", mapping_reason(r.fault));
          },
          [](const Weights& r) {
            return fmt::format(
                "weights, activations and reserve need {:.1f} GB a GPU, {:.1f} GB may be used",
                gigabytes(r.needed), gigabytes(r.usable));
          },
          [](const KvCache& r) {
            return fmt::format(
                "the KV cache of one request needs {:.1f} GB a GPU, {:.1f} GB are left",
                gigabytes(r.needed), gigabytes(r.left));
          },
          [](const FrontWeights& r) {
            return fmt::format(
                "the embedder or reranker needs {:.1f} GB on a GPU of its own, {:.1f} GB may be "
                "used",
                gigabytes(r.needed), gigabytes(r.usable));
          },
          [](const Load& r) {
            return fmt::format("{:.4g} requests arrive a second, at most {:.4g} can be served",
                               r.arriving, r.served);
          },
          [](const RoutedAgents&) {
            return std::string(
                "agents whose turns go to any of several replicas or attention-DP ranks have no "
                "closed form (router: session keeps them to one replica); a simulation serves "
                "them");
          },
          [](const NoNetwork&) {
            return std::string(
                "the pools are in two systems, and one of them has no scale_out that could carry "
                "KV caches");
          },
          [](const TrainedTables&) {
            return std::string(
                "training a recommender is not modelled: gradients of rows that a batch did not "
                "look up");
          },
          [](const GlobalBatch& r) {
            return fmt::format(
                "a global batch of {} is not a multiple of data_parallel x micro_batch, {}",
                r.sequences, r.at_once);
          },
          [](const Colocated&) {
            return std::string(
                "off_policy_steps need placement: split; colocated GPUs cannot generate while "
                "they train");
          },
          [](const Responses& r) {
            return fmt::format("{} responses are not a multiple of the global batch, {}",
                               r.responses, r.global_batch);
          },
          [](const PackedBatches& r) {
            return fmt::format(
                "training.micro_batch is {}, but rl packs responses into micro-batches of "
                "training.sequence_length tokens: leave it out",
                r.micro_batch);
          },
          [](const PackedLength& r) {
            return fmt::format(
                "prompt and longest response are {} tokens, training.sequence_length is {}",
                r.tokens, r.sequence_length);
          },
          [](const PipelineLayout& r) {
            const std::string chunks =
                fmt::format("pipeline_parallel x virtual_stages are {} chunks", r.chunks);
            if (r.given == 0) {
              return fmt::format(
                  "{}, the model has {} layers: lower virtual_stages, or give embedding and loss "
                  "chunks of their own with training.layout",
                  chunks, r.layers);
            }
            return r.given != r.chunks
                       ? fmt::format("{}, training.layout has {}", chunks, r.given)
                       : fmt::format("training.layout has {} layers, the model has {}",
                                     r.given_layers, r.layers);
          },
          [](const TrainingFormat& r) {
            return fmt::format(
                "weights in {}{} with activations in {} are a precision of inference; training "
                "multiplies weights and activations by gradients, in one format",
                base::name(r.weights), r.sparse ? ", 2:4 sparse," : "", base::name(r.activations));
          },
          [](const Interleaving& r) {
            return fmt::format(
                "training.virtual_stages: more micro-batches than pipeline_parallel come in groups "
                "of {}, so {} do not run; see global_batch, data_parallel and micro_batch",
                r.stages, r.micro_batches);
          },
          [](const DualPipe& r) {
            return fmt::format(
                "training.schedule: dualpipe takes an even number of pipeline stages, and an even "
                "number of micro-batches, at least twice as many, not {} and {}",
                r.stages, r.micro_batches);
          },
          [](const ZeroBubbleV& r) {
            return fmt::format(
                "training.schedule: zb_v takes 2 x pipeline_parallel - 1 micro-batches at least, "
                "{} "
                "of {} stages, not {}",
                2 * r.stages - 1, r.stages, r.micro_batches);
          },
          [](const RankOrder& r) {
            return fmt::format(
                "training.rank_order: tp-cp-pp-dp takes as many replicas of the experts as "
                "data-parallel ranks, not {} and {}",
                r.expert_replicas, r.data_parallel);
          },
          [](const NoPrediction&) {
            return std::string("training.mtp: the model has no modules in `mtp:`");
          },
          [](const NoAdapters&) {
            return std::string(
                "training.lora: no layer of the model gets an adapter: qkv and out are of "
                "attention that is not latent, up and down of dense feed-forwards");
          },
          [](const NoHostLink&) {
            return std::string(
                "the chip has no pcie or cpu_link to offload activations by, and training.offload "
                "no "
                "bandwidth");
          },
          [](const EndlessRun& r) {
            if (!r.most.empty()) {
              return fmt::format("the run takes longer than {}, most of it {}; see {}",
                                 base::format_quantity(r.longest), r.most, r.knobs);
            }
            return fmt::format(
                "the run takes longer than {}: failures come every {}, before it gets on; see "
                "run.failures, run.restart and run.spare_hosts",
                base::format_quantity(r.longest), base::format_quantity(r.between));
          },
          [](const ShortRun& r) {
            return fmt::format(
                "not one step of {} is done in {}; failures come every {}; see run.days and "
                "run.failures",
                base::format_quantity(r.step), base::format_quantity(r.time),
                base::format_quantity(r.between));
          },
          [](const TrainingMemory& r) {
            return fmt::format(
                "parameters, gradients, optimizer and activations need {:.1f} GB a GPU, {:.1f} GB "
                "may be used",
                gigabytes(r.needed), gigabytes(r.usable));
          }},
      infeasible);
}

}  // namespace

std::string reason(const Infeasible& infeasible, PoolKind pool) {
  const bool of_one_pool = std::holds_alternative<infeasible::Mapping>(infeasible) ||
                           std::holds_alternative<infeasible::Weights>(infeasible) ||
                           std::holds_alternative<infeasible::KvCache>(infeasible) ||
                           std::holds_alternative<infeasible::NumberFormat>(infeasible) ||
                           std::holds_alternative<infeasible::CutBlock>(infeasible) ||
                           std::holds_alternative<infeasible::NoSparsity>(infeasible) ||
                           std::holds_alternative<infeasible::Load>(infeasible);
  const std::string_view which = !of_one_pool || pool == PoolKind::none ? ""
                                 : pool == PoolKind::prefill            ? "prefill: "
                                                                        : "decode: ";
  return fmt::format("{}{}", which, sentence(infeasible));
}

std::string_view reason_kind(const Infeasible& infeasible) {
  return std::visit(base::overloaded{[](const std::monostate&) { return std::string_view(); },
                                     [](const auto& r) { return r.kind; }},
                    infeasible);
}

}  // namespace roofcast::sim
