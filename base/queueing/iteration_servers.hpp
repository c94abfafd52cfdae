// SPDX-License-Identifier: Apache-2.0
//
// Servers that work in iterations, followed request by request: no formula, but the sample path of given requests.
//
// An iteration of a server gives every sequence that decodes a token, or a few where it predicts, and computes tokens of
// prompts. A prompt whose tokens are computed decodes from then on. What comes while an iteration runs waits for the next.
//
//   T(D, N, A, S)   time of an iteration: D sequences decode, S prompts compute N tokens that attend to A pairs
//   g(D) · (C − c)  is added where S = 0: sequences hold C tokens on average, and c in T. Each stage of a pipeline has an
//                   equal part of it
//
// Without g, iterations are exactly alike, and where a request comes back after a whole number of them, chance decides
// for all whether it meets the one or the next. A pipeline would never leave the groups that its start made.
//
// A server may have ranks, each with a cache of its own. Their iterations begin and end together, and T is that of all. A
// request goes to the rank with the fewest sequences that has room.
//
// With a pipeline of m stages a server has m micro-batches. They take turns: one begins when the first stage is free, a
// period after the one before, and its tokens are there after the latency of all stages. They share places, cache and what
// waits.
//
//   admission   first come, first served, or by priority, until the budget, the sequences or the cache are full
//   cache       a sequence holds its tokens, and is promised those of its prompt and a share of its answer. Who finds no
//               room for the next token takes that of the sequence that was admitted last, which waits in front
//   front end   takes requests in and sends tokens, one after the other
//   requests    come at their times, or from clients that send the next one when they have an answer. Each goes to the
//               server with the fewest, or to the next
//
// Iterations without prompts that follow each other alike are taken at once, up to the next end of an answer or the next
// request. So a request costs a few steps, however long its answer is.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/queueing/iteration_server.hpp"

namespace roofcast::base::queueing {

// One pool of servers; or two, of which the second has the sequences that decode. What the first has computed for one
// goes there over a link of its server, one after the other, and takes room in the first until it has a place in the
// second.
struct IterationPools {
  IterationServer first;
  std::optional<IterationServer> second = {};
  Seconds link;        // for a sequence
  Seconds link_token;  // and for each of its tokens
};

struct IterationRequest {
  Seconds
      arrival;  // of an open loop; in a closed one, how long its client waits before it sends it
  std::int64_t input = 1;     // tokens
  std::int64_t cached = 0;    // of these, computed before
  std::int64_t output = 1;    // the first token, and the decodes
  std::int64_t begun = 0;     // of these, that are done at the start: it decodes from time 0 on
  std::int32_t priority = 0;  // the greater one first, where the servers have priorities
};

// What became of a request.
struct IterationOutcome {
  Seconds arrival;
  Seconds queued;     // a server has it
  Seconds scheduled;  // its first iteration begins
  Seconds place;      // of its wait, for a place or for cache
  Seconds computed;   // its prompt is
  Seconds first;      // it has its first token
  Seconds last;
  Seconds held_up;  // of the time from the first token to the last, by the front end
};

struct IterationPath {
  std::vector<IterationOutcome> outcomes;  // as the requests
  // Of iterations after the first counted request has come:
  double mixed = 0;     // share of them that have prompts
  double together = 0;  // prompts that are computed in one of these, on all ranks
};

// `clients` > 0: a closed loop of so many; those that have not begun send at time 0. Requests before `first` fill the
// servers and are not counted.
IterationPath follow(const IterationPools& pools, const std::vector<IterationRequest>& requests,
                     std::int64_t clients, std::size_t first);

}  // namespace roofcast::base::queueing
