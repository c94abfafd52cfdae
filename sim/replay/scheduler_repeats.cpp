// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>

#include "sim/replay/scheduler.hpp"

namespace roofcast::sim {

std::int64_t Scheduler::repeats() {
  if (had_prompts_ || micro_batches_.size() > 1 || speculation_.query_tokens() > 1 ||
      waiting() > 0) {
    return 0;
  }
  std::int64_t most = std::numeric_limits<std::int64_t>::max();
  for (const std::vector<Sequence>& sequences : micro_batches_.front().ranks) {
    for (const Sequence& sequence : sequences) {
      if (sequence.scheduled == 0 || sequence.done) {
        return 0;
      }
      most = std::min(most, sequence.job.output_tokens - sequence.generated - 1);
    }
  }
  for (std::size_t rank = 0; rank < caches_.size(); ++rank) {
    while (most > 0 && !room_for(rank, most)) {
      most /= 2;
    }
  }
  return most;
}

// Whether each sequence of the rank can grow by the tokens of so many iterations.
bool Scheduler::room_for(std::size_t rank, std::int64_t iterations) {
  KvCache& cache = caches_[rank];
  std::int64_t room = cache.capacity() - cache.used();
  for (const Sequence& sequence : micro_batches_.front().ranks[rank]) {
    room -= cache.growth(sequence.holding, sequence.computed + 1 + iterations);
    if (room < 0) {
      return false;
    }
  }
  return true;
}

void Scheduler::repeat(std::int64_t iterations) {
  MicroBatch& micro_batch = micro_batches_.front();
  bool all_decode = true;
  for (std::size_t rank = 0; rank < caches_.size(); ++rank) {
    for (Sequence& sequence : micro_batch.ranks[rank]) {
      sequence.computed += iterations;
      sequence.generated += iterations;
      caches_[rank].grow(sequence.holding, sequence.computed + 1);
    }
    all_decode = all_decode && !micro_batch.ranks[rank].empty();
  }
  // What receive() and waits_for_ranks() count.
  unreceived_ = (unreceived_ + iterations) % policy_.receive_iterations;
  if (policy_.rank_wait_iterations > 0 && caches_.size() > 1) {
    unbalanced_ = all_decode ? (unbalanced_ + iterations) % policy_.rank_wait_iterations : 0;
  }
}

}  // namespace roofcast::sim
