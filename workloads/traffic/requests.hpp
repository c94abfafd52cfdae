// SPDX-License-Identifier: Apache-2.0
//
// Requests in the order they arrive: drawn from distributions, or read from a trace
// (workloads/traffic/request_traces.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/units/quantity.hpp"
#include "workloads/traffic/arrivals.hpp"
#include "workloads/traffic/lengths.hpp"

namespace roofcast::workloads {

struct Request {
  base::Seconds arrival;
  std::int64_t input_tokens = 0;
  std::int64_t output_tokens = 0;
  std::int64_t priority = 0;  // the greater goes first, where a scheduler heeds it
  std::int32_t session = -1;  // requests of one conversation share it; -1: of none
  std::int32_t task =
      -1;  // sessions of one task share it (workloads/traffic/agents.hpp); -1: of none
  std::uint32_t block_count = 0;  // of its prompt, in Requests::blocks; 0: not known
  std::size_t first_block = 0;
};

// A request that is sent when those that it follows are answered, each some time ago.
struct FollowUp {
  std::int32_t after = 0;
  std::int32_t request = 0;
  base::Seconds delay;
};

// What takes a time that varies: lognormal, `cv` its coefficient of variation.
struct Duration {
  base::Seconds time;
  double cv = 0.0;
  base::Seconds draw(base::Random& random) const {
    return time.si() > 0.0 ? base::Seconds::from_si(random.lognormal(time.si(), cv)) : time;
  }
};

// What every request passes before it is sent to a server of answers: first come, first served.
struct Stage {
  Duration service;
  std::int64_t servers = 1;
};

struct Requests {
  std::vector<Request> requests;  // by arrival
  // Hashes of the blocks of prompts. Equal hashes mean equal blocks after equal blocks, so what two
  // requests can share are the hashes that they have in common from the start.
  std::vector<std::uint64_t> blocks;
  std::int64_t block_tokens = 0;     // of every block but a prompt's last
  bool blocks_have_answers = false;  // blocks go on in the answer, which later prompts repeat
  std::vector<FollowUp> follow_ups;  // by `after`; what follows has no arrival of its own
  std::vector<Stage> stages;         // one after the other
  std::uint64_t seed = 0;            // of what stages and thinking take
  Duration think;  // of a client in a closed loop, before the next that follows none

  std::span<const std::uint64_t> blocks_of(const Request& request) const {
    return std::span(blocks).subspan(request.first_block, request.block_count);
  }
};

// Arrivals, inputs and outputs have a stream of chance each: another rate meets the same lengths.
Requests draw_requests(const Arrivals& arrivals, const Lengths& input, const Lengths& output,
                       std::size_t count, std::uint64_t seed);
// Pairs of input and output from a trace, drawn with replacement, without sessions and blocks. A
// trace without requests is a std::logic_error.
Requests draw_requests(const Arrivals& arrivals, const Requests& trace, std::size_t count,
                       std::uint64_t seed);

}  // namespace roofcast::workloads
