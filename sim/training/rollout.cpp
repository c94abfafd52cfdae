// SPDX-License-Identifier: Apache-2.0
#include "sim/training/rollout.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <set>
#include <utility>
#include <vector>

#include "base/integers.hpp"

namespace roofcast::sim {

using base::as_double;
using base::Seconds;

Rollout::Rollout(const ScenarioView& scenario, double capacity)
    : scenario_(scenario),
      capacity_(capacity),
      iterations_(scenario, scenario.mapping->data_parallel) {}

Seconds Rollout::round(const Iteration& all) {
  const std::int64_t ranks = scenario_.mapping->data_parallel;
  const std::int64_t groups =
      std::min(scenario_.mapping->pipeline_parallel, all.decodes + all.prompts);
  const std::int64_t with_prompts = std::min(groups, all.prompts);
  Iteration one;
  one.decodes = base::ceil_div(all.decodes, groups * ranks);
  one.context = all.context;
  const IterationTime decodes = one.decodes > 0 ? iterations_(one) : IterationTime{};
  if (with_prompts == 0) {
    return base::max(decodes.latency, as_double(groups) * decodes.period);
  }
  one.prompts = base::ceil_div(all.prompts, with_prompts * ranks);
  one.prompt_tokens = base::ceil_div(all.prompt_tokens * one.prompts, all.prompts);
  one.cached = all.cached;
  const IterationTime mixed = iterations_(one);
  return base::max(mixed.latency, as_double(with_prompts) * mixed.period +
                                      as_double(groups - with_prompts) * decodes.period);
}

// The clock counts tokens: each answer that decodes gains one token per tick.
class Rollout::Queue {
 public:
  Queue(Rollout& rollout, std::span<const std::int64_t> lengths, std::int64_t prompt_tokens,
        std::int64_t samples);
  Seconds run();

 private:
  struct Answer {
    std::size_t prompt = 0;    // on the rank that it runs on
    double left = 0.0;         // tokens to generate; of one that decodes, at `since`
    double context = 0.0;      // tokens of its context, likewise
    double promised = 0.0;     // tokens that its admission reserved in the cache
    double since = 0.0;        // since when it decodes, on the clock
    std::int64_t missing = 0;  // tokens of its context that are not computed yet
    std::int64_t turn = 0;     // which admission was its last one
    bool started = false;
  };
  struct Prompt {
    std::int64_t holders = 0;  // answers that run
    bool computed = false;
  };

  std::size_t running() const { return decoding_.size() + starting_.size(); }
  double decodes() const { return static_cast<double>(decoding_.size()); }
  double held(const Answer& a) const { return a.context + clock_ - a.since; }
  double used() const { return own_ + starting_own_ + as_double(held_prompts_) * prompt_tokens_; }
  double committed() const;
  std::int64_t budget() const;
  void hold(const Answer& answer);
  void release(const Answer& answer);
  void admit();
  bool compute_prompts();
  void decode();
  void end();
  void preempt();

