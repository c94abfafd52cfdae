// SPDX-License-Identifier: Apache-2.0
#include "workloads/serving/serving.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "base/version.hpp"
#include "workloads/architecture/mapping.hpp"

namespace roofcast::workloads {

std::span<const base::CatalogEntry> embedded_stacks();

base::Catalog stack_catalog() { return {"stacks", "stack", embedded_stacks()}; }

void read_limits(base::Fields& f, SchedulerLimits& limits, base::Need need) {
  f.integer("max_tokens_per_iteration", limits.max_tokens_per_iteration, {1.0, 1e9}, need);
  f.integer("max_sequences", limits.max_sequences, {1.0, 1e9}, need);
  f.number("memory_fraction", limits.memory_fraction, {0.0, 1.0, true}, need);
}

namespace {

void read(base::Fields& f, ServedError& error) {
  f.integer("rows", error.rows, base::not_negative);
  f.number("median", error.median, base::not_negative);
  f.number("low", error.low, {0.0, 1.0, true});
  f.number("high", error.high, {1.0, 1e3});
}

void read(base::Fields& f, ServedErrors& errors) {
  f.group("ttft", [&](base::Fields& g) { read(g, errors.ttft); });
  f.group("tpot", [&](base::Fields& g) { read(g, errors.tpot); });
}

void read_policy(base::Fields& f, SchedulerPolicy& policy) {
  f.choice<ScheduleOrder>(
      "order", policy.order,
      {{"mixed", ScheduleOrder::mixed}, {"prompts first", ScheduleOrder::prompts_first}},
      base::optional);
  f.choice<Queue>("queue", policy.queue,
                  {{"arrival", Queue::arrival}, {"priority", Queue::priority}}, base::optional);
  f.flag("chunked_prompts", policy.chunked_prompts, base::optional);
  f.choice<Reservation>("reserves", policy.reserves,
                        {{"chunk", Reservation::chunk}, {"request", Reservation::request}},
                        base::optional);
  f.number("reserved_output", policy.reserved_output, base::fraction, base::optional);
  f.flag("prefix_cache", policy.prefix_cache, base::optional);
  f.flag("delayed_release", policy.delayed_release, base::optional);
  f.flag("plans_ahead", policy.plans_ahead, base::optional);
  f.integer("batch_wait_iterations", policy.batch_wait_iterations, base::not_negative,
            base::optional);
  f.number("batch_wait_fill", policy.batch_wait_fill, base::fraction, base::optional);
  f.integer("rank_wait_iterations", policy.rank_wait_iterations, base::not_negative,
            base::optional);
  f.integer("receive_iterations", policy.receive_iterations, base::at_least_one, base::optional);
  f.integer("stream_interval", policy.stream_interval, base::at_least_one, base::optional);
}

void read_graphs(base::Fields& f, ServingGraphs& graphs) {
  f.choice<DecodeGraphs>("decode", graphs.decode,
                         {{"full", DecodeGraphs::full},
                          {"piecewise", DecodeGraphs::piecewise},
                          {"none", DecodeGraphs::none}},
                         base::optional);
  f.integers("sizes", graphs.sizes, {1.0, 1e9}, base::optional);
  if (std::adjacent_find(graphs.sizes.begin(), graphs.sizes.end(), std::greater_equal<>()) !=
      graphs.sizes.end()) {
    f.problem("sizes", "must ascend");
  }
  if (!graphs.sizes.empty() && graphs.decode == DecodeGraphs::none) {
    f.problem("sizes", "are those of graphs, and decode is none");
  }
}

}  // namespace

std::int64_t ServingGraphs::padded(std::int64_t decodes) const {
  const auto size = std::lower_bound(sizes.begin(), sizes.end(), decodes);
  return size != sizes.end() && decode != DecodeGraphs::none ? *size : decodes;
}

void read(base::Fields& f, Stack& stack) {
  stack.id = f.node().reference;
  f.text("name", stack.name);
  std::vector<std::string> known_as;  // base::id_called
  f.texts("known_as", known_as);
  f.group("limits", [&](base::Fields& g) {
    read_limits(g, stack.limits, base::required);
    g.source();
  });
  f.group(
      "scheduler",
      [&](base::Fields& g) {
        read_policy(g, stack.policy);
        g.source();
      },
      base::optional);
  f.group("cache", [&](base::Fields& g) {
    g.integer("block_tokens", stack.kv_block_tokens, base::at_least_one);
    g.choice<FractionOf>("memory_fraction_of", stack.fraction_of,
                         {{"device", FractionOf::device},
                          {"weights and cache", FractionOf::weights_and_cache},
                          {"free memory", FractionOf::free_memory}});
    g.quantity("runtime_reserve", stack.runtime_reserve, base::not_negative);
    g.quantity("collective_reserve", stack.collective_reserve, base::not_negative);
    g.source();
  });
  f.group("overhead", [&](base::Fields& g) {
    g.quantity("per_iteration", stack.iteration_overhead, base::not_negative);
    g.quantity("per_sequence", stack.sequence_overhead, base::not_negative);
    g.quantity("per_request", stack.request_overhead, {0.0, 60.0});
    g.quantity("per_handover", stack.handover_overhead, {0.0, 60.0}, base::optional);
    g.flag("asynchronous", stack.asynchronous);
    g.number("hidden_launch", stack.hidden_launch, {0.0, 1.0});
    g.quantity("eager_operator", stack.eager_operator, base::not_negative);
    g.number("waited_launches", stack.waited_launches, {0.0, 1.0}, base::optional);
    g.number("latent_operators", stack.latent_operators, base::not_negative, base::optional);
    g.number("expert_operators", stack.expert_operators, base::not_negative, base::optional);
    g.integer("graph_tokens", stack.graph_tokens, base::not_negative, base::optional);
    g.source();
  });
  f.group("front_end", [&](base::Fields& g) {
    g.quantity("per_request", stack.intake_overhead, {0.0, 60.0});
    g.quantity("per_prompt_token", stack.token_overhead, base::not_negative);
    g.quantity("per_message", stack.message_overhead, base::not_negative);
    g.source();
  });
  f.group("fusion", [&](base::Fields& g) {
    read(g, stack.fusion);
    g.source();
  });
  f.group(
      "mapping",
      [&](base::Fields& g) {
        g.flag("attention_dp_tensor_parallel", stack.attention_dp_tensor_parallel, base::optional);
        g.flag("whole_blocks", stack.whole_blocks, base::optional);
        g.source();
      },
      base::optional);
  f.group("errors", [&](base::Fields& g) {
    read(g, stack.errors);
    stack.pool_errors = stack.errors;
    g.group(
        "two_pools", [&](base::Fields& e) { read(e, stack.pool_errors); }, base::optional);
    g.source();
  });
}

void read(base::Fields& f, Serving& serving) {
  f.group("stack", [&](base::Fields& g) { read(g, serving.stack); });
  f.text("version", serving.version, base::optional);
  if (f.has("version") && !base::parse_version(serving.version)) {
    f.problem("version", base::kExpectsVersion);
  }
  serving.limits = serving.stack.limits;
  serving.policy = serving.stack.policy;
  read_limits(f, serving.limits, base::optional);
  f.group(
      "scheduler", [&](base::Fields& g) { read_policy(g, serving.policy); }, base::optional);
  f.group(
      "kv_offload",
      [&](base::Fields& g) {
        g.quantity("capacity", serving.kv_offload.capacity, base::not_negative);
        g.quantity("bandwidth", serving.kv_offload.bandwidth);
      },
      base::optional);
  if (f.has("kv_offload") && !serving.policy.prefix_cache) {
    f.problem("kv_offload", "keeps what a prefix cache evicts, and prefix_cache is false");
  }
  f.group(
      "speculative", [&](base::Fields& g) { read(g, serving.speculation); }, base::optional);
  f.choice<Overlap>("overlap", serving.overlap,
                    {{"none", Overlap::none},
                     {"shared experts", Overlap::shared_experts},
                     {"two batches", Overlap::two_batches}},
                    base::optional);
  f.group(
      "cuda_graphs", [&](base::Fields& g) { read_graphs(g, serving.cuda_graphs); }, base::optional);
  if (std::vector<std::int64_t>& sizes = serving.cuda_graphs.sizes; !sizes.empty()) {
    if (sizes.front() > serving.limits.max_sequences) {
      f.problem("cuda_graphs", fmt::format("sizes begin above max_sequences, {}: none is ever used",
                                           serving.limits.max_sequences));
    }
    // Those above it are not captured.
    std::erase_if(sizes, [&](std::int64_t size) { return size > serving.limits.max_sequences; });
  }
  if (serving.cuda_graphs.decode == DecodeGraphs::none) {
    serving.stack.graph_tokens = 0;
  }
  f.integer("replicas", serving.replicas, {1.0, 1e6}, base::optional);
  f.integer("front_ends", serving.front_ends, {1.0, 1024.0}, base::optional);
  f.choice<Router>("router", serving.router,
                   {{"round robin", Router::round_robin},
                    {"least loaded", Router::least_loaded},
                    {"prefix aware", Router::prefix_aware},
                    {"session", Router::session}},
                   base::optional);
}

std::int64_t Serving::front_ends_of(const Mapping& mapping) const {
  constexpr std::int64_t kHost = 8;  // GPUs
  const std::int64_t hosts = (mapping.ranks() + kHost - 1) / kHost;
  return front_ends > 0 ? front_ends : std::max(hosts, mapping.data_parallel);
}

}  // namespace roofcast::workloads
