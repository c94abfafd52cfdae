// SPDX-License-Identifier: Apache-2.0
//
// Requests of a scenario that are followed one by one (base/queueing/iteration_servers.hpp), and what became of them.
//
//   open loop     n requests are counted. It starts with D sequences that decode, whose answers are as long as a running
//                 one's and partly done. As many as D of the same requests come before and after those that count, as if the
//                 sample were repeated: its load is exact. Of two phases, n has six cycles, up to four times as many
//                 requests as usual; where they have more, phases are shorter
//   closed loop   It starts with all clients at once, as a simulation does. The first two requests of each do not count,
//                 nor does the last
//   overload      all requests wait at the scheduler of one replica from the start, where sequences decode as in an open loop.
//                 The later half counts, from the begin of its first prompt to that of its last
//   answers       With speculative decoding an answer of x tokens takes I(x) iterations on average, with a variance of
//                 I·Var(X)/E[X]² (workloads/serving/speculation.hpp): normal, and rounded
//   priorities    drawn with the shares of the classes, where the scheduler has any
//
// The same scenario gives the same requests. Those that arrive are drawn by themselves: other hardware has another number
// that runs at the start, and meets the same arrivals. In a scan (ScenarioView::scans) an eighth of the requests are
// followed.
//
//   symbol   meaning                                                                            unit
//   n        requests that are followed and counted                                             –
//   D        sequences that decode                                                              –
//   X        tokens of an iteration                                                             –
#pragma once

#include <algorithm>
#include <limits>
#include <span>

#include "base/queueing/iteration_servers.hpp"
#include "sim/scenario/scenario.hpp"
#include "sim/serving/latency_mixture.hpp"

namespace roofcast::sim {

// What became of the requests that count.
struct FollowedSample {
  base::queueing::IterationPath path;
  LatencyMixture ttft;
  LatencyMixture tpot;
  // Means:
  base::Seconds pause;  // of clients, before it
  base::Seconds stay;
  base::Seconds decoding;
  base::Seconds holding;  // of a slot
  base::Seconds slot;     // wait for it
  base::Seconds waits;    // for other prompts
  base::Seconds first;    // these waits, and the iterations of the prompt
  base::Seconds
      handed;  // from the prompt's end to the first token: the front end, or the second pool
  base::Seconds held_up;  // of `decoding`, by the front end
  double attainment = std::numeric_limits<double>::quiet_NaN();
  double error = 0.0;        // standard error of `decoding`, over it; 0 of few requests
  double first_error = 0.0;  // of TTFT
  // Mean stay of the later half of the requests, less twice that of the earlier one.
  base::Seconds later;
  // Mean TTFT of the earlier half, less kSpreads times that of the later one: clients that began together still spread.
  base::Seconds spreads;

  double held_share() const {  // of the time between tokens, by the front end
    return decoding > base::Seconds{} ? std::max(0.0, held_up / decoding) : 0.0;
  }
};

// Requests of an open loop that count, of which the servers get this share.
std::size_t open_count(const ScenarioView& scenario, double share);

// n of them. So many sequences run at the start.
FollowedSample open_sample(const base::queueing::IterationPools& pools,
                           const ScenarioView& scenario, double share, double running,
                           std::size_t n);

// `running`: clients whose requests run at the start. Clients pause before each request for one of these times.
FollowedSample closed_sample(const base::queueing::IterationPools& pools,
                             const ScenarioView& scenario, std::size_t clients, std::size_t running,
                             std::span<const base::Seconds> pauses = {});

// Requests a second that a replica like `server` serves, without its front end, where others always wait. So many sequences
// run at the start.
base::Hertz overloaded_rate(const base::queueing::IterationServer& server,
                            const ScenarioView& scenario, double running);

}  // namespace roofcast::sim
