// SPDX-License-Identifier: Apache-2.0
//
// The scheduler of one replica: the tokens that each iteration computes, as serving engines decide it.
//
// Path of a request. It waits. It is admitted, first come, first served or by priority, to the attention-DP rank and
// pipeline micro-batch with the fewest sequences. It computes its prompt in one chunk or several, and then one token
// per iteration.
//
// Limits. An iteration has at most max_tokens_per_iteration tokens and max_sequences sequences per rank. Admission asks
// for KV blocks as the policy says.
//
// Preemption. A sequence that cannot grow takes the blocks of the sequence that was admitted last. That sequence is
// admitted again before any that wait, and computes again the part that is no longer in the cache. With priorities, the
// least urgent sequence loses its blocks, and waits at its place in the queue.
//
// Host memory. A sequence whose blocks are on their way from host memory has its slot and its blocks. It computes
// nothing until they arrive.
//
// Speculative decoding. A decode takes blocks and budget for all tokens that it verifies. It advances by the accepted
// ones and one more. Acceptance is drawn with the probabilities of workloads/serving/speculation.hpp.
//
// The policies and their sources are in the stacks (workloads/serving/serving.hpp). The time of a call is proportional
// to the sequences of its micro-batch. A call allocates nothing once its buffers have grown.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sim/iteration/iteration_table.hpp"
#include "sim/replay/kv_cache.hpp"

namespace roofcast::sim {

// A request, as a scheduler sees it.
struct Job {
  std::int32_t id = 0;
  std::int64_t input_tokens = 0;
  std::int64_t cached_tokens = 0;  // tokens of the input that were computed before
  std::int64_t output_tokens = 0;
  Prefix prefix = {};         // units of the input, then of the answer
  std::int64_t priority = 0;  // the greater one goes first
  std::int32_t session = -1;  // -1: none
  // Tokens of the answer that arrived with it, and with them the KV cache of all tokens before the last one.
  std::int64_t generated = 0;
  bool keeps_cache = false;       // its KV cache stays after its last token, until release()
  bool publishes_answer = false;  // at its end, the answer becomes a prefix for later prompts
};

class Scheduler {
 public:
  // `cache` is the size of one rank's KV cache; `seed` draws the accepted drafts. The targets of `scenario` must outlive
  // the scheduler.
  Scheduler(const ScenarioView& scenario, base::Bytes cache, std::uint64_t seed = 0);

  // Whether the job could run if it were alone.
  bool can_ever_run(const Job& job);
  void enqueue(const Job& job);

  // The next iteration of a micro-batch that is not in flight, at `now`. One entry per rank; empty if there is no work
  // that can be done.
  std::span<const Iteration> schedule(std::size_t micro_batch, base::Seconds now = {});
  // The iteration of the micro-batch has ended.
  void complete(std::size_t micro_batch);

  // How many iterations after the one in flight can only repeat it, unless a request comes: all sequences decode, and
  // none ends, starts or loses its blocks. repeat() lets so many of them end and the next ones begin.
  std::int64_t repeats();
  void repeat(std::int64_t iterations);

  // The rank that keeps the KV cache of a finished job; release() frees it.
  std::size_t rank_of(std::int32_t id) const { return kept_.at(id).rank; }
  void release(std::int32_t id);

  // Tokens at the start of the job's input that are in a KV cache, on the rank that has most of them.
  std::int64_t known_tokens(const Job& job);

  // Results of the last schedule(): sequences that start and sequences that were preempted. reused_tokens are the input
  // tokens in the KV cache, restored_tokens those of them that came from host memory.
  struct Start {
    std::int32_t id = 0;
    std::int64_t reused_tokens = 0;
    std::int64_t restored_tokens = 0;
  };
  std::span<const Start> started() const { return started_; }
  std::span<const std::int32_t> preempted() const { return preempted_; }
  // Results of the last complete(): sequences that have their first token, and sequences that have their last.
  std::span<const std::int32_t> first_tokens() const { return first_tokens_; }
  std::span<const std::int32_t> finished() const { return finished_; }
  std::int64_t tokens() const { return tokens_; }  // tokens of all answers

  // Arrival of the next blocks from host memory for a micro-batch that is not in flight. Infinity if there are none.
  base::Seconds next_load() const;

