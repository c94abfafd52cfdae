// SPDX-License-Identifier: Apache-2.0
#include "cli/launch/servers.hpp"

#include <fmt/format.h>

#include <utility>

#include "sim/result/infeasible.hpp"

namespace roofcast::cli {
namespace {

using Of = LaunchOption::Of;
using workloads::Mapping;

// A replica of one pool, as the stack's options need it.
struct Replica {
  Mapping mapping;
  workloads::SchedulerLimits limits;
  std::int64_t front_ends = 1;
  bool fp8_cache = false;
  bool chunked = true;
};

class Options {
 public:
  explicit Options(std::vector<LaunchOption>& all) : all_(all) {}

  Options& add(std::string name, std::string value = {}, Of of = Of::engine) {
    all_.push_back({std::move(name), std::move(value), of, {}});
    return *this;
  }
  template <class Number>
  Options& number(std::string name, Number value, Of of = Of::engine) {
    return add(std::move(name), fmt::format("{}", value), of);
  }
  // Only where it says something: more than one way.
  Options& ways(std::string name, std::int64_t value, Of of = Of::engine) {
    return value > 1 ? number(std::move(name), value, of) : *this;
  }
  Options& key(std::string key) {
    all_.back().key = std::move(key);
    return *this;
  }

 private:
  std::vector<LaunchOption>& all_;
};

void vllm(const Replica& r, LaunchedServer& server) {
  server.program = {"vllm", "serve", "MODEL"};
  Options options(server.options);
  options.number("--tensor-parallel-size", r.mapping.tensor_parallel)
      .ways("--pipeline-parallel-size", r.mapping.pipeline_parallel)
      .ways("--data-parallel-size", r.mapping.data_parallel)
      .ways("--api-server-count", r.front_ends, Of::front_end);
  if (r.mapping.expert_parallel > 1) {
    options.add("--enable-expert-parallel");
  }
  options.number("--max-num-seqs", r.limits.max_sequences)
      .number("--max-num-batched-tokens", r.limits.max_tokens_per_iteration)
      .number("--gpu-memory-utilization", r.limits.memory_fraction);
  if (r.fp8_cache) {
    options.add("--kv-cache-dtype", "fp8");
  }
  if (server.is_pooled()) {
    options.add("--kv-transfer-config",
                fmt::format(R"({{"kv_connector":"NixlConnector","kv_role":"{}"}})",
                            server.is_prefill() ? "kv_producer" : "kv_consumer"),
                Of::pools);
  }
}

void sglang(const Replica& r, LaunchedServer& server) {
  const std::int64_t groups = r.mapping.data_parallel;
  server.program = {"python3", "-m", "sglang.launch_server", "--model-path", "MODEL"};
  Options options(server.options);
  options.number("--tp-size", r.mapping.tensor_parallel * groups)
      .ways("--pp-size", r.mapping.pipeline_parallel);
  if (groups > 1) {
    options.number("--dp-size", groups).add("--enable-dp-attention");
  }
  options.ways("--ep-size", r.mapping.expert_parallel)
      .number("--max-running-requests", r.limits.max_sequences * groups)
      .number("--chunked-prefill-size", r.limits.max_tokens_per_iteration * groups)
      .number("--mem-fraction-static", r.limits.memory_fraction)
      .ways("--tokenizer-worker-num", r.front_ends, Of::front_end);
  if (r.fp8_cache) {
    options.add("--kv-cache-dtype", "fp8_e4m3");
  }
  if (server.is_pooled()) {
    options.add("--disaggregation-mode", server.is_prefill() ? "prefill" : "decode", Of::pools);
  }
}

void trtllm(const Replica& r, LaunchedServer& server) {
  const std::int64_t groups = r.mapping.data_parallel;
  std::vector<std::string>& lines = server.file_lines;
  if (groups > 1) {
    lines.emplace_back("enable_attention_dp: true");
  }
  if (r.fp8_cache) {
    lines.emplace_back("kv_cache_config: {dtype: fp8}");
  }
  if (server.is_prefill()) {
    lines.emplace_back("disable_overlap_scheduler: true");
  }
  if (server.is_pooled()) {
    lines.emplace_back("cache_transceiver_config: {backend: UCX}");
  }
  server.program = {"trtllm-serve", "MODEL"};
  Options options(server.options);
  options.number("--tp_size", r.mapping.tensor_parallel * groups).key("tensor_parallel_size");
  if (r.mapping.pipeline_parallel > 1) {
    options.number("--pp_size", r.mapping.pipeline_parallel).key("pipeline_parallel_size");
  }
  if (r.mapping.expert_parallel > 1) {
    options.number("--ep_size", r.mapping.expert_parallel).key("moe_expert_parallel_size");
  }
  options.number("--max_batch_size", r.limits.max_sequences)
      .key("max_batch_size")
      .number("--max_num_tokens", r.limits.max_tokens_per_iteration)
      .key("max_num_tokens")
      .number("--kv_cache_free_gpu_memory_fraction", r.limits.memory_fraction)
      .key("kv_cache_config.free_gpu_memory_fraction");
  if (r.chunked) {
    options.add("--enable_chunked_prefill").key("enable_chunked_prefill");
  }
  if (!lines.empty()) {
    server.file = server.is_prefill()  ? "prefill.yaml"
                  : server.is_pooled() ? "decode.yaml"
                                       : "options.yaml";
    options.add("--config", server.file, Of::front_end);
  }
}

constexpr std::pair<std::string_view, void (*)(const Replica&, LaunchedServer&)> kStacks[] = {
    {"vllm", vllm}, {"sglang", sglang}, {"trtllm", trtllm}};

}  // namespace

Launch launch_of(const sim::Scenario& s) {
  Launch launch;
  launch.stack = s.serving.stack.id;
  void (*options_of)(const Replica&, LaunchedServer&) = nullptr;
  for (const auto& [id, known] : kStacks) {
    options_of = id == launch.stack ? known : options_of;
  }
  if (options_of == nullptr) {
    launch.refusal = fmt::format("{}: its options are not known here", s.serving.stack.name);
    return launch;
  }
  const auto add = [&](const Mapping& mapping, std::int64_t replicas,
                       const workloads::SchedulerLimits& own, sim::PoolKind pool) {
    if (options_of == trtllm && mapping.data_parallel > 1 && mapping.tensor_parallel > 1) {
      launch.refusal =
          "TensorRT-LLM runs attention DP with one GPU a group only: it cannot start this mapping";
    }
    const workloads::SchedulerLimits& all = s.serving.limits;
    Replica r;
    r.mapping = mapping;
    r.limits.max_sequences = own.max_sequences > 0 ? own.max_sequences : all.max_sequences;
    r.limits.max_tokens_per_iteration = own.max_tokens_per_iteration > 0
                                            ? own.max_tokens_per_iteration
                                            : all.max_tokens_per_iteration;
    r.limits.memory_fraction =
        own.memory_fraction > 0.0 ? own.memory_fraction : all.memory_fraction;
    r.front_ends = s.serving.front_ends_of(mapping);
    r.fp8_cache = base::facts(s.precision.kv_cache).math == base::MathType::fp8;
    r.chunked = s.serving.policy.chunked_prompts;
    LaunchedServer& server = launch.servers.emplace_back();
    server.pool = pool;
    server.replicas = replicas;
    server.gpus = mapping.ranks();
    options_of(r, server);
  };
  if (!s.deployment.pools) {
    add(s.deployment.mapping, s.serving.replicas, {}, sim::PoolKind::none);
  } else {
    const workloads::Pools& pools = *s.deployment.pools;
    add(pools.prefill.mapping, pools.prefill.replicas, pools.prefill.limits,
        sim::PoolKind::prefill);
    add(pools.decode.mapping, pools.decode.replicas, pools.decode.limits, sim::PoolKind::decode);
  }
  if (!launch.refusal.empty()) {
    launch.servers.clear();
  }
  return launch;
}

}  // namespace roofcast::cli
