// SPDX-License-Identifier: Apache-2.0
//
// What the serving software does around the kernels: a stack, and what a scenario overrides of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/document/catalog.hpp"
#include "base/document/fields.hpp"
#include "base/units/quantity.hpp"
#include "workloads/graph/fusion.hpp"
#include "workloads/serving/speculation.hpp"

namespace roofcast::workloads {

struct Mapping;

// The limits of a scheduler. A stack has defaults; a scenario may override each.
struct SchedulerLimits {
  // The budget: prompt tokens and decodes of one iteration.
  std::int64_t max_tokens_per_iteration = 0;
  std::int64_t max_sequences = 0;  // running at once, per attention-DP rank
  double memory_fraction = 0.0;    // share of the device memory that the engine may fill
};

// What an iteration computes while prompts wait.
enum class ScheduleOrder : std::uint8_t {
  mixed,          // a token of every decode, and prompts in the rest of the budget
  prompts_first,  // prompts alone, as many as fit; decodes when no prompt can be admitted
};

// The KV blocks that must be free before a request is admitted.
enum class Reservation : std::uint8_t {
  // The blocks of its first chunk. A decode that finds no free block takes those of the request admitted last.
  chunk,
  // The blocks of its prompt and of a share of its answer, beyond those that running requests have reserved.
  request,
};

// Which waiting request is admitted first, and which running request is preempted first.
enum class Queue : std::uint8_t {
  arrival,  // admits the first to arrive; preempts the last admitted
  priority,  // admits the greatest priority, then the first to arrive; preempts the least, then the last
};

// How a stack decides what runs (sim/replay/scheduler.hpp).
struct SchedulerPolicy {
  ScheduleOrder order = ScheduleOrder::mixed;
  Queue queue = Queue::arrival;
  // true: a prompt is cut where the budget ends. false: it waits for an iteration that can hold all of it, and only a
  // prompt longer than the budget is cut.
  bool chunked_prompts = true;
  Reservation reserves = Reservation::chunk;
  double reserved_output = 0.0;  // share of the answer, with Reservation::request
  bool prefix_cache = true;      // blocks of a prompt that were computed before are used again
  bool delayed_release = false;  // a slot is free one iteration after its last token
  // The next iteration is planned while one runs: a request that comes meanwhile is in the one after it. Without pipeline
  // stages.
  bool plans_ahead = false;
  // Waiting prompts let up to batch_wait_iterations iterations of decodes pass, until both together fill
  // batch_wait_fill of the budget.
  std::int64_t batch_wait_iterations = 0;
  double batch_wait_fill = 0.0;
  // With attention DP, while all ranks decode: prompts wait until there is one for each rank, but at most so many
  // iterations.
  std::int64_t rank_wait_iterations = 0;
  // The scheduler looks for new requests after so many iterations of decodes, and after every one with prompts.
  std::int64_t receive_iterations = 1;
  std::int64_t stream_interval = 1;  // tokens of an answer in one message to the client
};

// Which of several replicas a request goes to.
enum class Router : std::uint8_t {
  round_robin,   // one after another
  least_loaded,  // the one with the fewest running and waiting requests
  prefix_aware,  // the one that has most of the prompt in its KV cache, unless loads are too uneven
  session,       // the one of the session's first request, which was the least loaded then
};

// The memory of which memory_fraction of a stack is a fraction, and what that fraction must hold.
enum class FractionOf : std::uint8_t {
  device,  // the device: weights, activations, reserve, cache (vLLM's gpu_memory_utilization)
  weights_and_cache,  // the device: weights and cache only (SGLang's mem_fraction_static)
  free_memory,  // what the model leaves free: the cache (TensorRT-LLM's free_gpu_memory_fraction)
};

// How far forecasts were from measured servers of a stack.
struct ServedError {
  std::int64_t rows = 0;         // measurements
  double median = 0.0;           // of |predicted / measured − 1|
  double low = 1.0, high = 1.0;  // 5 % and 95 % quantiles of measured / predicted
};
struct ServedErrors {
  ServedError ttft;
  ServedError tpot;
};

struct Stack {
  std::string id;
  std::string name;
  SchedulerLimits limits;
  SchedulerPolicy policy;
  std::int64_t kv_block_tokens = 1;
  FractionOf fraction_of = FractionOf::device;
  base::Bytes runtime_reserve;       // context, graphs, workspaces
  base::Bytes collective_reserve;    // in addition where ranks communicate: buffers of collectives
  base::Seconds iteration_overhead;  // host time of an iteration
  base::Seconds sequence_overhead;   // host time in addition for each running sequence
  bool asynchronous = false;  // the host prepares an iteration while the GPU runs the one before
  base::Seconds request_overhead;  // once a request: HTTP, first detokenisation
  // Of two pools, once a request in addition: they agree where its cache goes.
  base::Seconds handover_overhead;
  // Times of the front end, which does one thing after another (sim/replay/front_end.hpp).
  base::Seconds intake_overhead;   // for each request
  base::Seconds token_overhead;    // for each prompt token: tokenisation
  base::Seconds message_overhead;  // for each message to a client: detokenisation, HTTP
  double hidden_launch = 0.0;      // share of the launch of a kernel that the kernel before hides
  // Host time of an operator in eager mode, where prompts rule out a CUDA graph.
  base::Seconds eager_operator;
  // Share of these times that no kernel hides, with prompts. With MLA it is 1.
  double waited_launches = 0.0;
  // Operators in eager mode beyond those of the graph: in a layer with MLA, and in a layer with experts.
  double latent_operators = 0.0;
  double expert_operators = 0.0;
  // The most tokens of an iteration with prompts that CUDA graphs cover, without attention (piecewise CUDA graphs).
  std::int64_t graph_tokens = 0;
  Fusion fusion;
  bool attention_dp_tensor_parallel = true;  // a group of attention DP may have several GPUs
  bool whole_blocks = false;  // ranks share weights by whole blocks of 128 x 128 scales
  ServedErrors errors;        // of servers of one pool
  ServedErrors pool_errors;   // of two pools; where none were measured, those of one
};

// The time that the front end needs for a request of so many prompt tokens before it passes the request on.
inline base::Seconds intake_time(const Stack& stack, double tokens) {
  return stack.intake_overhead + tokens * stack.token_overhead;
}

// The time from sending a request of so many prompt tokens until the scheduler sees it.
inline base::Seconds request_time(const Stack& stack, std::int64_t tokens) {
  return stack.request_overhead + intake_time(stack, static_cast<double>(tokens));
}

// Which work of an iteration is overlapped with the exchange of tokens between experts. (Ring attention is always
// overlapped with its communication.)
enum class Overlap : std::uint8_t {
  none,
  shared_experts,  // the shared experts of the same tokens, with the dispatch
  two_batches,     // the other half of the batch (sim/iteration/batch_overlap.hpp)
};

// Host memory of one replica for KV blocks that its caches evict (sim/replay/host_cache.hpp). Each GPU reaches its
// share over its own link.
struct KvOffload {
  base::Bytes capacity;  // 0: none
  std::optional<base::BytesPerSecond>
      bandwidth;  // of a GPU's link, one direction; absent: its PCIe port
};

// CUDA graphs of iterations without prompts. `full`: one covers all operators. `piecewise`: all but attention, which the
// host launches. `none`: eager mode; the host launches every operator, of prompts too.
enum class DecodeGraphs : std::uint8_t { full, piecewise, none };

struct ServingGraphs {
  DecodeGraphs decode = DecodeGraphs::full;
  // Decoding sequences of a rank for which there is a graph, ascending. Fewer run in the next larger one, which computes
  // rows that nobody needs; more than the largest run eagerly. Empty: a graph of every size.
  std::vector<std::int64_t> sizes;

