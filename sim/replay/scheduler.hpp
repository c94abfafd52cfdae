// SPDX-License-Identifier: Apache-2.0
//
// One replica's scheduler: which tokens every iteration computes, as serving engines decide it.
//
// A request waits, is admitted (first come, first served, or by priority) to the attention-DP rank and pipeline
// micro-batch with the fewest sequences, computes its prompt in one chunk or several, and then a token an
// iteration. An iteration holds max_tokens_per_iteration tokens and max_sequences sequences a rank. Admission
// asks for KV blocks as the policy says; a sequence that cannot grow takes the blocks of the one admitted
// last, which is admitted anew before any that wait, and computes again what is no longer in the cache. With
// priorities it takes those of the least urgent, which waits at its place in the queue. A sequence whose blocks
// are on their way from host memory holds its slot and its blocks and computes nothing until they are here.
// With speculative decoding a decode takes room and budget of all tokens that it verifies, and moves on by those that
// are accepted, drawn with the probabilities of workloads/serving/speculation.hpp, and one more.
//
// Policies and their sources stand in the stacks (workloads/serving/serving.hpp). Every call costs what the
// sequences of its micro-batch cost, and allocates nothing once buffers have grown.
#pragma once

#include <cstdint>
#include <deque>
#include <limits>
#include <span>
#include <unordered_map>
#include <vector>

#include "sim/iteration/iteration_table.hpp"
#include "sim/replay/kv_cache.hpp"

namespace roofcast::sim {

// What a scheduler is asked to serve.
struct Job {
  std::int32_t id = 0;
  std::int64_t input_tokens = 0;
  std::int64_t cached_tokens = 0;  // of the input, computed before
  std::int64_t output_tokens = 0;
  Prefix prefix = {};         // of the input, then of the answer
  std::int64_t priority = 0;  // the greater goes first
  std::int32_t session = -1;  // -1: of none
  // Tokens of the answer that came with it, and the cache of all before the last of them.
  std::int64_t generated = 0;
  bool keeps_cache = false;       // after its last token, until release()
  bool publishes_answer = false;  // at its end, for prompts that begin with it
};

class Scheduler {
 public:
  // `cache`: bytes of one rank's KV cache. what `scenario` points to outlives it.
  Scheduler(const ScenarioView& scenario, base::Bytes cache);

  // Whether the job could run if it were alone.
  bool can_ever_run(const Job& job);
  void enqueue(const Job& job);

  // The next iteration of a micro-batch that is not in flight, at `now` (s), one entry a rank; empty when
  // there is nothing it can do.
  std::span<const Iteration> schedule(std::size_t micro_batch, double now = 0.0);
  // The iteration of the micro-batch has ended.
  void complete(std::size_t micro_batch);

  // The rank that keeps the cache of a finished job, and its end.
  std::size_t rank_of(std::int32_t id) const { return kept_.at(id).rank; }
  void release(std::int32_t id);

  // Tokens at the start of the job's input that the rank with most of them has in its KV cache.
  std::int64_t known_tokens(const Job& job) const;

  // Of the last schedule(): sequences that begin, with the input tokens that they found in the KV cache,
  // those from host memory among them, and sequences that lost their blocks.
  struct Start {
    std::int32_t id = 0;
    std::int64_t reused_tokens = 0;
    std::int64_t restored_tokens = 0;
  };
  std::span<const Start> started() const { return started_; }
  std::span<const std::int32_t> preempted() const { return preempted_; }
  // Of the last complete(): sequences with their first token, and with their last.
  std::span<const std::int32_t> first_tokens() const { return first_tokens_; }
  std::span<const std::int32_t> finished() const { return finished_; }
  std::int64_t tokens() const { return tokens_; }  // of all answers

  // When the next blocks from host memory are here for a micro-batch that is not in flight; infinity where
  // none are on their way.
  double next_load() const;

  std::size_t micro_batches() const { return micro_batches_.size(); }
  bool in_flight(std::size_t micro_batch) const { return micro_batches_[micro_batch].in_flight; }
  std::size_t waiting() const { return waiting_.size() + sent_.size(); }
  std::size_t running() const { return running_; }
  std::int64_t cache_used() const;  // bytes, of all ranks
  std::int64_t cache_capacity() const;

 private:
  static constexpr double kNever = std::numeric_limits<double>::infinity();

  struct Sequence {
    Job job;
    Holding holding;
    std::int64_t computed = 0;   // tokens in the cache
    std::int64_t generated = 0;  // tokens of the answer
    std::int64_t scheduled = 0;  // tokens in flight, drafted ones with them
    std::int64_t restored = 0;   // of them, from host memory when it was admitted
    double ready = 0.0;          // s, when they are here
    bool started = false;        // was in an iteration before
    bool done = false;           // waits for its slot to be freed
    // Tokens to compute before the next token of the answer.
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
    double next_load = kNever;
  };

  bool prompts_first() const;
  void wait(const Sequence& sequence, bool again);
  void receive(const MicroBatch& micro_batch);
  void fill(MicroBatch& micro_batch);
  bool free_done(MicroBatch& micro_batch);
  bool waits_for_more(const MicroBatch& micro_batch);
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
  std::vector<KvCache> caches_;  // of the ranks
  std::vector<MicroBatch> micro_batches_;
  std::deque<Sequence> waiting_;
  double now_ = 0.0;
  std::unordered_map<std::int32_t, Kept> kept_;
  std::size_t running_ = 0;
  std::int64_t waited_ = 0;      // iterations that waited for more prompts
  std::int64_t unbalanced_ = 0;  // iterations since all ranks had prompts, or some went without
  std::vector<Sequence> sent_;   // not received yet
  std::int64_t unreceived_ = 0;  // decode iterations since requests were received
  bool had_prompts_ = false;     // of the last iteration
  // Of the schedule() in progress, by rank.
  std::vector<std::int64_t> budget_;
  std::vector<std::size_t> load_;  // sequences of all lanes
  std::vector<Iteration> iterations_;
  std::vector<Start> started_;
  std::vector<std::int32_t> preempted_;
  std::vector<std::int32_t> first_tokens_;
  std::vector<std::int32_t> finished_;
  std::int64_t tokens_ = 0;
};

}  // namespace roofcast::sim
