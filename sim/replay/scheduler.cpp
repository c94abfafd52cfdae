// SPDX-License-Identifier: Apache-2.0
#include "sim/replay/scheduler.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "base/scatter.hpp"
#include "base/statistics/random.hpp"

namespace roofcast::sim {

using workloads::SchedulerPolicy;

Scheduler::Scheduler(const ScenarioView& s, base::Bytes cache, std::uint64_t seed)
    : policy_(s.serving->policy),
      limits_(s.serving->limits),
      speculation_(s.serving->speculation),
      seed_(seed) {
  const auto ranks = static_cast<std::size_t>(s.mapping->data_parallel);
  caches_.reserve(ranks);
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    caches_.emplace_back(s, cache);
  }
  micro_batches_.resize(static_cast<std::size_t>(s.mapping->pipeline_parallel));
  for (MicroBatch& micro_batch : micro_batches_) {
    micro_batch.ranks.resize(ranks);
  }
  budget_.resize(ranks);
  load_.resize(ranks);
  iterations_.resize(ranks);
}

bool Scheduler::can_ever_run(const Job& job) {
  return caches_.front().could_hold(job.input_tokens + job.output_tokens + speculation_.verified());
}

std::int64_t Scheduler::known_tokens(const Job& job) {
  std::int64_t most = 0;
  for (KvCache& cache : caches_) {
    most = std::max(most, cache.known_tokens(job.prefix, job.input_tokens - 1));
  }
  return most;
}

void Scheduler::enqueue(const Job& job) {
  Sequence sequence;
  sequence.job = job;
  sequence.generated = job.generated;
  sequence.computed = job.generated > 0 ? job.input_tokens + job.generated - 1 : job.cached_tokens;
  sent_.push_back(sequence);
}

// Whether there were any.
bool Scheduler::all_wait(std::vector<Sequence>& sequences) {
  const bool any = !sequences.empty();
  for (const Sequence& sequence : sequences) {
    wait(sequence, false);
  }
  sequences.clear();
  return any;
}

// Receives the requests that were sent, unless the policy lets more decode iterations run first. Where iterations are
// planned ahead, this one was, so that they are in the next one.
void Scheduler::receive(const MicroBatch& micro_batch) {
  all_wait(received_);
  const bool looks =
      micro_batch.sequences == 0 || had_prompts_ || ++unreceived_ >= policy_.receive_iterations;
  if (looks) {
    const bool planned =
        policy_.plans_ahead && micro_batches_.size() == 1 && micro_batch.sequences > 0;
    if (planned) {
      received_.swap(sent_);
    } else {
      all_wait(sent_);
    }
    unreceived_ = 0;
  }
}

std::int64_t Scheduler::cache_used() const {
  std::int64_t sum = 0;
  for (const KvCache& cache : caches_) {
    sum += cache.used();
  }
  return sum;
}

std::int64_t Scheduler::cache_capacity() const {
  return static_cast<std::int64_t>(caches_.size()) * caches_.front().capacity();
}

// Adds a sequence to the iteration. Until finish(), `context` is a sum over decodes, and `cached` is Σ p(k + p/2) over
// chunks of p tokens after k tokens (sim/iteration/iteration_table.hpp).
void Scheduler::add(Iteration& iteration, const Sequence& sequence) {
  if (sequence.decodes()) {
    ++iteration.decodes;
    iteration.context += static_cast<double>(sequence.computed);
  } else {
    const auto tokens = static_cast<double>(sequence.scheduled);
    ++iteration.prompts;
    iteration.prompt_tokens += sequence.scheduled;
    iteration.cached += tokens * (static_cast<double>(sequence.computed) + 0.5 * tokens);
  }
}

void Scheduler::finish(Iteration& iteration) const {
  if (iteration.decodes > 0) {
    iteration.context /= static_cast<double>(iteration.decodes);
  }
  if (iteration.prompts > 0) {
    const auto tokens = static_cast<double>(iteration.prompt_tokens);
    const double half_mean = 0.5 * tokens / static_cast<double>(iteration.prompts);
    iteration.cached = std::max(0.0, iteration.cached / tokens - half_mean);
  }
}

