// SPDX-License-Identifier: Apache-2.0
#include "cli/text/launch_command.hpp"

#include <fmt/format.h>

#include <string_view>
#include <vector>

#include "sim/result/infeasible.hpp"

namespace roofcast::cli {
namespace {

using workloads::Mapping;

// A server: one replica of one pool.
struct Server {
  Mapping mapping;
  workloads::SchedulerLimits limits;
  std::int64_t replicas = 1;
  sim::PoolKind pool = sim::PoolKind::none;
  std::int64_t front_ends = 1;
  bool fp8_cache = false;
  bool chunked = true;

  bool is_prefill() const { return pool == sim::PoolKind::prefill; }
  bool is_pooled() const { return pool != sim::PoolKind::none; }
};

// Options, a line each where there are many.
class Line {
 public:
  explicit Line(std::string command) : text_(std::move(command)) {}
  Line& add(std::string_view option) {
    if (text_.size() - line_ + option.size() > kWidth) {
      text_ += " \\\n  ";
      line_ = text_.size() - 2;
    }
    text_ += fmt::format(" {}", option);
    return *this;
  }
  template <class T>
  Line& add(std::string_view option, const T& value) {
    return add(fmt::format("{} {}", option, value));
  }
  // Only where it says something: more than one way.
  Line& ways(std::string_view option, std::int64_t value) {
    return value > 1 ? add(option, value) : *this;
  }
  const std::string& text() const { return text_; }

