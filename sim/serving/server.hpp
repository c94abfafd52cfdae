// SPDX-License-Identifier: Apache-2.0
//
// One replica of a server in the long run: what estimates of it share, however its requests are followed
// (sim/serving/lockstep.hpp, sim/serving/sampled_loop.hpp). From the rate, the latencies and the batches that these find
// come power, intervals, bounds and attainment.
//
//   symbol   meaning                                                                            unit
//   D        sequences that decode in a replica                                                 –
//   n        slots: sequences that run at once                                                  –
//   O        decode iterations of an answer                                                     –
//
// Slots. A sequence holds the mean of what it stores and what is reserved for it: input + O·(1+f²)/2 tokens, where f is
// the reserved share of the answer. Answers weigh by their length.
#pragma once

#include "base/queueing/iteration_server.hpp"
#include "sim/iteration/iteration_costs.hpp"
#include "sim/result/steady_state.hpp"
#include "sim/serving/latency_mixture.hpp"

namespace roofcast::sim {

// Tokens of KV cache that a running sequence holds or reserves, a mean over time.
double held_tokens(const ScenarioView& scenario);
// Such sequences that a cache of one rank holds.
double sequences_in(base::Bytes cache, const ScenarioView& scenario);

// Share of the requests that meet every objective of their class. TTFT and TPOT are taken as independent, and as the same in
// all classes. NaN without objectives.
double attainment_of(const workloads::RequestClasses& classes, const LatencyMixture& ttft,
                     const LatencyMixture& tpot, base::Seconds decoding);

// Means and percentiles of a state, and the tokens of an iteration.
void report_latencies(const ScenarioView& scenario, const LatencyMixture& ttft,
                      const LatencyMixture& tpot, SteadyState& r);

// Mean power of one GPU of replicas that answer so many requests with so many decodes, in iterations like these of `r`.
base::Watts power_of(const ScenarioView& scenario, const SteadyState& r, Workspace& workspace);

class Server {
 protected:
  // `slots` is the number of sequences that the KV cache of one attention-DP rank holds, at least 1.
  Server(const ScenarioView& scenario, double slots, Workspace& workspace);

  double micro(double decodes) const;  // decodes of a micro-batch of one rank
  // The most requests a second of a replica like these: of an overload, and of the front end.
  base::Hertz saturation(const base::queueing::IterationServer& servers) const;

  // The solution of a replica. Means over requests.
  struct Solution {
    base::Hertz rate;
    double present = 0;      // D
    double running = 0;      // sequences with a slot
    base::Seconds slot;      // wait for a slot
    base::Seconds waits;     // for other prompts
    base::Seconds first;     // this wait, the iterations of the prompt, and then the front end
    base::Seconds sending;   // of this, the front end
    base::Seconds interval;  // between decodes
    double share = 0;        // of the iterations, with prompts
  };
  void report(const Solution& found, const LatencyMixture& ttft, const LatencyMixture& tpot,
              SteadyState& r);

  base::Seconds intake() const;    // of a request
  base::Seconds messages() const;  // of the tokens of one answer
  base::Seconds message_time() const;

  const ScenarioView& s_;
  Workspace& workspace_;
  IterationCosts costs_;
  double replicas_;     // that clients use
  double front_share_;  // of a replica's requests and tokens, that one process of its front end has
  double ranks_;
  double stages_;
  double slots_;    // n
  double decodes_;  // O
  // In a closed loop:
  double clients_ = 0;  // C, clients of one replica
  double running_ = 0;  // the most of them that have a slot

 private:
  void report_iterations(const Solution& found, SteadyState& r);
};

}  // namespace roofcast::sim
