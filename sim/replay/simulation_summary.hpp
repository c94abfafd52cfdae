// SPDX-License-Identifier: Apache-2.0
//
// Summary of a simulation: percentiles, throughput, and the share of requests that meet their objectives.
//
// Percentiles are interpolated between the two nearest requests. The 95 % interval of a mean is Student's, over the
// means of 20 batches of requests in the order of arrival (A. M. Law, Simulation Modeling and Analysis, 5th ed.,
// 9.5.3). With an autocorrelation r between neighbours, these count as 20·(1 − r)/(1 + r) independent means
// (G. V. Bayley, J. M. Hammersley, J. R. Stat. Soc. 8, 1946), at least 3; r is not below 0, and without its bias of
// −(1 + 3r)/20 (M. G. Kendall, Biometrika 41, 1954). The interval is NaN below 40 requests.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "sim/replay/simulate.hpp"
#include "workloads/traffic/request_classes.hpp"

namespace roofcast::sim {

struct SimulatedTimes {
  base::Seconds mean;
  base::Seconds interval;  // the 95 % interval is mean ± interval
  base::Seconds p50;
  base::Seconds p90;
  base::Seconds p95;
  base::Seconds p99;
};

// `values` are in the order of arrival. NaN if there are none.
SimulatedTimes times_of(std::vector<base::Seconds> values);

struct SimulationSummary {
  std::size_t requests = 0;  // served requests
  std::size_t rejected = 0;
  base::Seconds duration;  // from the first arrival to the last token
  SimulatedTimes ttft;
  SimulatedTimes tpot;  // of answers with more than one token
  SimulatedTimes end_to_end;
  SimulatedTimes waiting;  // from the queue to the first iteration
  double requests_per_second = 0;
  double input_rate = 0;  // tok/s
  double output_rate = 0;
  double prefix_hit_rate = 0;    // share of the input tokens in the KV cache
  double restored_share = 0;     // share of the input tokens that came from host memory
  double attainment = 0;         // share of all requests that meet every objective of their class
  double goodput = 0;            // 1/s, of these requests
  std::int64_t preemptions = 0;  // of the requests that are counted
};

// Whether it was served, and met every objective of its class; an answer of one token has no TPOT to miss. Without
// classes every request that is served does.
bool meets(const ServedRequest& request, const workloads::RequestClasses& classes);

// Leaves out the first `warm_up` requests.
SimulationSummary summarise(const Simulation& simulation, std::size_t warm_up,
                            const workloads::RequestClasses& classes);

struct ClassSummary {
  std::string name;
  std::int64_t priority = 0;
  SimulationSummary summary;  // rates are over the duration of all requests, so they add up
};
// Of each class that has requests, the greatest priority first. Where the traffic has at most one class, of each
// priority. None where all requests are alike.
std::vector<ClassSummary> summarise_classes(const Simulation& simulation, std::size_t warm_up,
                                            const workloads::RequestClasses& classes);

// Time averages over the whole run.
struct SimulatedLoad {
  double running = 0;
  double waiting = 0;
  double cache = 0;        // share of the KV cache
  double utilisation = 0;  // share of the time with an iteration on the first stage
};
SimulatedLoad load_of(const Simulation& simulation);

}  // namespace roofcast::sim