// Puts a sequence into the queue. `again`: it was preempted.
void Scheduler::wait(const Sequence& sequence, bool again) {
  if (policy_.queue == workloads::Queue::priority) {
    const auto before = [](const Sequence& a, const Sequence& b) {
      return a.job.priority != b.job.priority ? a.job.priority > b.job.priority
                                              : a.job.id < b.job.id;
    };
    waiting_.insert(std::upper_bound(waiting_.begin(), waiting_.end(), sequence, before), sequence);
  } else if (again) {
    waiting_.push_front(sequence);
  } else {
    waiting_.push_back(sequence);
  }
}

// The sequence that loses its blocks.
std::size_t Scheduler::victim(const std::vector<Sequence>& running) const {
  if (policy_.queue == workloads::Queue::arrival) {
    return running.size() - 1;
  }
  const auto rather = [](const Sequence& a, const Sequence& b) {
    if (a.done != b.done) {
      return a.done;
    }
    return a.job.priority != b.job.priority ? a.job.priority < b.job.priority : a.job.id > b.job.id;
  };
  return static_cast<std::size_t>(std::min_element(running.begin(), running.end(), rather) -
                                  running.begin());
}

void Scheduler::preempt(MicroBatch& micro_batch, std::size_t rank, std::size_t index) {
  std::vector<Sequence>& running = micro_batch.ranks[rank];
  Sequence& lost = running[index];
  if (!lost.done && lost.ready <= now_) {
    caches_[rank].publish(lost.holding, lost.job.prefix, lost.computed);
  }
  caches_[rank].release(lost.holding, lost.job.prefix);
  if (!lost.done) {
    budget_[rank] += lost.scheduled;
    lost.scheduled = 0;
    lost.computed = lost.job.cached_tokens;
    lost.ready = {};
    preempted_.push_back(lost.job.id);
    wait(lost, true);
    --running_;
  }
  running.erase(running.begin() + static_cast<std::ptrdiff_t>(index));
  --micro_batch.sequences;
}

// Takes blocks and budget for `tokens` of a sequence; others are preempted for it. False if the sequence itself was
// preempted. `index` is corrected for sequences that are gone.
bool Scheduler::take(MicroBatch& micro_batch, std::size_t rank, std::size_t& index,
                     std::int64_t tokens) {
  std::vector<Sequence>& sequences = micro_batch.ranks[rank];
  while (!caches_[rank].grow(sequences[index].holding, sequences[index].computed + tokens)) {
    const std::size_t lost = victim(sequences);
    preempt(micro_batch, rank, lost);
    if (lost == index) {
      return false;
    }
    index -= lost < index ? 1 : 0;
  }
  sequences[index].scheduled = tokens;
  budget_[rank] -= tokens;
  return true;
}

void Scheduler::run_running(MicroBatch& micro_batch, std::size_t rank, bool prompts_only) {
  std::vector<Sequence>& sequences = micro_batch.ranks[rank];
  for (std::size_t i = 0; i < sequences.size() && budget_[rank] > 0; ++i) {
    const Sequence& sequence = sequences[i];
    if (sequence.done || sequence.ready > now_ || (prompts_only && sequence.decodes())) {
      continue;
    }
    const std::int64_t wanted =
        sequence.decodes() ? speculation_.query_tokens() : sequence.missing();
    if (!take(micro_batch, rank, i, std::min(wanted, budget_[rank]))) {
      break;
    }
  }
}

bool Scheduler::prompts_first() const {
  return policy_.order == workloads::ScheduleOrder::prompts_first;
}

