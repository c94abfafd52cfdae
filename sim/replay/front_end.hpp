// SPDX-License-Identifier: Apache-2.0
//
// The front end of a deployment: one process that takes requests in and hands tokens out.
//
// It does one thing after the other: parses and tokenises a request as it arrives, then, iteration by
// iteration, detokenises and sends the tokens of all answers, in messages of stream_interval tokens each.
// What it costs a request and a message stands in the stack's `front_end:`. A deployment that makes more
// requests or tokens than it can take queues here, however fast the GPUs are.
#pragma once

#include <algorithm>
#include <cstdint>

#include "workloads/serving/serving.hpp"

namespace roofcast::sim {

class FrontEnd {
 public:
  // `serving` outlives it.
  explicit FrontEnd(const workloads::Serving& serving)
      : stack_(serving.stack),
        per_token_(serving.stack.message_overhead.si() /
                   static_cast<double>(serving.policy.stream_interval)),
        latency_(serving.stack.request_overhead.si()) {}

  // When the scheduler gets a request that arrives now.
  double take(double now, std::int64_t prompt_tokens) {
    free_ = std::max(free_, now) +
            workloads::intake_time(stack_, static_cast<double>(prompt_tokens)).si();
    return free_ + latency_;
  }
  // When clients have the tokens of an iteration that ends now.
  double show(double now, std::int64_t tokens) {
    free_ = std::max(free_, now) + per_token_ * static_cast<double>(tokens);
    return free_;
  }

 private:
  const workloads::Stack& stack_;
  double per_token_;
  double latency_;
  double free_ = 0;
};

}  // namespace roofcast::sim
