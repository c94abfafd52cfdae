// SPDX-License-Identifier: Apache-2.0
//
// Requests in the order of their arrival: drawn from distributions, or read from a trace
// (workloads/traffic/request_traces.hpp).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/units/quantity.hpp"
#include "workloads/traffic/arrivals.hpp"
#include "workloads/traffic/lengths.hpp"

namespace roofcast::workloads {

inline constexpr std::int64_t kMostRequests =
    10'000'000;  // each takes some 350 bytes of a simulation
inline constexpr std::int64_t kMostTokens = 1'000'000'000;  // of a prompt, and of an answer

struct Request {
  base::Seconds arrival;
  base::Seconds recorded;  // arrival in the trace that it is from
  std::int64_t input_tokens = 0;
  std::int64_t output_tokens = 0;
  std::int64_t priority = 0;  // the greater goes first, where the scheduler has priorities
  std::int32_t session = -1;  // number of its conversation; -1: none
  // Number of its task, which has sessions (workloads/traffic/agents.hpp); -1: none.
  std::int32_t task = -1;
  std::uint32_t block_count = 0;  // blocks of its prompt in Requests::blocks; 0: not known
  std::size_t first_block = 0;
};

// `request` is sent `delay` after request `after` is answered. A request with several such entries waits for all.
struct FollowUp {
  std::int32_t after = 0;
  std::int32_t request = 0;
  base::Seconds delay;
};

// A time that varies: lognormal with mean `time` and coefficient of variation `cv`.
struct Duration {
  base::Seconds time;
  double cv = 0.0;
  base::Seconds draw(base::Random& random) const {
    return time.si() > 0.0 ? base::Seconds::from_si(random.lognormal(time.si(), cv)) : time;
  }
};

// A stage that every request passes before it is sent to the model: `servers` servers, first come, first served.
struct Stage {
  Duration service;
  std::int64_t servers = 1;  // 0: it runs on the GPUs of the model
};
inline constexpr base::Range kStageServers{1.0, 1e5};

// The place of the n-th request, or of the first request of the n-th task.
template <class Request>
std::size_t start_of(const std::vector<Request>& requests, std::int64_t n, bool of_tasks) {
  if (!of_tasks) {
    return static_cast<std::size_t>(n);
  }
  const auto at =
      std::find_if(requests.begin(), requests.end(), [&](const Request& r) { return r.task >= n; });
  return static_cast<std::size_t>(at - requests.begin());
}

struct Requests {
  std::vector<Request> requests;  // by arrival
  std::int64_t available = 0;     // of a trace: requests with those that a limit leaves out
  // Hashes of the blocks of prompts. Equal hashes mean equal blocks after equal blocks. So two requests can share the
  // blocks whose hashes are equal from the start.
  std::vector<std::uint64_t> blocks;
  std::int64_t block_tokens = 0;     // tokens of every block but the last of a prompt
  bool blocks_have_answers = false;  // blocks continue in the answer, which later prompts repeat
  std::vector<FollowUp> follow_ups;  // by `after`; a request that follows has no arrival of its own
  std::vector<Stage> stages;         // one after another
  std::uint64_t seed = 0;            // of stages, thinking and accepted drafts
  Duration think;  // time of a client in a closed loop before it sends a request that follows none

  std::span<const std::uint64_t> blocks_of(const Request& request) const {
    return std::span(blocks).subspan(request.first_block, request.block_count);
  }
};

// Scales the times of arrivals so that `arrivals` of them, which come from one of the requests to the other, come at
// `rate`. 4,000 gaps of a poisson process are longer or shorter than their mean by some 2 %; scaled, they are not.
void set_rate(Requests& requests, std::size_t from, std::size_t to, std::size_t arrivals,
              base::Hertz rate);

// Arrivals, inputs and outputs each have their own stream of random numbers, so another rate has the same lengths.
Requests draw_requests(const Arrivals& arrivals, const Lengths& input, const Lengths& output,
                       std::size_t count, std::uint64_t seed);

}  // namespace roofcast::workloads
