// SPDX-License-Identifier: Apache-2.0
#include "sim/serving/prefill_pool.hpp"

#include <algorithm>
#include <cmath>

#include "base/integers.hpp"
#include "base/queueing/erlang.hpp"
#include "base/queueing/gated_batches.hpp"

namespace roofcast::sim {
namespace {

using base::Seconds;

double count(std::int64_t n) { return static_cast<double>(n); }

constexpr double kSmall = 0.25;  // D/S below which the order of the prompts matters

}  // namespace

PrefillPool::PrefillPool(const ScenarioView& s, Workspace& workspace)
    : s_(s),
      workspace_(workspace),
      replicas_(s.serving->replicas),
      groups_(s.mapping->data_parallel) {
  const workloads::Traffic& t = *s.traffic;
  const auto mean = count(t.input_tokens);
  const std::int64_t budget = s.serving->limits.max_tokens_per_iteration;
  const std::int64_t fresh = std::max<std::int64_t>(1, t.input_tokens - t.cached_tokens);
  whole_ = std::clamp<std::int64_t>(budget / fresh, 1, s.serving->limits.max_sequences);
  most_ = count(whole_ * groups_);
  iterations_ = count(base::ceil_div(fresh, budget));
  Seconds alone;
  timed(mean, 1.0, alone);
  const Seconds full =
      most_ > 1.0
          ? iterations_ / most_ *
                iteration_cost(s_, batch(whole_, groups_, t.input_tokens), workspace_).period
          : alone;
  fixed_ = base::max(Seconds{}, alone - full);
  const auto nodes = workloads::nodes_of(t.input);
  const bool drawn = t.input.shape != workloads::Lengths::Shape::fixed;
  double square = 0.0;
  for (std::size_t i = 0; i < (drawn ? nodes.size() : 1); ++i) {
    Seconds work;
    const double weight = drawn ? nodes[i].weight : 1.0;
    classes_.push_back(timed(drawn ? nodes[i].tokens : mean, weight, work));
    service_ += weight * classes_.back().service;
    const double share = whole_ == 1 ? work / alone : classes_.back().tokens / mean;
    const Seconds own = share * full;
    each_ += weight * own;
    square += weight * own.si() * own.si();
  }
  each_scv_ = std::max(0.0, square / (each_.si() * each_.si()) - 1.0);
}

// A batch of prompts of equal length on each of some ranks: the mean of the chunks that they are cut into.
workloads::Batch PrefillPool::batch(std::int64_t prompts, std::int64_t groups,
                                    std::int64_t tokens) const {
  const std::int64_t cached = std::min(s_.traffic->cached_tokens, tokens - 1);
  const std::int64_t chunks =
      base::ceil_div(tokens - cached, s_.serving->limits.max_tokens_per_iteration);
  workloads::Batch batch;
  batch.prefill_sequences = prompts;
  batch.prefill_tokens = base::ceil_div(tokens - cached, chunks);
  batch.cached_tokens = cached + (tokens - cached - batch.prefill_tokens) / 2;
  batch.groups = groups;
  return batch;
}

// `work` is the time for which a prompt alone keeps the first stage busy.
PromptClass PrefillPool::timed(double tokens, double weight, Seconds& work) {
  const std::int64_t length = std::max<std::int64_t>(1, std::llround(tokens));
  const workloads::Batch alone = batch(1, 1, length);
  const IterationCost cost = iteration_cost(s_, alone, workspace_);
  const std::int64_t fresh =
      std::max<std::int64_t>(1, length - std::min(s_.traffic->cached_tokens, length - 1));
  const double chunks = count(base::ceil_div(fresh, s_.serving->limits.max_tokens_per_iteration));
  work = chunks * cost.period;
  return {tokens, weight, cost.latency + (chunks - 1.0) * cost.period};
}

double PrefillPool::capacity() const { return count(replicas_) / each_.si(); }

PrefillPool::Wait PrefillPool::of_random(double rate) const {
  using base::queueing::GatedBatches;
  const GatedBatches gated = base::queueing::gated_batches(base::Hertz::from_si(rate), fixed_,
                                                           each_, each_scv_, replicas_);
  Wait wait{gated.queue.wait, gated.wait_square, gated.queue.wait_probability,
            std::min(gated.together, most_)};
  if (fixed_ > kSmall * each_) {
    return wait;
  }
  const double used = std::min(1.0, rate / capacity());
  const double all_busy = base::queueing::erlang_c(replicas_, count(replicas_) * used);
  const Seconds rest = 0.5 * (1.0 + each_scv_) * each_;
  const Seconds ordered = all_busy * (rest + used / (1.0 - used) / count(replicas_) * rest +
                                      0.5 * (std::min(most_, 2.0 * gated.together) - 1.0) * each_);
  if (ordered < wait.mean) {
    const double less = ordered / wait.mean;
    wait.mean = ordered;
    wait.square *= less * less;
  }
  return wait;
}

PrefillPool::Wait PrefillPool::of_regular(double rate) const {
  const double own = rate / count(replicas_);
  const Seconds alone = fixed_ + each_;
  if (own * alone.si() <= 1.0) {
    return {};
  }
  const double idle = 1.0 - own * each_.si();
  const Seconds longest = fixed_ + most_ * each_;
  const Seconds iteration = idle > 0.0 ? base::min(longest, fixed_ / idle) : longest;
  const Seconds mean = base::max(Seconds{}, 1.5 * iteration - alone);
  return {mean, mean.si() * mean.si() + iteration.si() * iteration.si() / 12.0, 1.0,
          std::clamp(own * iteration.si(), 1.0, most_)};
}

workloads::Batch PrefillPool::iteration(double together) const {
  const auto ranks = std::clamp<std::int64_t>(std::llround(together), 1, groups_);
  const auto prompts = std::clamp<std::int64_t>(std::llround(together / count(ranks)), 1, whole_);
  return batch(prompts, ranks, s_.traffic->input_tokens);
}

}  // namespace roofcast::sim
