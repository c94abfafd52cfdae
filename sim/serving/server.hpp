// SPDX-License-Identifier: Apache-2.0
//
// One replica of a server under random traffic: the part that open_loop.hpp and closed_loop.hpp share.
//
// Given D sequences that decode, iterations follow each other as batches of prompt units
// (base/queueing/batch_queue.hpp). That gives the time between decodes C(D), the time to the first token, and their
// variances. They are calculated at a few D and are linear between these.
//
//   TTFT   request overhead + intake + wait for the front end + wait for a slot + batches + messages
//   TPOT   C(D) + prefill interference / decodes of the answer
//
//   symbol   meaning                                                                            unit
//   D        sequences that decode in a replica                                                 –
//   C(D)     mean time between decodes of a sequence                                            s
//   n        slots: sequences that run at once                                                  –
//   O        decode iterations of an answer                                                     –
//   X        units of a prompt (sim/iteration/iteration_costs.hpp)                                –
//
// Slots. A sequence holds the mean of what it stores and what is reserved for it: input + O·(1+f²)/2 tokens, where f is
// the reserved share of the answer. Answers weigh by their length.
#pragma once

#include <array>
#include <map>
#include <vector>

#include "sim/iteration/iteration_costs.hpp"
#include "sim/result/steady_state.hpp"
#include "sim/serving/front_end_load.hpp"
#include "sim/serving/latency_mixture.hpp"
#include "workloads/traffic/arrivals.hpp"

namespace roofcast::sim {

// Tokens of KV cache that a running sequence holds or reserves, a mean over time.
double held_tokens(const ScenarioView& scenario);

// Iterations with a given number of decodes.
struct ServerState {
  base::Seconds interval;        // C(D)
  base::SquareSeconds variance;  // of the time between two decodes
  double persistence = 0;        // correlation of an iteration with the next
  // By how much prompts behind its own slow the first decodes of a request: the first, the first two, …
  std::array<base::Seconds, base::queueing::BatchQueueStates::kGaps> interference{};
  base::Seconds iteration;  // mean
  double share = 0;         // of the iterations, with prompts
  base::Seconds first;      // from the scheduler's queue to the end of the first token's iteration
  base::SquareSeconds first_square;
  base::Seconds waits;  // the part of it before the prompt's first iteration
  base::Seconds least;  // of a prompt alone
  bool stable = true;   // iterations take the prompts that arrive
};

class Server {
 protected:
  // `slots` is the number of sequences that the KV cache of one attention-DP rank holds, at least 1.
  Server(const ScenarioView& scenario, double slots, Workspace& workspace);

  // What arrives at a replica.
  struct Load {
    base::Hertz rate = {};
    workloads::Burstiness bursts = {};
    // A closed loop, without a rate: requests per iteration with decodes; from its end to the next prompt.
    bool closed = false;
    double per_iteration = 0;
    base::Seconds delay = {};
  };
  // How much of it is calculated: the decodes, the mean of the first token too, or its variance too.
  enum class Detail { decodes, means, all };
  ServerState state(double decodes, const Load& load, Detail detail = Detail::all);

  double micro(double decodes) const;          // decodes of a micro-batch of one rank
  double slots_for_decodes(base::Hertz rate);  // n − λ · own time of a prompt
  base::Hertz saturation();                    // of a replica (sim/serving/saturation.hpp)
  // Mean over answers.
  base::Seconds interference(const ServerState& state) const;

  // A prompt that must not be cut waits for an iteration with enough tokens left, until enough decodes have ended. All
  // requests behind it wait too. `clients`: requests of a closed loop.
  struct Blocking {
    base::Seconds wait;  // mean over requests
    double chance = 0;   // probability that a request waits
  };
  Blocking blocking(base::Hertz rate, double present, base::Seconds decoding, bool clients) const;

  // The solution of a replica.
  struct Solution {
    base::Hertz rate;
    double present = 0;   // D, mean
    double running = 0;   // sequences with a slot
    base::Seconds slot;   // mean wait for a slot
    base::Seconds front;  // wait for the front end
    ServerState mean;     // iterations, means over requests
    LatencyMixture
        first;  // from the scheduler's queue to the first token, with the wait for a slot
    base::SquareSeconds interval_variance;  // of C(D) over requests
  };
  static void add_blocking(Solution& found, const Blocking& blocking);
  void report(Solution& found, SteadyState& r);
  // The same with distributions of TTFT and TPOT.
  void report(const Solution& found, const LatencyMixture& ttft, const LatencyMixture& tpot,
              SteadyState& r);

  FrontEndLoad front_end(base::Hertz rate, double present) const;
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
  // An answer of so many decodes, and its probability.
  struct Answer {
    double decodes = 0;
    double weight = 1;
  };
  static base::Seconds interference(const ServerState& state, double decodes);
  static double usual_prompts(const PromptIterations& prompts, const Load& load);
  base::Seconds own(double decodes);
  void report_iterations(const Solution& found, SteadyState& r);
  double attainment(const Solution& found, const LatencyMixture& ttft,
                    const LatencyMixture& tpot) const;

  std::vector<Answer> answers_;
};

}  // namespace roofcast::sim
