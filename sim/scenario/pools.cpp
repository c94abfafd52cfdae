// SPDX-License-Identifier: Apache-2.0
#include "sim/scenario/pools.hpp"

#include <algorithm>

#include "models/footprint.hpp"
#include "models/operators/collective.hpp"

namespace roofcast::sim {
namespace {

workloads::Serving serving_of(const workloads::Serving& serving, const workloads::Pool& pool) {
  workloads::Serving own = serving;
  own.replicas = pool.replicas;
  const auto replace = [](auto& limit, auto value) {
    if (value > 0) {
      limit = value;
    }
  };
  replace(own.limits.max_tokens_per_iteration, pool.limits.max_tokens_per_iteration);
  replace(own.limits.max_sequences, pool.limits.max_sequences);
  replace(own.limits.memory_fraction, pool.limits.memory_fraction);
  return own;
}

// Ranks of a replica that hold a part of one sequence's cache.
double holders(const workloads::Mapping& m) {
  return static_cast<double>(m.tensor_parallel * m.context_parallel * m.pipeline_parallel);
}

const Platform* own_or_shared(const ScenarioView& s,
                              const std::shared_ptr<const Platform> PoolPlatforms::*pool) {
  const Platform* own = s.pool_platforms != nullptr ? (s.pool_platforms->*pool).get() : nullptr;
  return own != nullptr ? own : s.platform;
}

bool same(const Platform* a, const Platform* b) {
  return a == b || (a->text != 0 && a->text == b->text);
}

}  // namespace

GpuKinds gpu_kinds(const ScenarioView& s) {
  if (s.pools == nullptr) {
    return {{{{s.platform, gpus_of(s), "system"}, {}}}, 1};
  }
  const Platform* prefill = own_or_shared(s, &PoolPlatforms::prefill);
  const Platform* decode = own_or_shared(s, &PoolPlatforms::decode);
  const auto key = [&](const Platform* platform, std::string_view own) {
    return platform == s.platform ? std::string_view("system") : own;
  };
  const std::string_view first = key(prefill, "deployment.prefill.system");
  if (same(prefill, decode)) {
    return {{{{prefill, gpus_of(s), first}, {}}}, 1};
  }
  return {{{{prefill, s.pools->prefill.ranks(), first},
            {decode, s.pools->decode.ranks(), key(decode, "deployment.decode.system")}}},
          2};
}

bool pools_are_connected(const ScenarioView& s) {
  const GpuKinds kinds = gpu_kinds(s);
  return kinds.size == 1 || std::all_of(kinds.begin(), kinds.end(), [](const Gpus& gpus) {
           return gpus.platform->system.scale_out.has_value();
         });
}

std::int64_t gpus_of(const ScenarioView& s) {
  return s.pools != nullptr ? s.pools->ranks() : s.serving->replicas * s.mapping->ranks();
}

PoolScenarios::PoolScenarios(const ScenarioView& s)
    : prefill_serving_(serving_of(*s.serving, s.pools->prefill)),
      decode_serving_(serving_of(*s.serving, s.pools->decode)),
      prefill_(s),
      decode_(s) {
  workloads::SchedulerPolicy& policy = decode_serving_.policy;
  policy.order = workloads::ScheduleOrder::mixed;
  policy.batch_wait_iterations = 0;
  prefill_.mapping = &s.pools->prefill.mapping;
  prefill_.serving = &prefill_serving_;
  prefill_.pools = nullptr;
  prefill_.platform = own_or_shared(s, &PoolPlatforms::prefill);
  prefill_.draft = nullptr;
  prefill_serving_.speculation = {};
  prefill_serving_.stack.request_overhead += s.serving->stack.handover_overhead;
  decode_.platform = own_or_shared(s, &PoolPlatforms::decode);
  decode_.mapping = &s.pools->decode.mapping;
  decode_.serving = &decode_serving_;
  decode_.pools = nullptr;
  decode_.front = nullptr;
}

Transfer kv_transfer(const ScenarioView& s, double prompt_tokens) {
  const workloads::Mapping& to = s.pools->decode.mapping;
  const workloads::Mapping& from = s.pools->prefill.mapping;
  Transfer transfer;
  transfer.received = models::cache_bytes(prompt_tokens, *s.model, *s.precision, to,
                                          s.serving->stack.kv_block_tokens) +
                      models::state_bytes(*s.model, *s.precision, to);
  transfer.sent = holders(to) / holders(from) * transfer.received;
  const GpuKinds kinds = gpu_kinds(s);
  for (const Gpus& gpus : kinds) {
    const models::Machine& machine = gpus.platform->machine;
    const bool inside = kinds.size == 1 && s.pools->ranks() <= machine.scale_up_domain;
    const double off_rail = inside ? 1.0 : machine.scale_out.off_rail;
    const workloads::Collective send{workloads::CollectiveKind::send_receive,
                                     (base::max(transfer.sent, transfer.received) / off_rail).si(),
                                     2, inside ? 1 : machine.scale_up_domain};
    transfer.time = base::max(transfer.time, models::collective_cost(send, machine).time);
  }
  return transfer;
}

}  // namespace roofcast::sim
