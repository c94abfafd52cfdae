// SPDX-License-Identifier: Apache-2.0
//
// What steady states of open loops and of clients whose requests vary have in common: what passes cost, how they
// follow each other, slots, the front end, and how means and variances become a SteadyState.
#pragma once

#include "sim/result/steady_state.hpp"
#include "sim/serving/front_end_load.hpp"
#include "sim/serving/iteration_cycles.hpp"

namespace roofcast::sim {

class RandomTraffic {
 protected:
  // `slots` as of uniform_closed_loop(). What `scenario` points to and `workspace` outlive it.
  RandomTraffic(const ScenarioView& scenario, double slots, const workloads::Burstiness& bursts,
                Workspace& workspace);

  // What a solver finds of one replica, in seconds.
  struct Solution {
    double rate = 0;               // requests per second
    double present = 0;            // sequences that decode
    double tpot = 0;               // between a request's decodes, mean of requests
    double interval_variance = 0;  // s², of the time between tokens by how many decode
    double front_wait = 0;         // for the front end
    double front_waits = 0;        // probability of that
    double shown = 0;              // from a first token to the client
    double slot = 0;               // wait for a slot
    double slot_waits = 0;         // probability of that
    double first = 0;              // from the scheduler's queue to the first token, with a slot
    double first_variance = 0;     // s²
  };
  // Everything but `saturation`, `utilisation`, `end_to_end` and what limits throughput.
  void report(const Solution& found, SteadyState& r);

  double micro(double present) const { return cycles_.micro(present); }
  // The largest rate of a replica: all slots taken.
  double saturation();
  // A prompt that is not cut waits for a pass that holds it, and everybody behind it, too: until so many of those that
  // decode are done. Mean of a request, s, and its probability, of arrivals or of clients.
  struct Blocking {
    double wait = 0;
    double chance = 0;
  };
  Blocking blocking(double rate, double present, double decoding, bool clients) const;
  FrontEndLoad front_end_load(double rate, double present) const;
  // From the end of a pass to the first tokens of it at the clients.
  double shown(const FrontEndLoad& front_end) const;
  base::Seconds intake_time() const;     // of the front end, for a request
  base::Seconds front_end_time() const;  // for a request and its answer; it serves all replicas

  const ScenarioView& s_;
  Workspace& workspace_;
  IterationCosts costs_;
  IterationCycles cycles_;
  double replicas_;
  double ranks_;
  double stages_;
  double slots_;    // of a replica
  double decodes_;  // decode iterations of a request
  double input_scv_;
  double output_scv_;

 private:
  bool serves(double rate, const PromptTimes& prompts);
  double message_time() const;
  void report_iterations(const Solution& found, SteadyState& r);
};

}  // namespace roofcast::sim