  std::size_t micro_batches() const { return micro_batches_.size(); }
  bool in_flight(std::size_t micro_batch) const { return micro_batches_[micro_batch].in_flight; }
  std::size_t waiting() const { return waiting_.size() + sent_.size() + received_.size(); }
  std::size_t running() const { return running_; }
  std::int64_t cache_used() const;  // B, all ranks
  std::int64_t cache_capacity() const;

 private:
  static constexpr base::Seconds kNever = base::Seconds::infinity();

  struct Sequence {
    Job job;
    Holding holding;
    std::int64_t computed = 0;   // tokens in the KV cache
    std::int64_t generated = 0;  // tokens of the answer
    std::int64_t scheduled = 0;  // tokens in flight, draft tokens included
    std::int64_t restored = 0;   // of `computed`, tokens that came from host memory at admission
    base::Seconds ready;         // arrival of these
    bool started = false;        // it was in an iteration
    bool done = false;           // it has its last token; its slot is not freed yet
    // known() is the number of its tokens so far; missing() has to be computed before the next token of the answer.
    std::int64_t known() const { return job.input_tokens + generated; }
    std::int64_t missing() const { return known() - computed; }
    bool decodes() const { return generated > 0 && missing() == 1; }
  };
  struct Kept {
    std::size_t rank = 0;
    Prefix prefix;
    Holding holding;
  };
  struct MicroBatch {
    std::vector<std::vector<Sequence>> ranks;  // running, in the order of admission
    std::size_t sequences = 0;
    bool in_flight = false;
    base::Seconds next_load = kNever;
  };

  bool prompts_first() const;
  bool room_for(std::size_t rank, std::int64_t iterations);
  void wait(const Sequence& sequence, bool again);
  void receive(const MicroBatch& micro_batch);
  void fill(MicroBatch& micro_batch);
  bool free_done(MicroBatch& micro_batch);
  bool all_wait(std::vector<Sequence>& sequences);
  bool waits_for_more(const MicroBatch& micro_batch);
  bool one_for_each_rank();
  bool waits_for_ranks(const MicroBatch& micro_batch);
  void run_running(MicroBatch& micro_batch, std::size_t rank, bool prompts_only);
  bool take(MicroBatch& micro_batch, std::size_t rank, std::size_t& index, std::int64_t tokens);
  std::size_t victim(const std::vector<Sequence>& running) const;
  void preempt(MicroBatch& micro_batch, std::size_t rank, std::size_t index);
  void admit_waiting(MicroBatch& micro_batch);
  bool admit(MicroBatch& micro_batch, std::size_t rank, const Sequence& sequence);
  void add(Iteration& iteration, const Sequence& sequence);
  void finish(Iteration& iteration) const;
  std::int64_t accepted(const Sequence& sequence, std::int64_t drafted) const;

  const workloads::SchedulerPolicy& policy_;
  const workloads::SchedulerLimits& limits_;
  const workloads::Speculation& speculation_;
  std::uint64_t seed_;
  std::vector<KvCache> caches_;  // one per rank
  std::vector<MicroBatch> micro_batches_;
  std::deque<Sequence> waiting_;
  base::Seconds now_;
  std::unordered_map<std::int32_t, Kept> kept_;
  std::size_t running_ = 0;
  std::int64_t waited_ = 0;         // successive iterations that waited for more prompts
  std::int64_t unbalanced_ = 0;     // successive iterations that waited for a prompt for each rank
  std::vector<Sequence> sent_;      // sent, not yet received
  std::vector<Sequence> received_;  // for the next plan
  std::int64_t unreceived_ = 0;     // decode iterations since requests were received
  bool had_prompts_ = false;        // whether the last iteration had prompts
  // State of the schedule() in progress, by rank.
  std::vector<std::int64_t> budget_;
  std::vector<std::size_t> load_;       // sequences of all micro-batches
  std::vector<std::size_t> sequences_;  // the same with those that wait
  // Loads and ranks to try for the request that waits first: a heap.
  std::vector<std::pair<std::size_t, std::size_t>> by_load_;
  std::vector<Iteration> iterations_;
  std::vector<Start> started_;
  std::vector<std::int32_t> preempted_;
  std::vector<std::int32_t> first_tokens_;
  std::vector<std::int32_t> finished_;
  std::int64_t tokens_ = 0;
};

}  // namespace roofcast::sim
