// SPDX-License-Identifier: Apache-2.0
//
// Passes as they follow each other while prompts come, and what a request meets of them.
//
// A pass is without prompts, t, or with some, a on average; a prompt adds e to it and k prompts e·φ(k)
// (sim/serving/iteration_costs.hpp). Those of a pass came during the one before: nobody with probability z(L) for a length L,
// e^(−λL) or, since a front end lets requests out one by one, S apart, that of the rest of a gap after M/D/1;
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

struct Pass {
  double mean = 0;      // s, of a micro-batch on the slowest stage
  double interval = 0;  // s, between a sequence's tokens
  double seen = 0;      // s, E[C²]/E[C]: the pass that an arrival falls into
  double rest = 0;      // s, of that pass when a request comes
  double others = 0;    // prompts that share a request's first pass
  double share = 0;     // of passes, with prompts
  double met = 0;       // s, that a request's decodes take longer for what came during its prompt
  double met_each = 0;  // s, by its decodes: of requests, not of tokens
};

class PassRounds {
 public:
  static constexpr double kByThemselves = std::numeric_limits<double>::infinity();

  PassRounds(const ScenarioView& scenario, PassCosts& costs, const workloads::Burstiness& bursts);

  // Sequences of one micro-batch of a rank, and micro-batches in flight, while `present` of all ranks decode.
  double micro(double present) const;
  double in_flight(double present) const;

  // Mean of one over the decodes of an answer, of requests.
  double inverse_decodes() const;

  // While requests arrive at `rate`; `present` is not 0. `lag`: of clients, from the end of a pass to the prompt that
  // it lets them send.
  Pass at(double present, double rate, const PromptTimes& prompts, double lag = kByThemselves);
  // From the scheduler's queue to the first token, without a wait for a slot, at `present` decodes; and its variance, s².
  double first_token(double present, double rate, const PromptTimes& prompts, const Pass& pass);
  double first_token_variance(double present, double rate, const PromptTimes& prompts,
                              const Pass& pass);

 private:
  struct Round {
    const PromptTimes& prompts;
    const PromptCrowd& crowd;
    double rate;
    double decode;  // t
  };
  struct Chain {  // passes of prompts, one after the other
    double time = 0;
    double square = 0;
  };
  // Probability that nothing comes in so many seconds, and what comes adds, in units of e.
  double none(const Round& round, double seconds) const;
  double adds(const Round& round, double seconds) const;
  Chain chain(const Round& round, double first) const;
  void mixed(const Round& round, Pass& pass) const;
  void prompts_first(const Round& round, Pass& pass) const;
  Pass clustered(const Round& round, double lag) const;
  void meet(const Round& round, Pass& pass) const;
  double unevenness(double rate, double seconds, double slope) const;

  PassCosts& costs_;
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
