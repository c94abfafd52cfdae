// SPDX-License-Identifier: Apache-2.0
//
// What the serving software does beside the kernels.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/document/catalog.hpp"
#include "base/document/fields.hpp"
#include "base/units/quantity.hpp"
#include "workloads/graph/operator.hpp"
#include "workloads/serving/speculation.hpp"

namespace roofcast::workloads {

// Scheduler limits; a stack has defaults, a scenario may override each.
struct SchedulerLimits {
  std::int64_t max_tokens_per_iteration = 0;  // prompt chunk and decodes of one iteration
  std::int64_t max_sequences = 0;             // running at once, per attention-DP rank
  double memory_fraction = 0.0;               // of the device memory the engine may fill
};

// What an iteration is made of while prompts wait.
enum class ScheduleOrder : std::uint8_t {
  mixed,          // a token of every decode, and prompts with what the budget leaves
  prompts_first,  // prompts alone, as many as fit; decodes when none can be admitted
};

// The KV blocks that must be free before a request is admitted.
enum class Reservation : std::uint8_t {
  chunk,    // of its first chunk; decodes that find none take those of the request admitted last
  request,  // of its prompt and a share of its answer, beside what was promised to those that run
};

// Which of those that wait is admitted first, and which of those that run loses its blocks to others.
enum class Queue : std::uint8_t {
  arrival,  // the first to come; the last to be admitted
  priority,  // the greatest priority, of equal ones the first to come; the least, of equal ones the last
};

// How a stack decides what runs (sim/replay/scheduler.hpp).
struct SchedulerPolicy {
  ScheduleOrder order = ScheduleOrder::mixed;
  Queue queue = Queue::arrival;
  bool chunked_prompts = true;  // a prompt is cut where the budget ends; else it waits for one that
                                // holds it, if any can
  Reservation reserves = Reservation::chunk;
  double reserved_output = 0.0;  // share of the answer, with Reservation::request
  bool prefix_cache = true;      // blocks of a prompt that were computed before are used again
  bool delayed_release = false;  // a slot is free an iteration after its last token
  // Iterations of decodes that waiting prompts let pass until they fill a share of the budget.
  std::int64_t batch_wait_iterations = 0;
  double batch_wait_fill = 0.0;
  // Iterations after which waiting prompts go to the ranks of attention DP though not each gets one, while all decode.
  std::int64_t rank_wait_iterations = 0;
  // Decode iterations after which new requests are looked for; they are after every one with prompts too.
  std::int64_t receive_iterations = 1;
  std::int64_t stream_interval = 1;  // tokens of an answer in a message to the client
};

// Which of several replicas a request goes to.
enum class Router : std::uint8_t {
  round_robin,   // one after the other
  least_loaded,  // the fewest requests that run or wait
  prefix_aware,  // the most of the prompt in its KV cache, unless loads are too uneven
  session,       // where the session's first request went, which is the least loaded
};

// What a stack's memory_fraction is a fraction of, and what it must hold.
enum class FractionOf : std::uint8_t {
  device,  // of the device: weights, activations, reserve and cache (vLLM's gpu_memory_utilization)
  weights_and_cache,  // of the device: weights and cache only (SGLang's mem_fraction_static)
  free_memory,  // of what the model leaves free: the cache (TensorRT-LLM's free_gpu_memory_fraction)
};

// How far forecasts were from servers of this stack: 5 % and 95 % quantiles of measured / predicted.
struct ServedError {
  std::int64_t rows = 0;
  double median = 0.0;  // of |predicted / measured − 1|
  double low = 1.0, high = 1.0;
};

struct Stack {
  std::string id;
  std::string name;
  SchedulerLimits limits;
  SchedulerPolicy policy;
  std::int64_t kv_block_tokens = 1;
  FractionOf fraction_of = FractionOf::device;
  base::Bytes runtime_reserve;       // context, graphs, workspaces
  base::Bytes collective_reserve;    // more of it where ranks communicate: buffers of collectives
  base::Seconds iteration_overhead;  // host time of an iteration
  base::Seconds sequence_overhead;   // more of it for each running sequence
  bool asynchronous = false;  // the host prepares an iteration while the GPU runs the one before
  base::Seconds request_overhead;  // once a request: HTTP, first detokenisation
  // Of the front end, which does one thing after the other (sim/replay/front_end.hpp).
  base::Seconds intake_overhead;   // of a request
  base::Seconds token_overhead;    // of a prompt token: tokenisation
  base::Seconds message_overhead;  // of a message to a client: detokenisation, HTTP
  double hidden_launch = 0.0;      // share of a kernel's launch behind the kernel before
  base::Seconds eager_operator;    // host time of an operator where prompts rule out a CUDA graph
  // Such operators beyond those that are counted, of a layer of latent attention and of one of experts.
  double latent_operators = 0.0;
  double expert_operators = 0.0;
  // Of an iteration with prompts, as many as graphs cover, but for attention (piecewise CUDA graphs).
  std::int64_t graph_tokens = 0;
  QuantiseFusion fused_quantise = QuantiseFusion::none;
  bool fused_norm = false;           // norms after an all-reduce are a part of it
  bool alternative_experts = false;  // GroupedGemm::alternative_kernel
  AllReduceKernels custom_all_reduce = AllReduceKernels::library;
  ServedError ttft_error;
  ServedError tpot_error;
};

// What the front end takes for a request of so many prompt tokens before it passes it on.
inline base::Seconds intake_time(const Stack& stack, double tokens) {
  return stack.intake_overhead + tokens * stack.token_overhead;
}

// What a request of so many prompt tokens passes before the scheduler sees it.
inline base::Seconds request_time(const Stack& stack, std::int64_t tokens) {
  return stack.request_overhead + intake_time(stack, static_cast<double>(tokens));
}

// What of a step's own work, beside ring attention, runs while experts' tokens are exchanged.
enum class Overlap : std::uint8_t {
  none,
  shared_experts,  // those of the same tokens, beside the dispatch
  two_batches,     // the other half of the batch (sim/iteration/batch_overlap.hpp)
};

// Host memory of one replica, each GPU's share behind its own link, for KV blocks that its caches evict
// (sim/replay/host_cache.hpp).
struct KvOffload {
  base::Bytes capacity;  // 0: none
  std::optional<base::BytesPerSecond>
      bandwidth;  // of a GPU's link, one direction; the chip's PCIe port
};

// The `serving:` section: a stack and what the scenario overrides.
struct Serving {
  Stack stack;
  SchedulerLimits limits;
  SchedulerPolicy policy;
  KvOffload kv_offload;
  Speculation speculation;
  Overlap overlap = Overlap::none;
  std::int64_t replicas = 1;  // each with the ranks of the mapping
  Router router = Router::least_loaded;
};

void read_limits(base::Fields& f, SchedulerLimits& limits, base::Need need);
void read(base::Fields& f, Stack& stack);
void read(base::Fields& f, Serving& serving);

base::Catalog stack_catalog();

}  // namespace roofcast::workloads
