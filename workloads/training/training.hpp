// SPDX-License-Identifier: Apache-2.0
//
// The `training:` section: one optimizer step over a global batch.
//
//   training:
//     global_batch: 512             # sequences
//     sequence_length: 4096
//     micro_batch: 1                # sequences a data-parallel rank computes at once
//     virtual_stages: 2             # chunks of layers a pipeline rank has (interleaved 1F1B)
//     schedule: 1f1b                # or zero_bubble, dualpipe: of one chunk a rank; zb_v: of two
//     layout: "E|(t|)*30L"          # layers of each chunk (workloads/training/pipeline_layout.hpp); even without it
//     recompute: none               # or full, a module, a list of modules (workloads/graph/recompute.hpp)
//     recompute_layers: 4           # layers of each stage that `full` takes; all without it
//     offload: {layers: 10}         # of each stage: their activations wait in the host's memory, reached by the chip's
//                                   # PCIe port or at `bandwidth` a direction
//     sharding: optimizer           # or none, gradients, parameters (FSDP)
//     optimizer: adam               # or muon, of the matrices of layers (sim/training/newton_schulz.hpp)
//     gradients: fp32               # what data-parallel ranks add up; or bf16
//     moments: fp32                 # of the optimizer; or bf16, fp8
//     parameters: bf16              # or quantised: linear layers keep them in the format they compute in only
//     fused_loss: true              # one kernel, which keeps logits in 16 bits only
//     fused_attention: true         # false: scores pass through memory, as before FlashAttention; they are computed again
//     fused_rope: true              # these two: false where kernels of their own do it (workloads/graph/unfused_kernels.hpp)
//     fused_experts: true           # clamps of experts' activations, biases of their outputs
//     dropout: false                # of attention's scores, and of what mixers and feed-forwards add to the residual stream
//     rank_order: tp-cp-dp-pp       # what is innermost first; or tp-cp-pp-dp
//     overlap: true                 # gradients and parameters travel while kernels compute
//     tensor_overlap: true          # tensor parallelism's exchanges travel while the products beside them compute
//     expert_overlap: true          # exchanges with experts travel while another micro-batch computes
//     dispatcher: fused             # a token is sent once to each rank; or all_to_all, once for each of its experts
//     dispatch: quantised           # tokens travel to experts in the format that these read, gradients too; or bf16
//     grouped_experts: true         # one kernel multiplies all experts of a rank, whatever the trainer's own are
//     expert_activations: fp8       # what experts' activation functions keep of their input; or bf16
//     cuda_graphs: [attention]      # what the host launches with one call; or none, full, recurrence, router, mlp
//     attention: bf16               # what attention's products compute in; or fp8
//     mtp: 1                        # tokens after the next that are predicted too, by the model's `mtp:` modules
//     packed: 512                   # tokens of the texts that are packed into a sequence and see themselves only; none without it
//     lora: {rank: 16}              # adapters are trained, not the model (workloads/training/adapters.hpp)
//     jitter: {deviation: 0.015, slow_hosts: 0.005, slower_by: 0.1}   # of ranks (sim/training/jitter.hpp); none without it
//     trainer: megatron
//
// `deployment:` is that of the training. data_parallel ranks are replicas that add up their gradients. What
// expert_parallel leaves of tensor × context × data are replicas of the experts.
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "base/document/catalog.hpp"
#include "base/document/fields.hpp"
#include "base/units/quantity.hpp"
#include "workloads/architecture/mapping.hpp"
#include "workloads/architecture/precision.hpp"
#include "workloads/graph/recompute.hpp"
#include "workloads/training/adapters.hpp"
#include "workloads/training/pipeline_layout.hpp"

namespace roofcast::workloads {

// Which states data-parallel ranks share instead of holding copies (ZeRO, arXiv 1910.02054): none, those of the
// optimizer (stage 1), also gradients (stage 2), or also parameters (stage 3, FSDP).
enum class Sharding : std::uint8_t { none, optimizer, gradients, parameters };

// Kernels of a training framework on one chip, as measured.
struct TrainerKernels {
  std::string chip;  // a catalog id; chips with its calibration too
  // Factor on the time of large products in 16 bits, under sustained load, over a server's in a burst.
  double gemm = 1.0;
  // Factor on the time of all kernels, of a chip that has the calibration of another one.
  double all = 1.0;
  // Each expert's product is a kernel of its own, which takes the host so long to launch; 0: one kernel for all.
  base::Seconds expert_launch;
};

// The order in which a pipeline rank computes. zero_bubble: H1 of arXiv 2401.10241, which computes gradients of weights
// where it would wait. dualpipe: arXiv 2412.19437 section 3.2.1; micro-batches enter at both ends, so that a rank has the
// layers of two stages. zb_v: arXiv 2401.10241 section 6; of 2p chunks a rank has one and the one as far from the other end,
// so that the first rank has embedding and head.
enum class Schedule : std::uint8_t {
  one_forward_one_backward,
  zero_bubble,
  dualpipe,
  zero_bubble_v
};

// The pipeline rank of a chunk.
std::int64_t rank_of_chunk(Schedule schedule, std::int64_t chunk, std::int64_t ranks);
// The k-th chunk of a rank.
std::int64_t chunk_of_rank(Schedule schedule, std::int64_t rank, std::int64_t k,
                           std::int64_t ranks);

// Pipeline ranks that have a stage's layers.
std::int64_t ranks_of_stage(Schedule schedule);

// How ranks are numbered: replicas of a stage one after another, or the stages of a replica (sim/training/exchange.hpp).
enum class RankOrder : std::uint8_t { data_then_pipeline, pipeline_then_data };

// How tokens reach the ranks of their experts. `fused`: one kernel sends a token once to each rank and sorts what comes
// (DeepEP, HybridEP). `all_to_all`: NCCL sends it once for each of its experts, and kernels of their own sort the copies.
enum class Dispatcher : std::uint8_t { fused, all_to_all };

// Parts of a layer whose kernels a CUDA graph may launch (Megatron's attn, mamba, moe_router with moe_preprocess, mlp).
enum class GraphedPart : std::uint8_t { attention, recurrence, router, mlp };
inline constexpr std::array<std::string_view, 4> kGraphedPartNames = {"attention", "recurrence",
                                                                      "router", "mlp"};

struct CudaGraphs {
  bool full = false;  // of the whole step; the host then reads no counts of tokens
  std::uint8_t parts = 0;

