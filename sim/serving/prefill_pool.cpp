// SPDX-License-Identifier: Apache-2.0
#include "sim/serving/prefill_pool.hpp"

#include <algorithm>
#include <cmath>

#include "base/integers.hpp"
#include "base/queueing/erlang.hpp"
#include "base/queueing/gated_batches.hpp"

namespace roofcast::sim {
namespace {

using base::as_double;
using base::Seconds;

constexpr int kPrefillRounds = 5;   // of D and S
constexpr int kRegularRounds = 60;  // of H
constexpr double kSmall = 0.25;     // D/S below which the order of the prompts matters

}  // namespace

PrefillPool::PrefillPool(const ScenarioView& s, Workspace& workspace)
    : s_(s),
      workspace_(workspace),
      replicas_(s.serving->replicas),
      groups_(s.mapping->data_parallel) {
  const workloads::Traffic& t = *s.traffic;
  const auto mean = as_double(t.input_tokens);
  const std::int64_t budget = s.serving->limits.max_tokens_per_iteration;
  const std::int64_t fresh = std::max<std::int64_t>(1, t.input_tokens - t.cached_tokens);
  whole_ = std::clamp<std::int64_t>(budget / fresh, 1, s.serving->limits.max_sequences);
  most_ = as_double(whole_ * groups_);
  iterations_ = as_double(base::ceil_div(fresh, budget));
  Seconds alone;
  timed(mean, 1.0, alone);
  for (double n = 1.0; n < most_; n *= 2.0) {
    nodes_.push_back(n);
  }
  nodes_.push_back(most_);
  times_.resize(nodes_.size());
  times_.front() = alone;
  const Seconds full = time(most_) / most_;
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
  share_ = each_ / full;
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
  const double chunks =
      as_double(base::ceil_div(fresh, s_.serving->limits.max_tokens_per_iteration));
  work = chunks * cost.period;
  return {tokens, weight, cost.latency + (chunks - 1.0) * cost.period};
}

Seconds PrefillPool::time(double prompts) {
  const auto known = [&](std::size_t node) {
    if (times_[node] == Seconds{}) {
      times_[node] = iterations_ * iteration_cost(s_, iteration(nodes_[node]), workspace_).period;
    }
    return times_[node];
  };
  const double n = std::clamp(prompts, 1.0, most_);
  const auto above = std::lower_bound(nodes_.begin(), nodes_.end(), n);
  const auto node = static_cast<std::size_t>(above - nodes_.begin());
  if (node == 0) {
    return known(0);
  }
  const double share = (n - nodes_[node - 1]) / (nodes_[node] - nodes_[node - 1]);
  return (1.0 - share) * known(node - 1) + share * known(node);
}

double PrefillPool::capacity() const { return as_double(replicas_) / each_.si(); }

// m is `many`; D and S are `fixed` and `each`.
PrefillPool::Wait PrefillPool::of_random(double rate) {
  using base::queueing::GatedBatches;
  GatedBatches gated;
  Seconds fixed;
  Seconds each = each_;
  double many = most_;
  for (int round = 0; round < (most_ > 1.0 ? kPrefillRounds : 1); ++round) {
    if (most_ > 1.0) {
      const Seconds slope = (time(many) - time(1.0)) / (many - 1.0);
      fixed = base::max(Seconds{}, time(1.0) - slope);
      each = base::min(share_ * slope, each_);
    }
    gated = base::queueing::gated_batches(base::Hertz::from_si(rate), fixed, each, each_scv_,
                                          replicas_);
    many = std::clamp(0.5 * many + gated.together, std::min(2.0, most_), most_);
  }
  Wait wait{gated.queue.wait, gated.wait_square, gated.queue.wait_probability,
            std::min(gated.together, most_)};
  if (fixed > kSmall * each) {
    return wait;
  }
  const double used = std::min(1.0, rate / capacity());
  const double all_busy = base::queueing::erlang_c(replicas_, as_double(replicas_) * used);
  const Seconds rest = 0.5 * (1.0 + each_scv_) * each_;
  const Seconds ordered = all_busy * (rest + used / (1.0 - used) / as_double(replicas_) * rest +
                                      0.5 * (std::min(most_, 2.0 * gated.together) - 1.0) * each_);
  if (ordered < wait.mean) {
    const double less = ordered / wait.mean;
    wait.mean = ordered;
    wait.square *= less * less;
  }
  return wait;
}

PrefillPool::Wait PrefillPool::of_regular(double rate) {
  const double own = rate / as_double(replicas_);
  const Seconds alone = time(1.0);
  Seconds iteration = alone;
  for (int round = 0; round < kRegularRounds; ++round) {
    iteration = time(own * iteration.si());
  }
  if (own * alone.si() <= 1.0) {
    return {};
  }
  const Seconds mean = base::max(Seconds{}, 1.5 * iteration - alone);
  return {mean, square(mean) + square(iteration) / 12.0, 1.0,
          std::clamp(own * iteration.si(), 1.0, most_)};
}

workloads::Batch PrefillPool::iteration(double together) const {
  const auto ranks = std::clamp<std::int64_t>(std::llround(together), 1, groups_);
  const auto prompts =
      std::clamp<std::int64_t>(std::llround(together / as_double(ranks)), 1, whole_);
  return batch(prompts, ranks, s_.traffic->input_tokens);
}

}  // namespace roofcast::sim
