// SPDX-License-Identifier: Apache-2.0
//
// Sequences of iterations while prompts arrive, and what a request meets of them.
//
// An iteration carries the prompts that arrived during the iteration before it:
//
//   π = p / (p + q),   p = 1 − z(t),   q = z(a)
//   a = t + e·((1−π)·Φ(t) + π·Φ(a)) / π
//   C = (1−π)·t + π·a
//
//   symbol   meaning                                                                            unit
//   t        iteration without prompts                                                          s
//   a        mean iteration with prompts                                                        s
//   C        mean iteration                                                                     s
//   e        time that one prompt adds to an iteration (`extra`)                                s
//   φ(k)     time that k prompts add to one iteration, over e (sim/serving/iteration_costs.hpp) –
//   λ        arrival rate                                                                       1/s
//   L        length of an iteration                                                             s
//   z(L)     probability that no request arrives in a time L                                    –
//   Φ(L)     E[φ] of the requests that arrive in a time L                                       –
//   π        share of iterations with prompts                                                   –
//   p, q     probability that prompts follow an iteration without prompts; that none follow
//            an iteration with prompts                                                          –
//   S        least time between requests that the front end lets through                        s
//   d        time from the end of an iteration to the next prompt of a client                   s
//   r        λC, requests that the end of an iteration lets clients send                        –
//
// Arrivals. z(L) is e^(−λL) for Poisson arrivals. The front end lets requests through one by one, S apart. z(L) is then
// the probability that the rest of a gap between two departures of an M/D/1 queue is longer than L:
//
//   z(L) = 1 − λL  for L < S,   otherwise (1 − λS)·e^(−λ(L−S))
//
// Prompts first. With a scheduler that runs prompts first, iterations of prompts follow an iteration of decodes until
// no request arrives during one. C is then the time from one iteration of decodes to the next.
//
// Launches. If the host's launches set a least time for iterations with prompts, φ is flat, and π is far below what the
// mean number of prompts suggests: long iterations follow long ones.
//
// Clients. A client sends its next request at the end of an iteration, and the scheduler has it a time d later. If an
// iteration with prompts is longer than d, prompts form clusters. The first iteration of a cluster has the requests of
// one end. The second gathers the requests of the d/t iterations before it, and those of the first one's beginning if
// that carried decodes. Then no prompt arrives for d/t iterations. After 1/(1 − e^(−r)) more, the next cluster begins.
// If the longest iteration is between d/2 and d, results are mixed from both pictures.
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "sim/serving/iteration_costs.hpp"

namespace roofcast::sim {

struct MeanIteration {
  double mean = 0;           // s, C: time of a micro-batch on the slowest stage
  double interval = 0;       // s, between the decodes of a sequence
  double length_biased = 0;  // s, E[C²]/E[C]: the iteration into which an arrival falls
  double rest = 0;           // s, what is left of that iteration when a request arrives
  double others = 0;         // other prompts in the first iteration of a request
  double share = 0;          // π, share of iterations with prompts
  // s, by which the decodes of a request take longer because of requests that arrived during its prompt.
  double prefill_interference = 0;
  // s, mean over requests of the same per decode of the request.
  double mean_prefill_interference = 0;
};

class IterationCycles {
 public:
  static constexpr double kByThemselves = std::numeric_limits<double>::infinity();

  IterationCycles(const ScenarioView& scenario, IterationCosts& costs,
                  const workloads::Burstiness& bursts);

  // Sequences of one micro-batch of a rank, and micro-batches in flight, while `present` sequences of all ranks decode.
  double micro(double present) const;
  double in_flight(double present) const;

  // E[1 / decodes of an answer], a mean over requests.
  double inverse_decodes() const;

  // The mean iteration while requests arrive at `rate` (λ) and `present` sequences decode; not for 0. `client_delay` is
  // d of a closed loop.
  MeanIteration at(double present, double rate, const PromptTimes& prompts,
                   double client_delay = kByThemselves);
  // s, from the scheduler's queue to the first token, without a wait for a slot; and its variance in s². `present`
  // sequences decode.
  double first_token(double present, double rate, const PromptTimes& prompts,
                     const MeanIteration& iteration);
  double first_token_variance(double present, double rate, const PromptTimes& prompts,
                              const MeanIteration& iteration);

 private:
  struct Cycle {
    const PromptTimes& prompts;
    const PromptGroup& prompt_group;
    double rate;
    double decode;  // s, t
  };
  // Iterations of prompts, one after the other.
  struct Chain {
    double time = 0;    // s, of all of them
    double square = 0;  // s², sum of their squares
  };
  // z and Φ of this many seconds.
  double none(const Cycle& cycle, double seconds) const;
  double adds(const Cycle& cycle, double seconds) const;
  Chain chain(const Cycle& cycle, double first) const;
  void mixed(const Cycle& cycle, MeanIteration& iteration) const;
  void prompts_first(const Cycle& cycle, MeanIteration& iteration) const;
  MeanIteration clustered(const Cycle& cycle, double client_delay) const;
  void add_interference(const Cycle& cycle, MeanIteration& iteration) const;
  double unevenness(double rate, double seconds, double slope) const;

  IterationCosts& costs_;
  workloads::Burstiness bursts_;
  double ranks_;
  double stages_;
  double spacing_;  // s, S
  struct Answer {
    double decodes;
    double weight;
  };
  std::vector<Answer> answers_;  // those of more than one token
};

}  // namespace roofcast::sim
