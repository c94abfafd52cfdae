// SPDX-License-Identifier: Apache-2.0
//
// The front end of a replica: one process, or several, that take requests in and send tokens out.
//
// A process does one thing after the other. It parses and tokenises a request when it arrives. After each iteration it
// detokenises and sends the tokens of its answers, in messages of stream_interval tokens each. The times per request
// and per message are in the stack's `front_end:`. If the requests or tokens of a replica need more time than there
// is, they queue here, however fast the GPUs are. Processes take requests in turn. Each sends an equal part of the
// tokens of an iteration.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "workloads/serving/serving.hpp"

namespace roofcast::sim {

class FrontEnd {
 public:
  // `serving` must outlive it. `mapping`: of the replica. `of_text`: prompts are tokenised; those of recommenders are not.
  FrontEnd(const workloads::Serving& serving, const workloads::Mapping& mapping,
           bool of_text = true)
      : stack_(serving.stack),
        of_text_(of_text),
        per_token_(
            serving.stack.message_overhead /
            static_cast<double>(serving.policy.stream_interval * serving.front_ends_of(mapping))),
        free_(static_cast<std::size_t>(serving.front_ends_of(mapping))) {}

  // When the scheduler gets a request that arrives at `now`.
  base::Seconds take(base::Seconds now, std::int64_t prompt_tokens) {
    base::Seconds& free = free_[next_++ % free_.size()];
    free = std::max(free, now) +
           workloads::intake_time(stack_, of_text_ ? static_cast<double>(prompt_tokens) : 0.0);
    return free + stack_.request_overhead;
  }
  // When clients have the tokens of an iteration that ends at `now`.
  base::Seconds send(base::Seconds now, std::int64_t tokens) {
    for (base::Seconds& free : free_) {
      free = std::max(free, now) + per_token_ * static_cast<double>(tokens);
    }
    return *std::max_element(free_.begin(), free_.end());
  }

 private:
  const workloads::Stack& stack_;
  bool of_text_;
  base::Seconds per_token_;          // of a process, for each token of an iteration
  std::vector<base::Seconds> free_;  // time at which each process is free
  std::size_t next_ = 0;
};

}  // namespace roofcast::sim