  bool has(GraphedPart part) const {
    return full || (parts >> static_cast<unsigned>(part) & 1U) != 0;
  }
  void add(GraphedPart part) {
    parts = static_cast<std::uint8_t>(parts | 1U << static_cast<unsigned>(part));
  }
};

// Quantiles of measured steps over their forecasts: one in twenty is below `low`, one above `high`.
struct StepErrors {
  double low = 1.0;
  double high = 1.0;
};

// The software around the kernels. Its figures are fitted.
struct Trainer {
  std::string id;
  std::string name;
  // The serving stack whose measured kernels are the nearest to the trainer's; a scenario with a stack takes that one's.
  std::string stack;
  std::vector<TrainerKernels> kernels;
  // Factor on the time of kernels: stragglers, jitter, kernels that are not counted.
  double slowdown = 1.0;
  // Host times (sim/training/host_time.hpp): of an operator, of one expert's kernel, and from the stop where the host reads
  // how many tokens experts get until a kernel runs.
  base::Seconds operator_time;
  base::Seconds expert_kernel;
  base::Seconds counts;
  double recurrence =
      1.0;  // factor on the time of recurrent layers' scans and convolutions, over a server's
  double overlapped =
      1.0;  // factor on these with expert_overlap, where the host goes from one micro-batch to the other
  base::Seconds step_overhead;  // host time of an optimizer step: data, logging, norms
  // In addition in a step of post-training where rollouts and training take turns on the same GPUs.
  base::Seconds switch_overhead;
  std::optional<StepErrors> errors;  // of everything but operators; none: not measured
};

// Activations that leave for the host in the forward pass and come back in the backward pass.
struct Offload {
  std::int64_t layers = 0;                        // of each stage
  std::optional<base::BytesPerSecond> bandwidth;  // per direction; none: the chip's PCIe port
};

// How the times of ranks differ that have the same work.
struct Jitter {
  double deviation = 0;   // standard deviation over the mean
  double slow_hosts = 0;  // share of the hosts
  double slower_by = 0;   // share by which their ranks take longer
};

struct Training {
  std::int64_t global_batch = 0;  // sequences; 0: the scenario does not train
  std::int64_t sequence_length = 0;
  std::int64_t micro_batch = 1;
  std::int64_t virtual_stages = 1;
  Schedule schedule = Schedule::one_forward_one_backward;
  RankOrder rank_order = RankOrder::data_then_pipeline;
  PipelineLayout layout;
  Recompute recompute;
  Offload offload;
  Sharding sharding = Sharding::optimizer;
  bool muon = false;  // false: Adam
  double gradient_bytes = 4.0;
  double moment_bytes = 4.0;
  bool quantised_parameters = false;
  bool fused_loss = true;
  bool fused_attention = true;
  bool fused_rope = true;
  bool fused_experts = true;
  bool dropout = false;
  bool overlap = true;
  bool tensor_overlap = false;
  bool expert_overlap = false;
  Dispatcher dispatcher = Dispatcher::fused;
  bool quantised_dispatch = false;
  bool grouped_experts = false;
  bool fp8_expert_activations = false;
  CudaGraphs cuda_graphs;
  bool fp8_attention = false;
  std::int64_t predicted_tokens = 0;
  std::int64_t packed = 0;  // 0: a sequence is one text
  Adapters lora;
  Jitter jitter;
  Trainer trainer;

  bool trains() const { return global_batch > 0; }
};

// The layers of each chunk of a model: what the layout says; even without one.
PipelineLayout layout_of(const Training& training, std::int64_t layers, std::int64_t stages);

// The mapping of the graph in training: a rank that has an expert has all of it.
Mapping training_mapping(const Architecture& model, Mapping mapping);

// Data-parallel replicas that hold one copy of the experts together. Expert parallelism runs on a multiple of so many only.
std::int64_t replicas_together(const Architecture& model, const Mapping& mapping);

// The precision in training, where there is no cache: its format becomes that of attention.
Precision training_precision(Precision precision, const Training& training);

// Moments that the optimizer keeps of `parameters`, of which `tables` are embedding and head: Adam two of each, Muon one of
// each, but for the tables, which it leaves to Adam (NVIDIA/Megatron-LM core/optimizer/layer_wise_optimizer.py). Norms too,
// which are few: they count as matrices.
double moments(const Training& training, double parameters, double tables);

// The linear layer whose weights and activations differ in format; null if none does. Training multiplies activations by
// their gradients and gradients by weights, so that weights alone in few bits serve inference only.
const LinearFormat* inference_format(const Precision& precision);

void read(base::Fields& f, Trainer& trainer);
void read(base::Fields& f, Training& training);

base::Catalog trainer_catalog();

}  // namespace roofcast::workloads