bool Scheduler::admit(MicroBatch& micro_batch, std::size_t rank, const Sequence& candidate) {
  Sequence sequence = candidate;
  const Prefix& prefix = candidate.job.prefix;
  const std::int64_t reusable = sequence.known() - 1;
  const std::int64_t here =
      std::max(sequence.computed, caches_[rank].known_tokens(prefix, reusable));
  sequence.computed = std::max(here, caches_[rank].restorable_tokens(prefix, reusable));
  sequence.restored = sequence.computed - here;
  const std::int64_t missing = sequence.missing();
  const bool whole = !policy_.chunked_prompts && missing <= limits_.max_tokens_per_iteration;
  // A sequence that another pool hands over decodes: it verifies drafts.
  const std::int64_t wanted = sequence.decodes() ? speculation_.query_tokens() : missing;
  const std::int64_t tokens = std::min(wanted, budget_[rank]);
  if (tokens <= 0 || (whole && tokens < missing) ||
      load_[rank] >= static_cast<std::size_t>(limits_.max_sequences)) {
    return false;
  }
  std::int64_t promised = sequence.computed + tokens;
  if (policy_.reserves == workloads::Reservation::request) {
    const auto left = static_cast<double>(sequence.job.output_tokens - sequence.generated);
    promised = sequence.known() + std::llround(std::ceil(policy_.reserved_output * left));
  }
  if (!caches_[rank].admit(sequence.holding, promised, prefix, reusable)) {
    return false;
  }
  micro_batch.ranks[rank].push_back(sequence);
  ++micro_batch.sequences;
  ++load_[rank];
  ++running_;
  Sequence& admitted = micro_batch.ranks[rank].back();
  if (admitted.restored > 0) {
    caches_[rank].grow(admitted.holding, admitted.computed);
    admitted.ready = caches_[rank].restore(prefix, here, admitted.computed, now_);
    return true;
  }
  std::size_t index = micro_batch.ranks[rank].size() - 1;
  take(micro_batch, rank, index, tokens);
  return true;
}

// Whether admission waits until more prompts have arrived.
bool Scheduler::waits_for_more(const MicroBatch& micro_batch) {
  if (policy_.batch_wait_iterations == 0 || waiting_.empty() || micro_batch.sequences == 0) {
    return false;
  }
  const double enough = policy_.batch_wait_fill *
                        static_cast<double>(limits_.max_tokens_per_iteration) *
                        static_cast<double>(caches_.size());
  auto tokens = static_cast<double>(static_cast<std::int64_t>(micro_batch.sequences) *
                                    speculation_.query_tokens());
  for (auto next = waiting_.begin(); next != waiting_.end() && tokens < enough; ++next) {
    tokens += static_cast<double>(next->missing());
  }
  const bool waits = tokens < enough && waited_ < policy_.batch_wait_iterations;
  waited_ = waits ? waited_ + 1 : 0;
  return waits;
}

// Whether each rank has a waiting prompt: in order, they are sent to the rank with the fewest sequences, if it has room.
bool Scheduler::one_for_each_rank() {
  sequences_.assign(load_.begin(), load_.end());
  std::size_t ranks = 0;
  for (std::size_t i = 0; i < waiting_.size() && ranks < sequences_.size(); ++i) {
    const auto least = std::min_element(sequences_.begin(), sequences_.end());
    if (*least >= static_cast<std::size_t>(limits_.max_sequences)) {
      return false;
    }
    ranks += *least == load_[static_cast<std::size_t>(least - sequences_.begin())] ? 1 : 0;
    ++*least;
  }
  return ranks == sequences_.size();
}

// Whether admission waits until each rank has a prompt. Iterations in which no request waits count too, as in
// NVIDIA/TensorRT-LLM@fcd3f31 tensorrt_llm/_torch/pyexecutor (attention_dp_config.enable_balance; requests are sent to the
// ranks as they come).
bool Scheduler::waits_for_ranks(const MicroBatch& micro_batch) {
  if (policy_.rank_wait_iterations == 0 || caches_.size() == 1) {
    return false;
  }
  const bool all_decode = std::none_of(micro_batch.ranks.begin(), micro_batch.ranks.end(),
                                       [](const auto& sequences) { return sequences.empty(); });
  const bool waits =
      all_decode && !one_for_each_rank() && ++unbalanced_ < policy_.rank_wait_iterations;
  unbalanced_ = waits ? unbalanced_ : 0;
  return waits;
}

