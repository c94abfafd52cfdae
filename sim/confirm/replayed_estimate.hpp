// SPDX-License-Identifier: Apache-2.0
//
// An estimate whose times and rates are those of a simulation (sim/replay/simulate.hpp).
//
// simulated     TTFT, TPOT and end to end with their percentiles, attainment, requests and tokens per second, decode
//               batch, memory, tasks of agents, and the cost and energy per token that follow from the rate
// estimate      everything else: power, bounds, the relative width of 90 % intervals
//
// What is counted. The start, in which requests find an empty server, is left out: the first tenth, and at least two
// requests (of agents: tasks) of each client. Clients of two pools whose requests are all alike start together, and it takes
// some twenty requests of each until they have spread: two thirds are left out. So is the end, in which clients have no more to send: one request of each
// client. A trace is counted whole. Of an open loop, the start is at least the time in which 3 λS requests arrive, and the
// end that of λS:
//
//   S = R (1 + c²)   mean stay of what is in progress, where long stays weigh more    s
//   R                mean end to end of the estimate; of agents, the time of a task   s
//   c                coefficient of variation of the tokens of an answer; of agents, of the turns of a task
//   λ                rate of the requests; of agents, of the tasks                    1/s
//
// Arrivals. The drawn gaps of a poisson or gamma process are scaled so that what is counted arrives at the rate of the
// traffic. Where answers keep up with arrivals, throughput, cost and energy are of that rate, and have no standard error:
// the requests in flight do not grow by more than three standard deviations. Else they are of the answers, as in a trace.
//
// How long. A run of an open loop has 4,000 requests, and at least 20 λS. Where the limits of the plan do not last for
// 10 λS, nothing is replayed. A run of a closed loop has 14 requests of each client and at least 400. The
// counted requests are split into 10 batches, in the order of arrival. The standard error of a metric is that of the
// mean of its values in the batches (A. M. Law, Simulation Modeling and Analysis, 5th ed., 9.5.3). Batches are taken to
// be independent. The run is repeated with more requests until the error of each asked metric is at most `error` of its
// value (of attainment 0.005, of goodput 0.5 %), or until a limit of the plan. The limits count work, not seconds, so
// the result is the same on every machine. Clients whose requests are all alike need 8 of each client and at least 100,
// once: nothing is drawn, so there is no standard error. In two pools they need 31 of each.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sim/iteration/replica_iterations.hpp"
#include "sim/result/metrics.hpp"
#include "workloads/traffic/request_stream.hpp"

namespace roofcast::sim {

struct ReplayPlan {
  std::vector<const Metric*> targets;
  double error = 0.03;
  std::int64_t most_requests = 50'000;
  double most_tokens = 6e7;  // of the answers of a run; about a second of one core
  bool once = false;         // one run, whatever its standard errors
  std::int64_t seed = 0;     // added to that of the traffic
};

struct Replayed {
  ServingEstimate closed_form;           // the estimate
  ServingEstimate estimate;              // with what is simulated, unless `why_not` has a reason
  std::vector<double> class_attainment;  // of several classes with objectives
  std::string why_not;                   // why nothing was replayed
  std::size_t requests = 0;              // that are counted
  std::vector<std::pair<const Metric*, double>> errors;  // standard error of each asked metric
  // Share of the arrivals of an open loop that is not answered meanwhile; 0 where it is small or may be chance.
  double behind = 0.0;

  bool done() const { return why_not.empty(); }
  bool is_steady() const;
  std::string not_steady() const;            // in words; empty if it is steady
  double error(const Metric& metric) const;  // 0 if it was not asked
};

// Whether a replay has values of its own of a metric.
bool is_simulated(const Metric& metric);

// What one thread uses again from replay to replay.
struct ReplaySpace {
  Workspace workspace;
  KeptIterations iterations;
};

// At most so many requests are in a run of a replay, but for a trace, which is replayed whole.
double most_requests(const workloads::Traffic& traffic, const ReplayPlan& plan);

// `closed_form` is the estimate of the scenario, `stream` its traffic. What the scenario points to outlives `space`.
Replayed replay(const ScenarioView& scenario, const workloads::RequestStream& stream,
                const ServingEstimate& closed_form, const ReplayPlan& plan, ReplaySpace& space);

}  // namespace roofcast::sim