  // The sequences that `decodes` run as; `decodes` where no graph holds them.
  std::int64_t padded(std::int64_t decodes) const;
  bool cover(std::int64_t decodes) const {
    return decode != DecodeGraphs::none && (sizes.empty() || decodes <= sizes.back());
  }
  bool usual() const { return decode == DecodeGraphs::full && sizes.empty(); }
};

// The `serving:` section: a stack and what the scenario overrides of it.
struct Serving {
  Stack stack;
  std::string
      version;  // of the stack: of whose kernels the forecast is; empty: the newest measured
  SchedulerLimits limits;
  SchedulerPolicy policy;
  KvOffload kv_offload;
  Speculation speculation;
  Overlap overlap = Overlap::none;
  ServingGraphs cuda_graphs;
  std::int64_t replicas = 1;    // each has the ranks of the mapping
  std::int64_t front_ends = 0;  // processes of each replica that take requests in and send tokens
  Router router = Router::least_loaded;

  // Of a replica with this mapping. Unless the scenario says it: one, and where the GPUs fill more than one host of eight
  // one for each attention-DP group, as vLLM starts them, and for each host.
  std::int64_t front_ends_of(const Mapping& mapping) const;
};

void read_limits(base::Fields& f, SchedulerLimits& limits, base::Need need);
void read(base::Fields& f, Stack& stack);
void read(base::Fields& f, Serving& serving);

base::Catalog stack_catalog();

}  // namespace roofcast::workloads