void Scheduler::admit_waiting(MicroBatch& micro_batch) {
  // Each micro-batch has an equal share of the sequences that run or wait. Sequences that are not freed yet count.
  std::size_t present = waiting_.size();
  for (const MicroBatch& each : micro_batches_) {
    present += each.sequences;
  }
  const std::size_t share = (present + micro_batches_.size() - 1) / micro_batches_.size();
  while (!waiting_.empty() && micro_batch.sequences < share) {
    // Ranks are tried in the order of their load, the least first.
    by_load_.clear();
    for (std::size_t rank = 0; rank < caches_.size(); ++rank) {
      by_load_.emplace_back(load_[rank], rank);
    }
    std::make_heap(by_load_.begin(), by_load_.end(), std::greater<>());
    bool admitted = false;
    while (!admitted && !by_load_.empty()) {
      admitted = admit(micro_batch, by_load_.front().second, waiting_.front());
      std::pop_heap(by_load_.begin(), by_load_.end(), std::greater<>());
      by_load_.pop_back();
    }
    if (!admitted) {
      break;
    }
    waiting_.pop_front();
  }
}

base::Seconds Scheduler::next_load() const {
  base::Seconds next = kNever;
  for (const MicroBatch& micro_batch : micro_batches_) {
    next = micro_batch.in_flight ? next : std::min(next, micro_batch.next_load);
  }
  return next;
}

// Frees the sequences that are done. They would be freed after an iteration, but none follows.
bool Scheduler::free_done(MicroBatch& micro_batch) {
  const std::size_t before = micro_batch.sequences;
  for (std::size_t rank = 0; rank < caches_.size(); ++rank) {
    std::vector<Sequence>& sequences = micro_batch.ranks[rank];
    const auto done = std::remove_if(sequences.begin(), sequences.end(), [&](Sequence& s) {
      if (s.done) {
        caches_[rank].release(s.holding, s.job.prefix);
      }
      return s.done;
    });
    micro_batch.sequences -= static_cast<std::size_t>(sequences.end() - done);
    sequences.erase(done, sequences.end());
  }
  return micro_batch.sequences < before;
}

std::span<const Iteration> Scheduler::schedule(std::size_t index, base::Seconds now) {
  MicroBatch& micro_batch = micro_batches_[index];
  now_ = now;
  started_.clear();
  preempted_.clear();
  receive(micro_batch);
  do {
    fill(micro_batch);
  } while (!micro_batch.in_flight && (free_done(micro_batch) || all_wait(received_)));
  had_prompts_ = false;
  micro_batch.next_load = kNever;
  for (std::size_t rank = 0; rank < caches_.size(); ++rank) {
    Iteration iteration;  // in registers
    for (Sequence& sequence : micro_batch.ranks[rank]) {
      if (sequence.ready > now_) {
        micro_batch.next_load = std::min(micro_batch.next_load, sequence.ready);
      }
      if (sequence.scheduled > 0) {
        add(iteration, sequence);
        if (!sequence.started) {
          sequence.started = true;
          started_.push_back({sequence.job.id, sequence.computed, sequence.restored});
        }
      }
    }
    finish(iteration);
    iterations_[rank] = iteration;
    had_prompts_ = had_prompts_ || iteration.prompts > 0;
  }
  if (!micro_batch.in_flight) {
    return {};
  }
  return iterations_;
}