 private:
  static constexpr std::size_t kWidth = 96;
  std::string text_;
  std::size_t line_ = 0;
};

std::string vllm(const Server& s) {
  Line line("vllm serve MODEL");
  line.add("--tensor-parallel-size", s.mapping.tensor_parallel)
      .ways("--pipeline-parallel-size", s.mapping.pipeline_parallel)
      .ways("--data-parallel-size", s.mapping.data_parallel)
      .ways("--api-server-count", s.front_ends);
  if (s.mapping.expert_parallel > 1) {
    line.add("--enable-expert-parallel");
  }
  line.add("--max-num-seqs", s.limits.max_sequences)
      .add("--max-num-batched-tokens", s.limits.max_tokens_per_iteration)
      .add("--gpu-memory-utilization", s.limits.memory_fraction);
  if (s.fp8_cache) {
    line.add("--kv-cache-dtype fp8");
  }
  if (s.is_pooled()) {
    line.add(
        fmt::format(R"(--kv-transfer-config '{{"kv_connector":"NixlConnector","kv_role":"{}"}}')",
                    s.is_prefill() ? "kv_producer" : "kv_consumer"));
  }
  return line.text();
}

std::string sglang(const Server& s) {
  const std::int64_t groups = s.mapping.data_parallel;
  Line line("python3 -m sglang.launch_server --model-path MODEL");
  line.add("--tp-size", s.mapping.tensor_parallel * groups)
      .ways("--pp-size", s.mapping.pipeline_parallel);
  if (groups > 1) {
    line.add("--dp-size", groups).add("--enable-dp-attention");
  }
  line.ways("--ep-size", s.mapping.expert_parallel)
      .add("--max-running-requests", s.limits.max_sequences * groups)
      .add("--chunked-prefill-size", s.limits.max_tokens_per_iteration * groups)
      .add("--mem-fraction-static", s.limits.memory_fraction)
      .ways("--tokenizer-worker-num", s.front_ends);
  if (s.fp8_cache) {
    line.add("--kv-cache-dtype fp8_e4m3");
  }
  if (s.is_pooled()) {
    line.add("--disaggregation-mode", s.is_prefill() ? "prefill" : "decode");
  }
  return line.text();
}

std::string trtllm(const Server& s) {
  const std::int64_t groups = s.mapping.data_parallel;
  if (groups > 1 && s.mapping.tensor_parallel > 1) {
    return "# TensorRT-LLM runs attention DP with one GPU a group only: it cannot start this "
           "mapping";
  }
  const std::string file = s.is_prefill()  ? "prefill.yaml"
                           : s.is_pooled() ? "decode.yaml"
                                           : "options.yaml";
  std::vector<std::string> keys;
  if (groups > 1) {
    keys.emplace_back("enable_attention_dp: true");
  }
  if (s.fp8_cache) {
    keys.emplace_back("kv_cache_config: {dtype: fp8}");
  }
  if (s.is_prefill()) {
    keys.emplace_back("disable_overlap_scheduler: true");
  }
  if (s.is_pooled()) {
    keys.emplace_back("cache_transceiver_config: {backend: UCX}");
  }
  Line line("trtllm-serve MODEL");
  line.add("--tp_size", s.mapping.tensor_parallel * groups)
      .ways("--pp_size", s.mapping.pipeline_parallel)
      .ways("--ep_size", s.mapping.expert_parallel)
      .add("--max_batch_size", s.limits.max_sequences)
      .add("--max_num_tokens", s.limits.max_tokens_per_iteration)
      .add("--kv_cache_free_gpu_memory_fraction", s.limits.memory_fraction);
  if (s.chunked) {
    line.add("--enable_chunked_prefill");
  }
  if (keys.empty()) {
    return line.text();
  }
  line.add("--config", file);
  return fmt::format("printf '%s\\n' '{}' > {}\n{}", fmt::join(keys, "' '"), file, line.text());
}

// What passes a request on to the servers of two pools.
std::string_view router_of(std::string_view stack) {
  return stack == "sglang" ? "python3 -m sglang_router.launch_router --pd-disaggregation --prefill "
                             "URL --decode URL"
         : stack == "trtllm"
             ? "trtllm-serve disaggregated -c pools.yaml   # context_servers, generation_servers: "
               "urls of "
               "the above"
             : "# and a proxy that sends each request to a prefill server, then to a decode server";
}

std::string servers_of(const Server& server, std::string_view stack, std::int64_t domain) {
  const std::int64_t ranks = server.mapping.ranks();
  std::string text = fmt::format("# {}{}{} GPU{} each", server.replicas,
                                 server.is_prefill()  ? " prefill servers, "
                                 : server.is_pooled() ? " decode servers, "
                                                      : " servers, ",
                                 ranks, ranks == 1 ? "" : "s");
  if (server.replicas == 1) {
    text = fmt::format("# one {}server, {} GPU{}",
                       server.is_prefill()  ? "prefill "
                       : server.is_pooled() ? "decode "
                                            : "",
                       ranks, ranks == 1 ? "" : "s");
  }
  text += ranks > domain ? "; it spans nodes, which needs more options\n" : "\n";
  return text +
         (stack == "sglang"   ? sglang(server)
          : stack == "trtllm" ? trtllm(server)
                              : vllm(server)) +
         "\n";
}

}  // namespace

std::string launch_commands(const sim::Scenario& s) {
  const std::string& stack = s.serving.stack.id;
  if (stack != "vllm" && stack != "sglang" && stack != "trtllm") {
    return fmt::format("# {}: its options are not known here\n", s.serving.stack.name);
  }
  const std::int64_t domain = s.platform.system.scale_up_domain;
  Server server;
  server.fp8_cache = base::facts(s.precision.kv_cache).math == base::MathType::fp8;
  server.chunked = s.serving.policy.chunked_prompts;
  const auto of = [&](const Mapping& mapping, std::int64_t replicas, workloads::SchedulerLimits own,
                      sim::PoolKind pool) {
    const workloads::SchedulerLimits& all = s.serving.limits;
    server.mapping = mapping;
    server.front_ends = s.serving.front_ends_of(mapping);
    server.replicas = replicas;
    server.pool = pool;
    server.limits.max_sequences = own.max_sequences > 0 ? own.max_sequences : all.max_sequences;
    server.limits.max_tokens_per_iteration = own.max_tokens_per_iteration > 0
                                                 ? own.max_tokens_per_iteration
                                                 : all.max_tokens_per_iteration;
    server.limits.memory_fraction =
        own.memory_fraction > 0.0 ? own.memory_fraction : all.memory_fraction;
    return servers_of(server, stack, domain);
  };
  if (!s.deployment.pools) {
    return of(s.deployment.mapping, s.serving.replicas, {}, sim::PoolKind::none) +
           (s.serving.replicas > 1 ? "# and a router before them\n" : "");
  }
  const workloads::Pools& pools = *s.deployment.pools;
  return of(pools.prefill.mapping, pools.prefill.replicas, pools.prefill.limits,
            sim::PoolKind::prefill) +
         of(pools.decode.mapping, pools.decode.replicas, pools.decode.limits,
            sim::PoolKind::decode) +
         fmt::format("{}\n", router_of(stack));
}

}  // namespace roofcast::cli
