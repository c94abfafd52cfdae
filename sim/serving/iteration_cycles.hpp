// SPDX-License-Identifier: Apache-2.0
//
// Passes as they follow each other while prompts come, and what a request meets of them.
//
// A pass is without prompts, t, or with some, a on average; a prompt adds e to it and k prompts e·φ(k)
// (sim/serving/iteration_costs.hpp). Those of a pass came during the one before: nobody with probability z(L) for a
// length L, e^(−λL) or, since a front end lets requests out one by one, S apart, that of the rest of a gap after M/D/1;
// Φ(L) = E φ of what comes.
//
//   share     π = p/(p + q), p = 1 − z(t), q = z(a)
//   a         t + e·((1−π)·Φ(t) + π·Φ(a))/π
//   mean      C = (1−π)·t + π·a
//
// Where prompts run first a pass of decodes is followed by passes of prompts until one meets no arrival; C is
// from one pass of decodes to the next. Where launches set a least time to passes with prompts, φ is
// flat and π far below what the mean number of prompts would say: long passes follow long ones.
//
// Clients send at the end of a pass, and are seen a delay d later. A pass of prompts longer than that begins with those
// of one end, r = λC; it gathers the ends of the d/t passes before it (and its own beginning, where decodes are
// beside); then none comes for d/t passes, and after 1/(1 − e^(−r)) more the next cluster begins. Between d/2 and d
// the two are mixed.
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "sim/serving/iteration_costs.hpp"

namespace roofcast::sim {

struct MeanIteration {
  double mean = 0;           // s, of a micro-batch on the slowest stage
  double interval = 0;       // s, between a sequence's tokens
  double length_biased = 0;  // s, E[C²]/E[C]: the pass that an arrival falls into
  double rest = 0;           // s, of that pass when a request comes
  double others = 0;         // prompts that share a request's first pass
  double share = 0;          // of passes, with prompts
  double prefill_interference =
      0;  // s, that a request's decodes take longer for what came during its prompt
  double mean_prefill_interference = 0;  // s, by its decodes: of requests, not of tokens
};

class IterationCycles {
 public:
  static constexpr double kByThemselves = std::numeric_limits<double>::infinity();

  IterationCycles(const ScenarioView& scenario, IterationCosts& costs,
                  const workloads::Burstiness& bursts);

  // Sequences of one micro-batch of a rank, and micro-batches in flight, while `present` of all ranks decode.
  double micro(double present) const;
  double in_flight(double present) const;

  // Mean of one over the decodes of an answer, of requests.
  double inverse_decodes() const;

  // While requests arrive at `rate`; `present` is not 0. `lag`: of clients, from the end of a pass to the prompt that
  // it lets them send.
  MeanIteration at(double present, double rate, const PromptTimes& prompts,
                   double client_delay = kByThemselves);
  // From the scheduler's queue to the first token, without a wait for a slot, at `present` decodes; and its variance,
  // s².
  double first_token(double present, double rate, const PromptTimes& prompts,
                     const MeanIteration& iteration);
  double first_token_variance(double present, double rate, const PromptTimes& prompts,
                              const MeanIteration& iteration);

 private:
  struct Cycle {
    const PromptTimes& prompts;
    const PromptGroup& prompt_group;
    double rate;
    double decode;  // t
  };
  struct Chain {  // passes of prompts, one after the other
    double time = 0;
    double square = 0;
  };
  // Probability that nothing comes in so many seconds, and what comes adds, in units of e.
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
  double spacing_;  // s, between requests, by the front end
  struct Answer {
    double decodes;
    double weight;
  };
  std::vector<Answer> answers_;  // of more than one token
};

}  // namespace roofcast::sim