  Rollout& rollout_;
  const workloads::SchedulerPolicy& policy_;
  const workloads::SchedulerLimits& limits_;
  const workloads::Speculation& speculation_;
  const std::int64_t ranks_;
  const double capacity_;  // tokens, all ranks
  const double prompt_tokens_;
  std::vector<Answer> answers_;
  std::vector<Prompt> prompts_;
  std::deque<std::size_t> waiting_;
  std::deque<std::size_t> starting_;                   // admitted, and not all computed
  std::set<std::pair<double, std::size_t>> decoding_;  // (end on the clock, answer)
  double clock_ = 0.0;
  double own_ = 0.0;           // tokens in the cache of those that decode, without their prompts
  double starting_own_ = 0.0;  // the same of those that start
  std::int64_t held_prompts_ = 0;
  std::int64_t turns_ = 0;
  Seconds time_;
};

Rollout::Queue::Queue(Rollout& rollout, std::span<const std::int64_t> lengths,
                      std::int64_t prompt_tokens, std::int64_t samples)
    : rollout_(rollout),
      policy_(rollout.scenario_.serving->policy),
      limits_(rollout.scenario_.serving->limits),
      speculation_(rollout.scenario_.serving->speculation),
      ranks_(rollout.scenario_.mapping->data_parallel),
      capacity_(rollout.capacity_ * as_double(ranks_)),
      prompt_tokens_(as_double(prompt_tokens)) {
  const auto caches = static_cast<std::size_t>(ranks_);
  prompts_.resize(caches * (lengths.size() / static_cast<std::size_t>(samples) + 1));
  for (const std::int64_t length : lengths) {
    const std::size_t i = answers_.size();
    Answer answer;
    answer.prompt = i / static_cast<std::size_t>(samples) * caches + i % caches;
    answer.left = as_double(length);
    answer.context = prompt_tokens_;
    waiting_.push_back(i);
    answers_.push_back(answer);
  }
}

// Tokens that admission may not use: those in the cache, and of each answer what it was promised, or its next token.
double Rollout::Queue::committed() const {
  double sum = used() + decodes();
  if (policy_.reserves == workloads::Reservation::request) {
    for (const auto& [end, i] : decoding_) {
      sum += std::max(0.0, answers_[i].promised - held(answers_[i]) - 1.0);
    }
    for (const std::size_t i : starting_) {
      sum += answers_[i].promised - answers_[i].context;
    }
  }
  return sum;
}

// Prompt tokens that the next round has room for.
std::int64_t Rollout::Queue::budget() const {
  const std::int64_t all =
      limits_.max_tokens_per_iteration * ranks_ * rollout_.scenario_.mapping->pipeline_parallel;
  return policy_.order == workloads::ScheduleOrder::prompts_first
             ? all
             : all - static_cast<std::int64_t>(decoding_.size()) * speculation_.query_tokens();
}

void Rollout::Queue::hold(const Answer& answer) {
  held_prompts_ += ++prompts_[answer.prompt].holders == 1 ? 1 : 0;
}

void Rollout::Queue::release(const Answer& answer) {
  held_prompts_ -= --prompts_[answer.prompt].holders == 0 ? 1 : 0;
}

void Rollout::Queue::admit() {
  const auto slots = static_cast<std::size_t>(limits_.max_sequences * ranks_);
  std::int64_t budget_left = budget();
  for (const std::size_t i : starting_) {
    budget_left -= answers_[i].missing;
  }
  double committed_tokens = committed();
  while (!waiting_.empty() && running() < slots && budget_left > 0) {
    Answer& a = answers_[waiting_.front()];
    Prompt& prompt = prompts_[a.prompt];
    // Samples start one after another. So the prompt is what was used last before the next one starts.
    const bool known = prompt.holders > 0 || (prompt.computed && !a.started);
    const double cached = known ? std::min(prompt_tokens_, a.context - 1.0) : 0.0;
    const std::int64_t missing = std::llround(a.context - cached);
    if (!policy_.chunked_prompts && missing > budget_left &&
        missing <= limits_.max_tokens_per_iteration) {
      break;
    }
    a.promised = a.context;
    if (policy_.reserves == workloads::Reservation::request) {
      a.promised += std::ceil(policy_.reserved_output * a.left);
    }
    const double more = a.promised - (prompt.holders > 0 ? prompt_tokens_ : 0.0);
    if (running() > 0 && committed_tokens + more > capacity_) {
      break;
    }
    committed_tokens += more;
    budget_left -= missing;
    a.missing = missing;
    a.turn = ++turns_;
    a.started = true;
    prompt.computed = true;
    hold(a);
    starting_own_ += a.context - prompt_tokens_;
    starting_.push_back(waiting_.front());
    waiting_.pop_front();
  }
}

// An iteration of those that start. False if there is none. Where the stack mixes, all others decode in it.
bool Rollout::Queue::compute_prompts() {
  std::int64_t budget_left = budget();
  if (starting_.empty() || budget_left <= 0) {
    return false;
  }
  Iteration all;
  double attended = 0.0;  // Σ p(k + p/2) over p tokens after k tokens
  for (auto i = starting_.begin(); i != starting_.end() && budget_left > 0; ++i) {
    Answer& a = answers_[*i];
    const std::int64_t tokens = std::min(a.missing, budget_left);
    attended += as_double(tokens) * (a.context - as_double(a.missing) + 0.5 * as_double(tokens));
    a.missing -= tokens;
    budget_left -= tokens;
    all.prompt_tokens += tokens;
    ++all.prompts;
  }
  const double tokens = as_double(all.prompt_tokens);
  all.cached = std::max(0.0, attended / tokens - 0.5 * tokens / as_double(all.prompts));
  if (policy_.order == workloads::ScheduleOrder::mixed && !decoding_.empty()) {
    const double gained = speculation_.tokens_per_iteration();
    all.decodes = static_cast<std::int64_t>(decoding_.size());
    all.context = prompt_tokens_ + own_ / decodes() + 0.5 * gained;
    clock_ += gained;
    own_ += decodes() * gained;
  }
  time_ += rollout_.round(all);
  while (!starting_.empty() && answers_[starting_.front()].missing == 0) {
    Answer& a = answers_[starting_.front()];
    a.since = clock_;
    a.left -= 1.0;  // the first token comes with the prompt
    starting_own_ -= a.context - prompt_tokens_;
    own_ += a.context - prompt_tokens_;
    decoding_.emplace(clock_ + a.left, starting_.front());
    starting_.pop_front();
  }
  return true;
}

// Iterations of decodes alone until an answer ends or the cache is full.
void Rollout::Queue::decode() {
  const double until_end = decoding_.begin()->first - clock_;
  const double until_full = std::max(1.0, std::floor((capacity_ - used()) / decodes()));
  const bool ends = running() == 1 || until_end <= until_full;
  const double gained = ends ? until_end : until_full;
  Iteration all;
  all.decodes = static_cast<std::int64_t>(decoding_.size());
  all.context = prompt_tokens_ + own_ / decodes() + 0.5 * gained;
  time_ += (gained / speculation_.tokens_per_iteration()) * rollout_.round(all);
  own_ += decodes() * gained;
  clock_ = ends ? decoding_.begin()->first : clock_ + gained;
}

// Frees the answers that have all tokens.
void Rollout::Queue::end() {
  while (!decoding_.empty() && decoding_.begin()->first <= clock_) {
    const Answer& a = answers_[decoding_.begin()->second];
    own_ -= held(a) - prompt_tokens_;
    release(a);
    decoding_.erase(decoding_.begin());
  }
}

// Preempts the answer that was admitted last.
void Rollout::Queue::preempt() {
  if (!starting_.empty()) {
    Answer& a = answers_[starting_.back()];
    starting_own_ -= a.context - prompt_tokens_;
    release(a);
    waiting_.push_front(starting_.back());
    starting_.pop_back();
    return;
  }
  const auto last = std::max_element(decoding_.begin(), decoding_.end(), [&](auto& a, auto& b) {
    return answers_[a.second].turn < answers_[b.second].turn;
  });
  Answer& a = answers_[last->second];
  own_ -= held(a) - prompt_tokens_;
  release(a);
  a.left = last->first - clock_;
  a.context = held(a) + 1.0;  // with its newest token, which is not in the cache
  waiting_.push_front(last->second);
  decoding_.erase(last);
}

Seconds Rollout::Queue::run() {
  while (!waiting_.empty() || running() > 0) {
    admit();
    if (!compute_prompts()) {
      decode();
    }
    end();
    while (running() > 1 && used() + decodes() > capacity_) {
      preempt();
    }
  }
  return time_;
}

Seconds Rollout::time(std::span<const std::int64_t> lengths, std::int64_t prompt_tokens,
                      std::int64_t samples) {
  return Queue(*this, lengths, prompt_tokens, samples).run();
}

}  // namespace roofcast::sim
