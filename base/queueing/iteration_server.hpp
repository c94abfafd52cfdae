// SPDX-License-Identifier: Apache-2.0
//
// What a server is that works in iterations (base/queueing/iteration_servers.hpp).
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>

#include "base/units/quantity.hpp"

namespace roofcast::base::queueing {

// From its begin to its tokens, and to the begin of the next micro-batch: shorter where a pipeline has several stages.
struct IterationSpan {
  Seconds latency;
  Seconds period;
  // What a token that each sequence has beyond `context` adds to the latency, at least 0; of iterations without prompts.
  Seconds token = {};
};

// What a rank does in an iteration.
struct IterationBatch {
  std::int64_t decodes = 0;  // D, sequences
  double tokens = 0;         // N, of prompts
  double attended = 0;       // A, pairs of these and the tokens before them
  std::int64_t prompts = 0;  // S
};

struct IterationServer {
  std::function<IterationSpan(std::span<const IterationBatch> ranks)> time;  // T
  double context = 0;        // tokens of a sequence that T has
  std::int64_t servers = 1;  // alike
  std::int64_t stages = 1;   // of a pipeline: so many micro-batches take turns
  std::int64_t ranks = 1;  // each with a cache of its own; their iterations begin and end together
  bool in_turn = false;  // requests go to one server after another, not to the one with the fewest
  bool prompts_first = false;  // iterations with prompts have no decodes
  bool cuts = true;            // false: a prompt that fits in an iteration is not cut
  bool delayed_release =
      false;  // a sequence keeps its place for one iteration after its last token
  // Iterations are planned at the start of the one before: what comes meanwhile is in the one after. Without stages.
  bool plans_ahead = false;
  std::int64_t budget = 1;     // tokens of an iteration of a rank
  std::int64_t query = 1;      // of these, that a decode takes
  double gains = 1;            // tokens of its answer that a decode makes, on average
  std::int64_t sequences = 1;  // the most of a rank, in all micro-batches
  double cache = 1e18;         // tokens of a rank
  double each = 0;             // tokens' worth that a sequence takes in addition
  double shared = 0;           // tokens at the start of all sequences, which are not in `cache`
  // A sequence's tokens beyond `window` take so much of the cache as this share of tokens up to it: layers with a window
  // keep no more.
  double window = std::numeric_limits<double>::infinity();
  double beyond = 1.0;
  double promised = -1;  // share of the answer; below 0: the tokens of the first iteration alone
  // What a sequence that lost its place finds again: whole units of so many tokens, as far as nothing else needed their
  // room in the cache, or in the host's memory. 0: it computes all of its tokens again.
  double unit = 0;
  double host = 0;  // tokens' worth
  // The greatest priority first, then the one that came first. The least one loses its place, then the one that came last.
  bool by_priority = false;
  // Beside sequences that decode, requests are let in after so many iterations at the latest, until they fill this share of
  // all budgets; or until there is one for each rank.
  std::int64_t waits_for_more = 0;
  double enough = 0;
  std::int64_t waits_for_ranks = 0;
  // Iterations without prompts from one look for requests that came to the next. Without stages.
  std::int64_t looks_every = 1;
  std::int64_t front_ends = 1;  // of a server
  Seconds take;                 // of a front end for a request
  Seconds take_token;           // and for each token of it
  Seconds send;                 // for each token of an iteration
  Seconds ahead;                // from the front end to the server

  // Of the cache, by a sequence of so many tokens.
  double takes(double tokens) const { return each + room(std::max(tokens, shared)) - room(shared); }
  // By these tokens, without what a sequence takes in addition.
  double room(double tokens) const {
    return tokens - (1.0 - beyond) * std::max(0.0, tokens - window);
  }
};

}  // namespace roofcast::base::queueing
