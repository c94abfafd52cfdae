// SPDX-License-Identifier: Apache-2.0
#include "sim/serving/followed_servers.hpp"

#include <algorithm>
#include <cmath>

#include "base/no_number.hpp"
#include "sim/iteration/draft_model.hpp"
#include "sim/iteration/memory.hpp"

namespace roofcast::sim {
namespace {

using base::Seconds;
namespace queueing = base::queueing;

constexpr Seconds kFromInterval = base::second;  // between tokens
constexpr int kFixedPointRounds = 40;
constexpr double kFixedPoint = 0.002;
constexpr std::int64_t kManyBlocks = 1024;

// Of the layers that keep no more tokens; 0 if all keep all.
std::int64_t longest_window(const ScenarioView& s) {
  std::int64_t longest = 0;
  const auto look = [&](const workloads::Architecture& model) {
    for (const workloads::LayerGroup& group : model.layers) {
      longest = std::max(longest, workloads::caches(group.mixer) ? group.window : 0);
    }
  };
  look(*s.model);
  if (s.draft != nullptr) {
    look(s.draft->resident);
  }
  return longest;
}

}  // namespace

FollowedServers::FollowedServers(const ScenarioView& s, double count, Workspace& workspace)
    : times_(s, workspace) {
  const workloads::SchedulerPolicy& policy = s.serving->policy;
  const workloads::Stack& stack = s.serving->stack;
  q.time = [this](std::span<const queueing::IterationBatch> ranks) { return times_(ranks); };
  q.stages = s.mapping->pipeline_parallel;
  q.ranks = s.mapping->data_parallel;
  q.context = times_.costs().context();
  q.servers = std::llround(count);
  q.in_turn = s.serving->router == workloads::Router::round_robin;
  q.prompts_first = times_.costs().prompts_first();
  q.cuts = policy.chunked_prompts;
  q.delayed_release = policy.delayed_release;
  q.plans_ahead = policy.plans_ahead;
  q.budget = s.serving->limits.max_tokens_per_iteration;
  q.query = s.serving->speculation.query_tokens();
  q.gains = s.serving->speculation.tokens_per_iteration();
  q.sequences = s.serving->limits.max_sequences;
  q.by_priority = policy.queue == workloads::Queue::priority;
  q.waits_for_more = policy.batch_wait_iterations;
  q.enough = policy.batch_wait_fill;
  q.waits_for_ranks = policy.rank_wait_iterations;
  q.looks_every = policy.receive_iterations;
  q.promised = policy.reserves == workloads::Reservation::request ? policy.reserved_output : -1.0;
  q.unit = policy.prefix_cache && states_of(s) <= base::Bytes{}
               ? static_cast<double>(kPrefixUnitTokens)
               : 0.0;
  q.front_ends = s.serving->front_ends_of(*s.mapping);
  q.take = stack.intake_overhead;
  q.take_token = s.model->recommender ? base::Seconds{} : stack.token_overhead;
  q.send = stack.message_overhead /
           static_cast<double>(s.serving->policy.stream_interval * q.front_ends);
  q.ahead = stack.request_overhead;
  set_cache(s);
}

// The cache in tokens up to the window. Half of a block is empty.
void FollowedServers::set_cache(const ScenarioView& s) {
  const std::int64_t block = s.serving->stack.kv_block_tokens * s.mapping->cache_parts();
  const std::int64_t window = longest_window(s);
  const double upto = static_cast<double>(window > 0 ? window : kManyBlocks * block);
  const double token = keys_of(upto, s).si() / upto;
  if (token <= 0.0) {
    return;
  }
  q.each = states_of(s).si() / token + 0.5 * static_cast<double>(block - 1);
  q.cache = footprint_of(s).cache.si() / token;
  q.host = s.serving->kv_offload.capacity.si() / static_cast<double>(s.mapping->ranks()) / token;
  if (window > 0) {
    const double more = static_cast<double>(kManyBlocks * block);
    q.window = upto;
    q.beyond = (keys_of(upto + more, s) - keys_of(upto, s)).si() / more / token;
    q.host = base::kInfinity;  // in simulations a sequence finds nearly all of its windows again
  }
}

void FollowedServers::share(std::int64_t tokens) {
  q.shared = q.unit > 0.0 ? static_cast<double>(tokens) : 0.0;
  q.cache -= q.room(q.shared);
}

std::int64_t FollowedServers::of_a_rank(double decodes) const {
  const auto parts = static_cast<double>(q.stages * q.ranks);
  return static_cast<std::int64_t>(std::max(1.0, std::round(decodes / parts)));
}

Seconds FollowedServers::interval(double decodes) {
  const queueing::IterationSpan& t = times_.alone(of_a_rank(decodes));
  const double turns = std::min(std::max(1.0, decodes), static_cast<double>(q.stages));
  return base::max(t.latency, turns * t.period);
}

// T = t(λ·O·T, λ·T prompts), from above.
Seconds FollowedServers::longest_interval(base::Hertz rate, double prompt, double decodes,
                                          double most) {
  Seconds interval = kFromInterval;
  for (int i = 0; i < kFixedPointRounds; ++i) {
    const std::int64_t each = of_a_rank(std::min(rate * decodes * interval, most));
    const double prompts = rate * interval / static_cast<double>(q.ranks);
    const double room = static_cast<double>(std::max<std::int64_t>(1, q.budget - each * q.query));
    const double tokens = std::min(std::max(1.0, prompts) * prompt, room);
    const Seconds with =
        times_.with_prompt(each, tokens, 0.5 * tokens * std::min(prompt, tokens)).latency;
    const double share = std::min(1.0, prompts);
    const Seconds next = share * with + (1.0 - share) * times_.alone(each).latency;
    if (next > (1.0 - kFixedPoint) * interval) {
      break;
    }
    interval = next;
  }
  return interval;
}

// Where each iteration has one, prompts on several ranks share it.
double FollowedServers::busy(base::Hertz rate, double prompt, double decodes) {
  const std::int64_t each = of_a_rank(decodes);
  const std::int64_t beside = q.prompts_first ? 0 : each;
  const double tokens =
      std::min(prompt, static_cast<double>(std::max<std::int64_t>(1, q.budget - beside * q.query)));
  const Seconds with = times_.with_prompt(beside, tokens, 0.5 * tokens * prompt).period;
  const Seconds without = times_.alone(each).period;
  const Seconds adds = base::max(Seconds{}, q.prompts_first ? with : with - without);
  const double alone = rate * (prompt / tokens * adds);
  return std::min(alone, std::max(alone / static_cast<double>(q.ranks), adds / (adds + without)));
}

}  // namespace roofcast::sim
