// SPDX-License-Identifier: Apache-2.0
//
// Why a scenario cannot run. This is a result, not an error: one struct for each reason, with its figures.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "base/units/number_format.hpp"
#include "base/units/quantity.hpp"
#include "workloads/architecture/mapping.hpp"

namespace roofcast::sim {

namespace infeasible {

// `kind` is the same for all rows that fail for one reason, whatever their figures.
struct Mapping {
  static constexpr std::string_view kind = "the model does not divide that way";
  workloads::MappingFault fault;
};
struct SystemSize {
  static constexpr std::string_view kind = "more ranks than the system has chips";
  std::int64_t gpus;
  std::int64_t available;
};
struct NumberFormat {
  static constexpr std::string_view kind = "no multiplier for a number format";
  base::MathType math;
};
struct CutBlock {
  static constexpr std::string_view kind = "the stack does not cut blocks of scales";
  std::int64_t width;  // of a rank's part of a layer
};
struct NoSparsity {
  static constexpr std::string_view kind = "no products with 2:4 sparse weights";
};
struct Context {
  static constexpr std::string_view kind = "longer than the model's context";
  std::int64_t tokens;
  std::int64_t longest;
};
// The power cap leaves nothing beside what the chip draws at any clock.
struct PowerCap {
  static constexpr std::string_view kind = "the power cap is below what the chip draws idle";
  base::Watts cap;
  base::Watts least;
  double held = 1.0;     // share of the cap that the chip's controller holds
  bool of_rack = false;  // a GPU's share of system.rack_power
};
struct CapAboveTdp {
  static constexpr std::string_view kind = "the power cap is above the TDP";
  base::Watts cap;
  base::Watts tdp;
};
// A model that is not autoregressive takes a prompt whole and has no decodes.
struct WholePrompt {
  static constexpr std::string_view kind = "the prompt does not fit in one iteration";
  std::int64_t tokens;
  std::int64_t iteration_tokens;
};
struct NoDecodes {
  static constexpr std::string_view kind = "the model has no decodes";
};
struct NothingToDraft {
  static constexpr std::string_view kind = "the model has no decodes";
};
struct NoVisionEncoder {
  static constexpr std::string_view kind = "the model has no vision encoder";
};
struct Images {
  static constexpr std::string_view kind = "more image tokens than the input has";
  double tokens;
  std::int64_t input_tokens;
};
struct DraftRanks {
  static constexpr std::string_view kind = "the draft model does not run that way";
  std::int64_t ranks;
  std::int64_t stage_ranks;
};
struct NoDraftModule {
  static constexpr std::string_view kind = "the draft model does not run that way";
};
struct DraftMapping {
  static constexpr std::string_view kind = "the draft model does not run that way";
  workloads::MappingFault fault;
};
struct Weights {
  static constexpr std::string_view kind = "the weights do not fit";
  base::Bytes needed;  // with activations and reserve
  base::Bytes usable;
};
struct KvCache {
  static constexpr std::string_view kind = "one request's KV cache does not fit";
  base::Bytes needed;
  base::Bytes left;
};
// A model that reads before prompts, on a GPU of its own (sim/iteration/front_models.hpp).
struct FrontWeights {
  static constexpr std::string_view kind = "the embedder or reranker does not fit its GPU";
  base::Bytes needed;
  base::Bytes usable;
};
struct Load {
  static constexpr std::string_view kind = "requests arrive faster than they can be served";
  double arriving;  // requests per second
  double served;
};
// There is no closed form for agents whose turns are routed away from their context.
struct RoutedAgents {
  static constexpr std::string_view kind = "no closed form";
};
// The pools are in two systems, and one of them has no NICs.
struct NoNetwork {
  static constexpr std::string_view kind = "no network between the pools";
};
struct TrainedTables {
  static constexpr std::string_view kind = "training of embedding tables is not modelled";
};
struct GlobalBatch {
  static constexpr std::string_view kind = "the global batch is not a multiple";
  std::int64_t sequences;
  std::int64_t at_once;  // by all data-parallel ranks
};
struct Colocated {
  static constexpr std::string_view kind = "colocated GPUs cannot generate while they train";
};
struct Responses {
  static constexpr std::string_view kind = "the responses are not a multiple of the global batch";
  std::int64_t responses;
  std::int64_t global_batch;
};
struct PackedBatches {
  static constexpr std::string_view kind = "responses are packed into micro-batches";
  std::int64_t micro_batch;
};
struct PackedLength {
  static constexpr std::string_view kind = "a response is longer than the packed sequences";
  std::int64_t tokens;
  std::int64_t sequence_length;
};
// `given` chunks of a layout with its layers; 0: none was given.
struct PipelineLayout {
  static constexpr std::string_view kind = "the layers do not divide into the pipeline's chunks";
  std::int64_t chunks;  // pipeline_parallel x virtual_stages
  std::int64_t layers;
  std::int64_t given;
  std::int64_t given_layers;
};
struct TrainingFormat {
  static constexpr std::string_view kind = "a precision of inference";
  base::NumberFormat weights;
  base::NumberFormat activations;
  bool sparse;
};
struct Interleaving {
  static constexpr std::string_view kind = "interleaved stages need whole groups of micro-batches";
  std::int64_t stages;
  std::int64_t micro_batches;
};
struct DualPipe {
  static constexpr std::string_view kind = "DualPipe does not run that way";
  std::int64_t stages;
  std::int64_t micro_batches;
};
struct ZeroBubbleV {
  static constexpr std::string_view kind = "zb_v needs more micro-batches";
  std::int64_t stages;
  std::int64_t micro_batches;
};
// Of training, tp-cp-pp-dp with experts.
struct RankOrder {
  static constexpr std::string_view kind = "ranks cannot be in that order";
  std::int64_t expert_replicas;
  std::int64_t data_parallel;
};
struct NoPrediction {
  static constexpr std::string_view kind = "no module that predicts further tokens";
};
struct NoAdapters {
  static constexpr std::string_view kind = "no layer gets an adapter";
};
struct NoHostLink {
  static constexpr std::string_view kind = "no link to the host";
};
struct EndlessRun {
  static constexpr std::string_view kind = "the training run hardly makes progress";
  base::Seconds between;  // failures of the job
  base::Seconds longest;
  std::string_view most;  // what takes most of the time; empty: failures
  std::string_view knobs;
};
struct ShortRun {
  static constexpr std::string_view kind = "the training run has no time for a step";
  base::Seconds time;
  base::Seconds step;
  base::Seconds between;  // failures of the job
};
struct TrainingMemory {
  static constexpr std::string_view kind = "needs more memory than a GPU has";
  base::Bytes needed;
  base::Bytes usable;
};

}  // namespace infeasible

// std::monostate: the scenario can run.
using Infeasible = std::variant<
    std::monostate, infeasible::Mapping, infeasible::SystemSize, infeasible::NumberFormat,
    infeasible::CutBlock, infeasible::NoSparsity, infeasible::PowerCap, infeasible::CapAboveTdp,
    infeasible::Context, infeasible::WholePrompt, infeasible::NoDecodes, infeasible::NothingToDraft,
    infeasible::NoVisionEncoder, infeasible::Images, infeasible::DraftRanks,
    infeasible::NoDraftModule, infeasible::DraftMapping, infeasible::Weights, infeasible::KvCache,
    infeasible::FrontWeights, infeasible::Load, infeasible::RoutedAgents, infeasible::NoNetwork,
    infeasible::TrainedTables, infeasible::GlobalBatch, infeasible::Colocated,
    infeasible::Responses, infeasible::PackedBatches, infeasible::PackedLength,
    infeasible::PipelineLayout, infeasible::TrainingFormat, infeasible::NoAdapters,
    infeasible::NoHostLink, infeasible::NoPrediction, infeasible::Interleaving,
    infeasible::DualPipe, infeasible::ZeroBubbleV, infeasible::RankOrder, infeasible::EndlessRun,
    infeasible::ShortRun, infeasible::TrainingMemory>;

// The pool of a disaggregated deployment that cannot run.
enum class PoolKind : std::uint8_t { none, prefill, decode };

// The reason in one sentence. Empty if the scenario can run.
std::string reason(const Infeasible& infeasible, PoolKind pool = PoolKind::none);
// The `kind` of the reason. Empty if the scenario can run.
std::string_view reason_kind(const Infeasible& infeasible);

}  // namespace roofcast::sim
