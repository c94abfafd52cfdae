// SPDX-License-Identifier: Apache-2.0
//
// The common part of sim/serving/open_loop.hpp and sim/serving/closed_loop.hpp: costs of iterations, their sequence,
// slots, the front end, and the conversion of means and variances into a SteadyState.
//
//   saturation   the largest rate λ for which D decodes and their prompts find slots:
//                λ·(decodes·interval + m) ≤ n − λ·own, and the prompt tokens of an iteration fit in its budget
//   blocking     wait of a prompt that must not be cut: until it fits with the decodes in one iteration
//
//   symbol    meaning                                                                           unit
//   λ         requests per second of one replica                                                1/s
//   n         slots of one replica                                                              –
//   interval  time between decodes of a sequence with all slots taken                           s
//   m         prefill interference (sim/serving/iteration_cycles.hpp)                           s
//   own       time of a prompt in its slot (sim/serving/iteration_costs.hpp)                    s
#pragma once

#include "sim/result/steady_state.hpp"
#include "sim/serving/front_end_load.hpp"
#include "sim/serving/iteration_cycles.hpp"

namespace roofcast::sim {

class RandomTraffic {
 protected:
  // `slots` is as in uniform_closed_loop(). The targets of `scenario`, and `workspace`, must outlive it.
  RandomTraffic(const ScenarioView& scenario, double slots, const workloads::Burstiness& bursts,
                Workspace& workspace);

  // The solution for one replica.
  struct Solution {
    double rate = 0;               // 1/s, requests
    double present = 0;            // sequences that decode, mean
    double tpot = 0;               // s, between the decodes of a request, mean over requests
    double interval_variance = 0;  // s², variance of the same as the number of decodes changes
    double front_wait = 0;         // s, wait for the front end
    double front_waits = 0;        // probability of that wait
    double shown = 0;              // s, from the end of an iteration to a client's first token
    double slot = 0;               // s, wait for a slot
    double slot_waits = 0;         // probability of that wait
    double first = 0;              // s, from the scheduler's queue to the first token, with a slot
    double first_variance = 0;     // s², its variance
  };
  // Sets all of `r` except `saturation`, `utilisation`, `end_to_end` and `throughput_limit`.
  void report(const Solution& found, SteadyState& r);

  double micro(double present) const { return cycles_.micro(present); }
  // 1/s, the largest rate of a replica: all slots are taken.
  double saturation();
  // A prompt that must not be cut waits for an iteration with enough tokens left, until enough decodes have ended. All
  // requests behind it wait too. `clients`: requests of a closed loop.
  struct Blocking {
    double wait = 0;    // s, mean over requests
    double chance = 0;  // probability that a request waits
  };
  Blocking blocking(double rate, double present, double decoding, bool clients) const;
  FrontEndLoad front_end_load(double rate, double present) const;
  // s, from the end of an iteration until clients have its first tokens.
  double shown(const FrontEndLoad& front_end) const;
  // Time of the front end for a request; for a request and its answer. One front end serves all replicas.
  base::Seconds intake_time() const;
  base::Seconds front_end_time() const;

  const ScenarioView& s_;
  Workspace& workspace_;
  IterationCosts costs_;
  IterationCycles cycles_;
  double replicas_;
  double ranks_;
  double stages_;
  double slots_;       // of one replica
  double decodes_;     // decode iterations of a request
  double input_scv_;   // squared coefficient of variation of the input lengths
  double output_scv_;  // the same of the answers

 private:
  bool serves(double rate, const PromptTimes& prompts);
  double message_time() const;
  void report_iterations(const Solution& found, SteadyState& r);
};

}  // namespace roofcast::sim