void Scheduler::fill(MicroBatch& micro_batch) {
  const std::size_t preempted_before = preempted_.size();
  for (std::size_t rank = 0; rank < caches_.size(); ++rank) {
    budget_[rank] = limits_.max_tokens_per_iteration;
    load_[rank] = 0;
    for (const MicroBatch& each : micro_batches_) {
      load_[rank] += each.ranks[rank].size();
    }
  }
  const auto run = [&](bool prompts_only) {
    for (std::size_t rank = 0; rank < caches_.size(); ++rank) {
      run_running(micro_batch, rank, prompts_only);
    }
  };
  run(prompts_first());
  if (preempted_.size() == preempted_before && !waits_for_more(micro_batch) &&
      !waits_for_ranks(micro_batch)) {
    admit_waiting(micro_batch);
  }
  const auto any = [&] {
    return std::any_of(budget_.begin(), budget_.end(),
                       [&](std::int64_t left) { return left < limits_.max_tokens_per_iteration; });
  };
  if (prompts_first() && !any()) {
    run(false);
  }
  micro_batch.in_flight = any();
}

// Accepted ones of the draft tokens of an iteration. The random number depends only on the seed, the request and
// its position, not on the other sequences of the iteration.
std::int64_t Scheduler::accepted(const Sequence& sequence, std::int64_t drafted) const {
  if (drafted == 0) {
    return 0;
  }
  const auto id = static_cast<std::uint64_t>(sequence.job.id);
  const std::uint64_t of_request = base::seed_of_part(seed_, id);
  base::Random random(
      base::seed_of_part(of_request, static_cast<std::uint64_t>(sequence.generated)), "acceptance");
  return std::min(drafted, speculation_.accepted(random.uniform()));
}

void Scheduler::release(std::int32_t id) {
  const auto kept = kept_.find(id);
  caches_[kept->second.rank].release(kept->second.holding, kept->second.prefix);
  kept_.erase(kept);
}

void Scheduler::complete(std::size_t index) {
  MicroBatch& micro_batch = micro_batches_[index];
  first_tokens_.clear();
  finished_.clear();
  tokens_ = 0;
  micro_batch.in_flight = false;
  micro_batch.sequences = 0;
  for (std::size_t rank = 0; rank < caches_.size(); ++rank) {
    std::vector<Sequence>& sequences = micro_batch.ranks[rank];
    std::size_t kept = 0;
    for (Sequence& sequence : sequences) {
      bool frees = sequence.done;  // it was done before this iteration
      if (sequence.scheduled > 0) {
        const bool decoded = sequence.decodes();
        const std::int64_t drafted = decoded ? sequence.scheduled - 1 : 0;
        sequence.computed += sequence.scheduled - drafted;
        sequence.scheduled = 0;
        if (sequence.generated == 0 && !sequence.job.prefix.shared.empty()) {
          caches_[rank].publish(sequence.holding, sequence.job.prefix, sequence.computed);
        }
        if (sequence.missing() == 0) {
          ++tokens_;
          if (++sequence.generated == 1) {
            first_tokens_.push_back(sequence.job.id);
          }
          const std::int64_t drafts = std::min(accepted(sequence, drafted),
                                               sequence.job.output_tokens - sequence.generated);
          tokens_ += drafts;
          sequence.generated += drafts;
          sequence.computed += drafts;
          if (sequence.generated == sequence.job.output_tokens) {
            finished_.push_back(sequence.job.id);
            --running_;
            if (sequence.job.publishes_answer) {
              caches_[rank].publish(sequence.holding, sequence.job.prefix, sequence.computed);
            }
            if (sequence.job.keeps_cache) {
              kept_[sequence.job.id] = {rank, sequence.job.prefix, sequence.holding};
              continue;
            }
            sequence.done = true;
            frees = !policy_.delayed_release;
          }
        }
      }
      if (frees) {
        caches_[rank].release(sequence.holding, sequence.job.prefix);
      } else {
        if (&sequences[kept] != &sequence) {  // hardly ever; the copy takes as long as the rest
          sequences[kept] = sequence;
        }
        ++kept;
      }
    }
    sequences.resize(kept);
    micro_batch.sequences += kept;
  }
}

}  // namespace roofcast::sim
