// SPDX-License-Identifier: Apache-2.0
//
// The front end of a deployment: one process that takes requests in and sends tokens out.
//
// It does one thing after the other. It parses and tokenises a request when it arrives. After each iteration it
// detokenises and sends the tokens of all answers, in messages of stream_interval tokens each. The times per request
// and per message are in the stack's `front_end:`. If the requests or tokens of a deployment need more time than there
// is, they queue here, however fast the GPUs are.
#pragma once

#include <algorithm>
#include <cstdint>

#include "workloads/serving/serving.hpp"

namespace roofcast::sim {

class FrontEnd {
 public:
  // `serving` must outlive it.
  explicit FrontEnd(const workloads::Serving& serving)
      : stack_(serving.stack),
        per_token_(serving.stack.message_overhead /
                   static_cast<double>(serving.policy.stream_interval)),
        latency_(serving.stack.request_overhead) {}

  // When the scheduler gets a request that arrives at `now`.
  base::Seconds take(base::Seconds now, std::int64_t prompt_tokens) {
    free_ =
        std::max(free_, now) + workloads::intake_time(stack_, static_cast<double>(prompt_tokens));
    return free_ + latency_;
  }
  // When clients have the tokens of an iteration that ends at `now`.
  base::Seconds show(base::Seconds now, std::int64_t tokens) {
    free_ = std::max(free_, now) + per_token_ * static_cast<double>(tokens);
    return free_;
  }

 private:
  const workloads::Stack& stack_;
  base::Seconds per_token_;  // messages per output token
  base::Seconds latency_;    // request overhead
  base::Seconds free_;       // time at which it is free
};

}  // namespace roofcast::sim
