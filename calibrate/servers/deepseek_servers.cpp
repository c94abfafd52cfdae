// SPDX-License-Identifier: Apache-2.0
#include "calibrate/servers/deepseek_servers.hpp"

#include <algorithm>

namespace roofcast::calibrate {
namespace {

constexpr std::int64_t kLeastStep = 8192;
constexpr std::int64_t kRankWait = 60;

bool is_nvfp4(const MeasuredServer& server) { return server.precision->id == "nvfp4"; }

std::int64_t draft_tokens(const MeasuredServer& server) {
  if (server.stack == "sglang") {
    return 2;
  }
  return server.mapping.data_parallel > 1 ? 1 : 3;
}

std::int64_t step_tokens(std::int64_t decodes, const MeasuredServer& server) {
  return (decodes + server.stream.input.most + 64 + 63) / 64 * 64;
}

// Whether CUDA graphs cover the passes with prompts, but for attention.
bool prompts_by_graph(const MeasuredServer& server, bool predicts) {
  const std::int64_t clients = server.traffic.concurrency;
  const std::int64_t input = server.stream.input.most;
  const std::int64_t output = server.stream.output.most;
  const bool data_parallel = server.mapping.data_parallel > 1;
  const bool short_answers = input == 1024 && output == 1024;
  if (server.chip != "b200_sxm") {
    return false;
  }
  if (is_nvfp4(server)) {
    if (!predicts) {
      return short_answers && server.mapping.ranks() == 8 && server.mapping.expert_parallel == 8;
    }
    return (short_answers &&
            (clients == 32 || clients == 64 || (clients == 128 && !data_parallel))) ||
           (input == 1024 && output == 8192 && clients == 64);
  }
  if (predicts) {
    return !data_parallel && clients > (short_answers ? 4 : input == 1024 ? 8 : 16);
  }
  return input == 1024 && output == 8192 ? clients == 128 : clients >= 64;
}

const workloads::MeasuredAcceptance& acceptance() {
  static const workloads::MeasuredAcceptance measured = [] {
    const base::Node document =
        base::load_entry(workloads::acceptance_catalog(), "deepseek-v3_mtp");
    base::Problems problems;
    base::Fields fields(document, "", problems);
    workloads::MeasuredAcceptance value;
    read(fields, value);
    fields.end();
    problems.throw_if_any();
    return value;
  }();
  return measured;
}

}  // namespace

void configure_deepseek(MeasuredServer& server, std::string_view version) {
  if (server.stack != "trtllm" || server.pools) {
    return;
  }
  const bool data_parallel = server.mapping.data_parallel > 1;
  const std::int64_t clients = server.traffic.concurrency;
  const bool is_h200 = server.chip == "h200_sxm";
  workloads::SchedulerLimits& limits = server.serving.limits;
  workloads::SchedulerPolicy& policy = server.serving.policy;
  const bool is_old = version.empty() || version.starts_with("1.1.");
  limits.max_tokens_per_iteration =
      std::max(is_old ? std::int64_t{0} : kLeastStep, step_tokens(clients, server));
  server.serving.stack.alternative_experts = !data_parallel && !is_h200;
  limits.memory_fraction = is_h200 ? 0.75 : 0.8;
  policy.stream_interval = 10;
  policy.rank_wait_iterations = data_parallel ? kRankWait : 0;
  if (!is_h200 && !is_nvfp4(server) && clients >= 64 && server.stream.input.most == 1024 &&
      server.stream.output.most == 1024) {
    policy.batch_wait_iterations = 40;
    policy.batch_wait_fill = 0.8;
  }
  server.serving.stack.graph_tokens =
      prompts_by_graph(server, false) ? limits.max_tokens_per_iteration : 0;
}

MeasuredServer speculating(const MeasuredServer& server) {
  MeasuredServer with = server;
  workloads::Speculation& s = with.serving.speculation;
  s.method = workloads::DraftMethod::mtp;
  s.draft_tokens = draft_tokens(server);
  s.acceptance = workloads::acceptance_of(acceptance(), s.draft_tokens);
  if (server.stack == "trtllm" && !server.pools) {
    const bool data_parallel = server.mapping.data_parallel > 1;
    workloads::SchedulerLimits& limits = with.serving.limits;
    const std::int64_t share = !data_parallel ? 1 : is_nvfp4(server) ? 4 : 8;
    limits.max_sequences = std::max<std::int64_t>(1, server.traffic.concurrency / share);
    limits.max_tokens_per_iteration = step_tokens(s.query_tokens() * limits.max_sequences, server);
    if (data_parallel && !is_nvfp4(server) && server.chip != "h200_sxm") {
      limits.memory_fraction = 0.7;
    }
    with.serving.policy.batch_wait_iterations = 0;
    with.serving.stack.graph_tokens =
        prompts_by_graph(server, true) ? limits.max_tokens_per_iteration : 0;
  }
  return with;
}

Predicts predicts(const MeasuredServer& server, std::string_view version) {
  if (server.stack == "trtllm" && server.chip == "h200_sxm" && server.mapping.data_parallel > 1 &&
      server.traffic.concurrency >= 128) {
    return Predicts::yes;  // the only configuration with so many
  }
  if (server.stack == "trtllm" && server.chip == "b200_sxm") {
    if (version == "1.2.0rc6.post2") {
      return Predicts::no;
    }
    if (version == "1.2.0rc6.post3") {
      return Predicts::yes;
    }
  }
  return Predicts::perhaps;
}

}  // namespace roofcast::calibrate
