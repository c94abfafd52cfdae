// SPDX-License-Identifier: Apache-2.0
#include "sim/training/rollout.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <set>
#include <vector>

#include "base/integers.hpp"

namespace roofcast::sim {
namespace {

using base::as_double;
using base::Seconds;

// Contexts are rounded to eighths of an octave. Attention is only a part of an iteration, and it grows evenly.
constexpr double kPerOctave = 8.0;

std::int64_t place_of(double context) {
  return std::llround(kPerOctave * std::log2(std::max(1.0, context)));
}
std::int64_t tokens_at(std::int64_t place) {
  return std::llround(std::exp2(as_double(place) / kPerOctave));
}

// An answer that runs or waits.
struct Answer {
  std::int64_t left = 0;      // tokens to generate, when it was last admitted
  std::int64_t context = 0;   // tokens of its context at that time
  std::int64_t admitted = 0;  // that time, on the clock
  bool started = false;
};

}  // namespace

Rollout::Rollout(const ScenarioView& scenario, double capacity, Workspace& workspace)
    : scenario_(scenario), capacity_(capacity), workspace_(workspace) {}

Seconds Rollout::decode_round(std::int64_t sequences, double context) {
  const std::int64_t place = place_of(context);
  const auto [found, is_new] = decodes_.try_emplace({sequences, place});
  if (is_new) {
    const std::int64_t groups = std::min(scenario_.mapping->pipeline_parallel, sequences);
    workloads::Batch batch;
    batch.decode_sequences = base::ceil_div(sequences, groups);
    batch.query_tokens = scenario_.serving->speculation.query_tokens();
    batch.context = tokens_at(place);
    const IterationTime t = iteration_time(scenario_, batch, workspace_);
    found->second = base::max(t.latency, as_double(groups) * t.period);
  }
  return found->second;
}

Seconds Rollout::prompts(std::int64_t count, std::int64_t tokens) {
  const auto [found, is_new] = prompts_.try_emplace({count, tokens});
  if (is_new) {
    const std::int64_t budget = scenario_.serving->limits.max_tokens_per_iteration;
    const std::int64_t iterations = base::ceil_div(count * tokens, budget);
    workloads::Batch batch;
    batch.prefill_sequences = base::ceil_div(count, iterations);
    batch.prefill_tokens = base::ceil_div(count * tokens, iterations * batch.prefill_sequences);
    const IterationTime t = iteration_time(scenario_, batch, workspace_);
    found->second = t.latency + as_double(iterations - 1) * t.period;
  }
  return found->second;
}

// The clock counts tokens: each running answer gains one token per tick.
//
//   capacity    tokens that the KV cache of all ranks holds     used         tokens in it
//   slots       slots of all ranks                              held(a)      tokens of answer a in it
//   until_end   ticks until the next answer ends                fresh        answers that start now
//   gained      ticks until the next event                      until_full   ticks until the cache is full
//   context     mean context until then                         per_iteration   tokens that one adds to an answer
Seconds Rollout::time(std::span<const std::int64_t> lengths, std::int64_t prompt_tokens,
                      std::int64_t samples) {
  const std::int64_t ranks = scenario_.mapping->data_parallel;
  const double capacity = capacity_ * as_double(ranks);
  const auto slots = static_cast<std::size_t>(scenario_.serving->limits.max_sequences * ranks);
  const double per_iteration = scenario_.serving->speculation.tokens_per_iteration();
  std::vector<Answer> answers;
  std::deque<std::size_t> waiting;
  for (const std::int64_t length : lengths) {
    waiting.push_back(answers.size());
    answers.push_back({length, prompt_tokens});
  }
  std::set<std::pair<std::int64_t, std::size_t>> running;  // (end on the clock, answer)
  std::int64_t clock = 0;
  double used = 0.0;  // tokens in the cache
  Seconds time;
  const auto held = [&](const Answer& a) { return as_double(a.context + clock - a.admitted); };
  const auto admit = [&] {
    std::int64_t fresh = 0;
    while (!waiting.empty() && running.size() < slots) {
      Answer& a = answers[waiting.front()];
      if (!running.empty() &&
          used + as_double(a.context) + static_cast<double>(running.size()) > capacity) {
        break;
      }
      if (a.started) {
        time += prompts(1, tokens_at(place_of(as_double(a.context))));
      }
      fresh += a.started ? 0 : 1;
      a.started = true;
      a.admitted = clock;
      used += as_double(a.context);
      running.emplace(clock + a.left, waiting.front());
      waiting.pop_front();
    }
    if (fresh > 0) {
      time += prompts(base::ceil_div(base::ceil_div(fresh, samples), ranks), prompt_tokens);
    }
  };
  // Preempts the answer that was admitted last; of several, the last one in order.
  const auto preempt = [&] {
    const auto last = std::max_element(running.begin(), running.end(), [&](auto& a, auto& b) {
      return std::pair{answers[a.second].admitted, a.second} <
             std::pair{answers[b.second].admitted, b.second};
    });
    Answer& a = answers[last->second];
    used -= held(a);
    a.left = last->first - clock;
    a.context += clock - a.admitted;
    waiting.push_front(last->second);
    running.erase(last);
  };
  while (!waiting.empty() || !running.empty()) {
    admit();
    const auto count = static_cast<std::int64_t>(running.size());
    const std::int64_t until_end = running.begin()->first - clock;
    const auto until_full =
        static_cast<std::int64_t>(std::max(1.0, (capacity - used) / as_double(count)));
    const std::int64_t gained = count > 1 ? std::min(until_end, until_full) : until_end;
    const double context = used / as_double(count) + 0.5 * as_double(gained);
    time +=
        (as_double(gained) / per_iteration) * decode_round(base::ceil_div(count, ranks), context);
    clock += gained;
    used += as_double(count * gained);
    while (!running.empty() && running.begin()->first == clock) {
      used -= held(answers[running.begin()->second]);
      running.erase(running.begin());
    }
    while (running.size() > 1 && used + static_cast<double>(running.size()) > capacity) {
      preempt();
    }
  }
  return time;
}

}  // namespace roofcast::sim
