// SPDX-License-Identifier: Apache-2.0
#include "sim/serving/iteration_costs.hpp"

#include <algorithm>
#include <cmath>

#include "base/integers.hpp"

namespace roofcast::sim {
namespace {

constexpr std::int64_t kEach = 8;     // up to here, every number of decodes is a node
constexpr double kRatio = 1.15;       // ratio of nodes beyond
constexpr std::int64_t kTile = 64;    // rows; times jump after its multiples
constexpr std::int64_t kTiled = 512;  // beyond, one more tile changes little

constexpr std::int64_t kTimedIterations = 16;  // of one prompt, at most
constexpr double kPromptRatio = 1.35;  // ratio of the numbers of decodes at which prompts are timed
constexpr double kPromptGroupStep = 0.15;  // step of the square root of the mean number
constexpr std::size_t kPromptGroupTable = 60;
// Numbers of prompts in one iteration that are timed.
constexpr std::int64_t kPromptGroups[] = {2, 3, 4, 6, 8, 16, 32};

// The nodes below and above a number of decodes. Both sides of each jump between tiles are nodes.
std::pair<std::int64_t, std::int64_t> nodes_about(double decodes) {
  std::int64_t below = 1;
  for (;;) {
    std::int64_t next = below + 1;
    if (below >= kEach) {
      next = std::max<std::int64_t>(next, std::llround(static_cast<double>(below) * kRatio));
      const std::int64_t edge = base::ceil_div(below, kTile) * kTile;
      if (edge <= kTiled) {
        next = below == edge ? edge + 1 : std::min(next, edge);
      }
    }
    if (static_cast<double>(next) > decodes) {
      return {below, next};
    }
    below = next;
  }
}

}  // namespace

IterationCosts::IterationCosts(const ScenarioView& s, Workspace& workspace)
    : s_(s),
      workspace_(workspace),
      context_(static_cast<std::int64_t>(workloads::mean_context(*s.traffic))) {
  const workloads::Traffic& t = *s.traffic;
  inputs_ = workloads::nodes_of(t.input);
  input_count_ = inputs_.size();
  if (t.input.shape == workloads::Lengths::Shape::fixed) {
    inputs_.front() = {static_cast<double>(t.input_tokens), 1.0};
    input_count_ = 1;
  }
}

bool IterationCosts::prompts_first() const {
  return s_.serving->policy.order == workloads::ScheduleOrder::prompts_first;
}

workloads::Batch IterationCosts::decode_batch(std::int64_t decodes) const {
  workloads::Batch batch;
  batch.decode_sequences = decodes;
  batch.query_tokens = decodes > 0 ? s_.serving->speculation.query_tokens() : 1;
  batch.context = context_;
  batch.groups = s_.mapping->data_parallel;
  return batch;
}

workloads::Batch IterationCosts::chunk(std::int64_t decodes, std::int64_t count,
                                       std::int64_t tokens, std::int64_t cached,
                                       std::int64_t others) const {
  workloads::Batch batch = decode_batch(prompts_first() ? 0 : decodes);
  batch.prefill_sequences = count;
  batch.prefill_tokens = tokens;
  batch.cached_tokens = cached;
  // The experts compute the decodes and prompts of all ranks: `others` prompts are on other ranks.
  const std::int64_t verified = batch.decode_sequences * batch.query_tokens;
  const std::int64_t rank = verified + count * tokens;
  const std::int64_t all = s_.mapping->data_parallel * verified + (count + others) * tokens;
  batch.groups = std::clamp<std::int64_t>((all + rank / 2) / rank, 1, s_.mapping->data_parallel);
  return batch;
}

workloads::Batch IterationCosts::prompt_batch(std::int64_t decodes, std::int64_t count) const {
  const workloads::Traffic& t = *s_.traffic;
  const std::int64_t prompt = t.input_tokens - t.cached_tokens;
  const std::int64_t budget = std::max<std::int64_t>(
      1, s_.serving->limits.max_tokens_per_iteration -
             (prompts_first() ? 0 : decodes * s_.serving->speculation.query_tokens()));
  const std::int64_t iterations = base::ceil_div(prompt, budget);
  const std::int64_t tokens = base::ceil_div(prompt, iterations);
  return chunk(decodes, iterations > 1 ? 1 : count, tokens,
               t.cached_tokens + (prompt - tokens) / 2);
}

IterationTime IterationCosts::time(const workloads::Batch& batch) {
  const IterationCost cost = iteration_cost(s_, batch, workspace_);
  return {cost.latency, cost.period};
}

IterationTime IterationCosts::decode(double decodes) {
  if (decodes <= 0.0) {
    return {};
  }
  const auto [below, above] = nodes_about(std::max(decodes, 1.0));
  const auto at = [&](std::int64_t node) {
    const auto [entry, added] = decodes_.try_emplace(node);
    if (added) {
      entry->second = time(decode_batch(node));
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

// Times of a prompt, with `decodes` in a micro-batch.
//
//   budget      tokens of an iteration that decodes leave       each     iterations that one timed iteration stands for
//   iterations  iterations of a prompt of this length           done     tokens of the prompt before this iteration
//   timed       how many of them are timed                      period   s, of all iterations of the prompt
//   without     s, an iteration of the decodes alone            weight   probability of this length
PromptTimes IterationCosts::prompts_at(std::int64_t decodes) {
  const std::int64_t cached = s_.traffic->cached_tokens;
  const std::int64_t budget = std::max<std::int64_t>(
      1, s_.serving->limits.max_tokens_per_iteration -
             (prompts_first() ? 0 : decodes * s_.serving->speculation.query_tokens()));
  const IterationTime without =
      prompts_first() ? IterationTime{} : decode(static_cast<double>(decodes));
  PromptTimes times;
  for (std::size_t i = 0; i < input_count_; ++i) {
    const std::int64_t prompt = std::max<std::int64_t>(1, std::llround(inputs_[i].tokens) - cached);
    // If a prompt needs many iterations, only some of them are timed.
    const std::int64_t iterations = base::ceil_div(prompt, budget);
    const std::int64_t timed = std::min(iterations, kTimedIterations);
    const double each = static_cast<double>(iterations) / static_cast<double>(timed);
    double period = 0.0;
    double own = 0.0;
    for (std::int64_t n = 0; n < timed; ++n) {
      const std::int64_t done = n * iterations / timed * budget;
      const std::int64_t tokens = std::min(prompt - done, budget);
      const IterationTime iteration = time(chunk(decodes, 1, tokens, cached + done));
      period += each * iteration.period.si();
      own += n + 1 < timed ? each * std::max(iteration.latency, iteration.period).si()
                           : iteration.latency.si();
    }
    const double extra =
        std::max(0.0, period - static_cast<double>(iterations) * without.period.si());
    const double weight = inputs_[i].weight;
    times.own += weight * own;
    times.own_square += weight * own * own;
    times.extra += weight * extra;
    times.extra_square += weight * extra * extra;
    times.iterations += weight * static_cast<double>(iterations);
    times.fits +=
        weight * std::max(0.0, 1.0 - static_cast<double>(prompt) / static_cast<double>(budget));
  }
  return times;
}

PromptTimes IterationCosts::prompts(double decodes) {
  std::int64_t below = 0;
  std::int64_t above = 1;
  while (static_cast<double>(above) <= decodes) {
    below = above;
    above =
        std::max<std::int64_t>(above + 1, std::llround(static_cast<double>(above) * kPromptRatio));
  }
  const auto at = [&](std::int64_t node) -> const PromptTimes& {
    const auto [entry, added] = prompts_.try_emplace(node);
    if (added) {
      entry->second = prompts_at(node);
    }
    return entry->second;
  };
  const PromptTimes& a = at(below);
  const double beyond = (decodes - static_cast<double>(below)) / static_cast<double>(above - below);
  if (beyond <= 0.0) {
    return a;
  }
  const PromptTimes& b = at(above);
  const auto mix = [&](double PromptTimes::*of) { return a.*of + beyond * (b.*of - a.*of); };
  return {mix(&PromptTimes::own),          mix(&PromptTimes::own_square), mix(&PromptTimes::extra),
          mix(&PromptTimes::extra_square), mix(&PromptTimes::iterations), mix(&PromptTimes::fits)};
}

// The group of the nearest power of two. It changes little with the decodes.
const PromptGroup& IterationCosts::prompt_group(double decodes) {
  std::int64_t node = 1;
  while (std::sqrt(2.0) * static_cast<double>(node) < decodes) {
    node *= 2;
  }
  const auto [entry, added] = prompt_groups_.try_emplace(node);
  if (added) {
    entry->second = prompt_group_at(node);
  }
  return entry->second;
}

// φ for 1, 2, … prompts of one iteration, with `decodes` in a micro-batch. Groups of kPromptGroups prompts are timed;
// the values between them are linear.
//
//   prompt_group  k, prompts of the iteration     added    s, what they add if they have the mean length
//   count         prompts of one rank             first    s, `extra` of one prompt
//   j             of the header                   longest  1 + (M − 1)/√j
//   together      φ(1), φ(2), …                   now      φ(k), at least φ of the last group
PromptGroup IterationCosts::prompt_group_at(std::int64_t decodes) {
  const std::int64_t cached = s_.traffic->cached_tokens;
  const std::int64_t budget = std::max<std::int64_t>(
      1, s_.serving->limits.max_tokens_per_iteration -
             (prompts_first() ? 0 : decodes * s_.serving->speculation.query_tokens()));
  const std::int64_t mean = s_.traffic->input_tokens - cached;
  const double without = prompts_first() ? 0.0 : decode(static_cast<double>(decodes)).period.si();
  const std::int64_t ranks = s_.mapping->data_parallel;
  const PromptTimes times = prompts(static_cast<double>(decodes));
  const double first = std::max(times.extra, 1e-12);
  std::vector<double> together{1.0};
  for (const std::int64_t prompt_group : kPromptGroups) {
    const std::int64_t count = base::ceil_div(prompt_group, ranks);
    if (count * mean > budget) {
      break;
    }
    const std::int64_t tokens = std::min(mean, budget);
    const double added =
        time(chunk(decodes, count, tokens, cached, prompt_group - count)).period.si() - without;
    const auto before = static_cast<std::int64_t>(together.size());
    const double last = together.back();
    const double j = std::max(1.0, static_cast<double>(prompt_group) / static_cast<double>(ranks));
    const double longest = 1.0 + (longest_of(std::min(prompt_group, ranks)) - 1.0) / std::sqrt(j);
    const double now = std::max(last, added / first * longest);
    for (std::int64_t i = before + 1; i <= prompt_group; ++i) {
      together.push_back(last + (now - last) * static_cast<double>(i - before) /
                                    static_cast<double>(prompt_group - before));
    }
  }
  const double scv =
      std::max(0.0, times.extra_square / std::max(times.extra * times.extra, 1e-30) - 1.0);
  return {std::move(together), scv};
}

// M: mean of the longest of `count` prompts, over their mean. P(longest ≤ x) = P(length ≤ x)^count.
//
//   chance   P(length ≤ x)           now, below   P(longest ≤ x) of this length and of the one before
double IterationCosts::longest_of(std::int64_t count) const {
  double below = 0.0;
  double longest = 0.0;
  double mean = 0.0;
  double chance = 0.0;
  for (std::size_t i = 0; i < input_count_; ++i) {
    chance += inputs_[i].weight;
    const double now = std::pow(std::min(1.0, chance), static_cast<double>(count));
    longest += (now - below) * inputs_[i].tokens;
    mean += inputs_[i].weight * inputs_[i].tokens;
    below = now;
  }
  return longest / mean;
}

PromptGroup::PromptGroup(std::vector<double> together, double scv)
    : together_(std::move(together)), scv_(scv) {
  for (std::size_t i = 0; i <= kPromptGroupTable; ++i) {
    const double root = kPromptGroupStep * static_cast<double>(i);
    table_.push_back(sum(root * root));
  }
}

// Slope of φ over the second half of its values.
double PromptGroup::last_slope() const {
  const std::size_t size = together_.size();
  return size > 1 ? (together_[size - 1] - together_[size / 2 - 1]) /
                        static_cast<double>(size - size / 2)
                  : 1.0;
}

double PromptGroup::together(double number) const {
  if (number < 1.0) {
    return number;
  }
  if (number >= static_cast<double>(together_.size())) {
    return together_.back() + (number - static_cast<double>(together_.size())) * last_slope();
  }
  const auto below = static_cast<std::size_t>(number);
  return together_[below - 1] +
         (number - static_cast<double>(below)) * (together_[below] - together_[below - 1]);
}

// Means over a Poisson number of prompts.
//
//   weight   probability of k prompts         now, next   φ(k) and φ(k + 1)
//   most     the largest k of the sum, six standard deviations above the mean
PromptGroup::Added PromptGroup::sum(double mean) const {
  Added added;
  const double most = mean + 6.0 * std::sqrt(mean) + 6.0;
  double weight = std::exp(-mean);
  for (double k = 0.0; k <= most; k += 1.0) {
    const double now = k > 0.0 ? together(k) : 0.0;
    const double next = together(k + 1.0);
    added.mean += weight * now;
    // The prompts of an iteration vary independently in length: the variance of φ(k) by lengths is φ(k)²·scv/k.
    added.square += weight * (now * now + (k > 0.0 ? now * now / k * scv_ : 0.0));
    added.slope += weight * (next - now);
    weight *= mean / (k + 1.0);
  }
  return added;
}

// Linear in the mean number between the nodes of table_. Beyond the last node, E[φ] is continued with the last slope.
PromptGroup::Added PromptGroup::at(double mean) const {
  const double place = std::sqrt(mean) / kPromptGroupStep;
  if (place >= static_cast<double>(kPromptGroupTable)) {
    const Added& last = table_.back();
    const double root = kPromptGroupStep * static_cast<double>(kPromptGroupTable);
    const double all = last.mean + (mean - root * root) * last_slope();
    return {all, all * all * last.square / (last.mean * last.mean), last_slope()};
  }
  const auto below = static_cast<std::size_t>(place);
  const Added& a = table_[below];
  const Added& b = table_[below + 1];
  const auto square = [](double x) { return x * x; };
  const double from = square(kPromptGroupStep * static_cast<double>(below));
  const double to = square(kPromptGroupStep * static_cast<double>(below + 1));
  const double beyond = (mean - from) / (to - from);
  return {a.mean + beyond * (b.mean - a.mean), a.square + beyond * (b.square - a.square),
          a.slope + beyond * (b.slope - a.slope)};
}

}  // namespace roofcast::sim
