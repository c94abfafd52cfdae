// SPDX-License-Identifier: Apache-2.0
#include "sim/iteration/iteration_costs.hpp"

#include <algorithm>
#include <cmath>

#include "base/integers.hpp"

namespace roofcast::sim {
namespace {

constexpr std::int64_t kEach = 8;         // up to here, every number of decodes is a node
constexpr double kRatio = 1.15;           // ratio of nodes beyond
constexpr std::int64_t kTileRows = 64;    // rows; times jump after its multiples
constexpr std::int64_t kMostTiled = 512;  // beyond, one more tile changes little

// The nodes below and above a number of decodes. Both sides of each jump between tiles are nodes.
std::pair<std::int64_t, std::int64_t> nodes_about(double decodes) {
  std::int64_t below = 1;
  for (;;) {
    std::int64_t next = below + 1;
    if (below >= kEach) {
      next = std::max<std::int64_t>(next, std::llround(static_cast<double>(below) * kRatio));
      const std::int64_t edge = base::ceil_div(below, kTileRows) * kTileRows;
      if (edge <= kMostTiled) {
        next = below == edge ? edge + 1 : std::min(next, edge);
      }
    }
    if (static_cast<double>(next) > decodes) {
      return {below, next};
    }
    below = next;
  }
}

// The same where there are CUDA graphs of some sizes only: times jump after each of them.
std::pair<std::int64_t, std::int64_t> nodes_about(double decodes,
                                                  const std::vector<std::int64_t>& sizes) {
  const auto size =
      std::lower_bound(sizes.begin(), sizes.end(), decodes,
                       [](std::int64_t s, double d) { return static_cast<double>(s) < d; });
  const std::int64_t smaller = size == sizes.begin() ? 0 : *(size - 1);
  if (smaller > 0 && decodes < static_cast<double>(smaller + 1)) {
    return {smaller, smaller + 1};
  }
  const auto [below, above] = nodes_about(decodes);
  return size == sizes.end() ? std::pair(std::max(below, smaller + 1), above)
                             : std::pair(smaller + 1, std::max(*size, smaller + 2));
}

}  // namespace

IterationCosts::IterationCosts(const ScenarioView& s, Workspace& workspace)
    : s_(s),
      workspace_(workspace),
      context_(static_cast<std::int64_t>(workloads::mean_context(*s.traffic))),
      prompt_(static_cast<double>(s.traffic->input_tokens - s.traffic->cached_tokens)) {
  s_.launches_ahead = true;
  for (const std::int64_t which : {0, 1, 2, 3}) {
    workloads::Batch least = decode_batch(which / 2);
    least.prefill_sequences = 1;
    least.prefill_tokens = which % 2 == 0 ? 1 : s.serving->stack.graph_tokens + 1;
    floors_[static_cast<std::size_t>(which)] = launch_floor(s, least, workspace);
  }
}

bool IterationCosts::prompts_first() const {
  return s_.serving->policy.order == workloads::ScheduleOrder::prompts_first;
}

double IterationCosts::budget(std::int64_t decodes) const {
  return static_cast<double>(std::max<std::int64_t>(
      1, s_.serving->limits.max_tokens_per_iteration -
             (prompts_first() ? 0 : decodes * s_.serving->speculation.query_tokens())));
}

workloads::Batch IterationCosts::decode_batch(std::int64_t decodes) const {
  workloads::Batch batch;
  batch.decode_sequences = decodes;
  batch.query_tokens = decodes > 0 ? s_.serving->speculation.query_tokens() : 1;
  batch.context = context_;
  batch.groups = s_.mapping->data_parallel;
  return batch;
}

// Decodes, and so many new prompt tokens on all ranks: whole prompts of the mean length, or a chunk of one, on as few
// ranks as there are prompts.
workloads::Batch IterationCosts::batch(std::int64_t decodes, double tokens) const {
  const auto ranks = static_cast<double>(s_.mapping->data_parallel);
  const double whole = std::min(prompt_, budget(decodes));
  const double rank = std::min(std::max(tokens / ranks, std::min(tokens, whole)), budget(decodes));
  const double count = std::max(1.0, std::ceil(rank / prompt_ - 1e-6));
  const double each = std::max(1.0, std::round(rank / count));
  workloads::Batch batch = decode_batch(prompts_first() ? 0 : decodes);
  batch.prefill_sequences = static_cast<std::int64_t>(count);
  batch.prefill_tokens = static_cast<std::int64_t>(each);
  batch.cached_tokens = s_.traffic->cached_tokens;
  if (prompt_ > budget(decodes)) {
    batch.cached_tokens += static_cast<std::int64_t>(0.5 * std::max(0.0, prompt_ - each));
  }
  const double verified = static_cast<double>(batch.decode_sequences * batch.query_tokens);
  batch.groups =
      equal_ranks(ranks * verified + tokens, verified + count * each, s_.mapping->data_parallel);
  return batch;
}

workloads::Batch IterationCosts::prompt_batch(std::int64_t decodes, std::int64_t count) const {
  const double each = std::min(prompt_, budget(decodes));
  workloads::Batch batch = this->batch(decodes, each);
  const auto most = static_cast<std::int64_t>(budget(decodes) / each);
  batch.prefill_sequences =
      each < prompt_ ? 1 : std::clamp<std::int64_t>(count, 1, std::max<std::int64_t>(1, most));
  return batch;
}

IterationTime IterationCosts::time(const workloads::Batch& batch) {
  const IterationTime time = of_gpus(batch);
  if (batch.prefill_sequences == 0) {
    return time;
  }
  const std::int64_t tokens =
      batch.prefill_sequences * batch.prefill_tokens + batch.decode_sequences * batch.query_tokens;
  const IterationTime& least = launches(batch.decode_sequences > 0, static_cast<double>(tokens));
  return {base::max(time.latency, least.latency), base::max(time.period, least.period)};
}

IterationTime IterationCosts::decode(double decodes, std::int64_t groups) {
  if (decodes <= 0.0) {
    return {};
  }
  const std::vector<std::int64_t>& sizes = s_.serving->cuda_graphs.sizes;
  const auto [below, above] = sizes.empty() ? nodes_about(std::max(decodes, 1.0))
                                            : nodes_about(std::max(decodes, 1.0), sizes);
  const auto at = [&](std::int64_t node) {
    const auto [entry, added] = decodes_.try_emplace({groups, node});
    if (added) {
      workloads::Batch batch = decode_batch(node);
      batch.groups = groups;
      entry->second = time(batch);
    }
    return entry->second;
  };
  const IterationTime a = at(below);
  const double beyond =
      (std::max(decodes, 1.0) - static_cast<double>(below)) / static_cast<double>(above - below);
  if (beyond == 0.0) {
    return a;
  }
  const IterationTime b = at(above);
  return {a.latency + beyond * (b.latency - a.latency), a.period + beyond * (b.period - a.period)};
}

// Linear between powers of eight.
base::Seconds IterationCosts::context_token(std::int64_t decodes) {
  const auto at = [&](std::int64_t node) {
    const auto [entry, added] = context_tokens_.try_emplace(node);
    if (added) {
      const workloads::Batch batch = decode_batch(node);
      workloads::Batch longer = batch;
      longer.context *= 2;
      entry->second = base::max(base::Seconds{}, time(longer).latency - time(batch).latency) /
                      static_cast<double>(std::max<std::int64_t>(1, batch.context));
    }
    return entry->second;
  };
  std::int64_t below = 1;
  while (8 * below <= decodes) {
    below *= 8;
  }
  const base::Seconds a = at(below);
  return decodes <= below ? a
                          : a + static_cast<double>(decodes - below) /
                                    static_cast<double>(7 * below) * (at(8 * below) - a);
}

}  // namespace roofcast::sim
