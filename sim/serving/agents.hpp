// SPDX-License-Identifier: Apache-2.0
//
// Steady state of agents (workloads/traffic/agents.hpp): a network of the engine, stages, and tools, for which no turn
// waits.
//
// Agents that work at one task after another are a closed network. By the theorem of Chandy, Herzog and Woo (IBM J. Res.
// Dev. 19, 1975), the engine is a station that completes X(n) turns per second while n are present. X(n) is that of n equal
// clients that do not think (sim/serving/lockstep.hpp), at most what the front end takes in. It is scaled, twice, so that a
// turn takes as long as followed turns do (sim/serving/sampled_loop.hpp). With stages, the network is that of
// base/queueing/closed_network.hpp. Without stages, the number of turns in the engine is a birth-death process: births
// (M − n)/Z, deaths X(n). The result is the same, and quicker.
//
// Tasks that arrive are an open network: λ·(turns of a task) turns arrive a second. The engine is that of sampled_loop.hpp,
// and each stage a queue of several servers (base/queueing/open_queue.hpp, Allen and Cunneen). Turns of one task count as
// independent.
//
//   W         E[n] / E[X(n)], the time of a turn in the engine
//   a task    The turns of the sampled tasks are walked one after the other, with sub-agents side by side. Tools
//             take their drawn times. W is shared out by the length of answers. The wait before the first
//             token, beyond that of a turn that is alone, is exponential
//   M         agents · (time of all sessions of a task) / (time of the task). A session that waits for sub-agents is
//             not alive. A session that thinks between tasks is alive, because Z includes that time
//   tasks     agents / (mean time of a task + thinking), or those that arrive
//   TTFT      that of a sample of turns, with the drawn prompts less what is found, from M clients that pause for the drawn
//             times of tools, or from Poisson arrivals of tasks (sampled_loop.hpp); and the time in stages. The wait in a
//             closed network's stage has the variance of an exponential one
//
//   symbol    meaning                                                                           unit
//   M         sessions that are alive                                                           –
//   Z         mean time between turns in tools and thinking                                     s
//   n, X(n)   turns in the engine; turns that it then completes per second                      –, 1/s
//   T         time for which an unused context stays in the KV cache                            s
//
// Prefix hits. Contexts of sessions that wait for tools share the memory that running turns leave free. The least
// recently used goes first, after a time T (Che, Tung, Wang: Hierarchical Web Caching Systems, IEEE JSAC 20, 2002):
//
//   free bytes = turns per second · E[bytes · min(wait, T)]          a turn hits if wait <= T
//
// A session that has ended waits forever. A turn computes again what it does not find, except for the context that all
// sessions share. All of this is repeated until W and the prefix hits agree.
//
// Models that read before prompts (sim/iteration/front_models.hpp) are stages where they have GPUs of their own. On the
// GPUs of the model, a pass is a part of its prompt's iteration, and a turn waits for half an iteration before each pass
// and for another half after the last.
//
// At two pools, X(n) and latencies are those of sim/serving/two_pools.hpp: X(n) of a scan. Contexts stay in the prefill pool, without
// the answers, which the decode pool computes. A turn holds its prompt there until its first token.
//
// Not modelled: several replicas without `router: session`, and attention-DP ranks, where turns find their contexts
// elsewhere; host memory; sessions that outgrow the cache; the burst of agents that begin together.
#pragma once

#include <span>

#include "sim/result/serving_estimate.hpp"

namespace roofcast::sim {

// What serves the turns.
struct AgentServers {
  const ScenarioView&
      prompts;               // the replicas that compute prompts: the scenario, or its prefill pool
  base::Bytes mean_request;  // in their KV cache, as of cache_of()
  // Two pools under the traffic of a scenario: arrivals, or clients with these pauses. Null: replicas of one pool.
  SteadyState (*pools)(const ScenarioView& scenario, std::span<const base::Seconds> pauses,
                       Workspace& workspace) = nullptr;
};

// Sets `e.task`. Needs `scenario.front`, and in `e.footprint` that of the replicas that compute prompts.
SteadyState agents_steady_state(const ScenarioView& scenario, const AgentServers& servers,
                                ServingEstimate& e, Workspace& workspace);

}  // namespace roofcast::sim
