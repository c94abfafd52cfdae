// SPDX-License-Identifier: Apache-2.0
//
// Steady state of agents (workloads/traffic/agents.hpp): a closed network of tools, where nobody waits, stages and the
// engine.
//
// By the theorem of Chandy, Herzog and Woo (IBM J. Res. Dev. 19, 1975) the engine is a station that completes X(n)
// turns a second with n of them present: the closed loop of sim/serving/uniform_closed_loop.hpp with n clients that do
// not think, at most what the front end takes in. With M sessions alive, tools that take Z a turn and stages of several
// servers, the network is that of base/queueing/closed_network.hpp; without stages the number in the engine is a
// birth-death process that rises at (M − n)/Z and falls at X(n), which is the same and quicker. A turn stays W = E[n] /
// E[X(n)] in the engine.
//
//   a task    the turns of sampled tasks, walked one after the other, sub-agents side by side: tools as drawn, and
//             of the engine W, shared out by the length of answers; what it has beyond a lone turn's first token
//             is exponential
//   M         agents · (time of all sessions of a task) / (time of the task): one that waits for sub-agents is not
//             alive; who thinks between tasks is, for Z's sake
//   tasks     agents / (mean time of a task + thinking), a second
//
// Which turns find their session in the KV cache: contexts that wait for tools share the room that running ones
// leave, and the least recently used goes first, after a time T (Che, Tung, Wang: Hierarchical Web Caching
// Systems, IEEE JSAC 20, 2002):
//
//   room = turns a second · E[bytes · min(wait, T)]          found: wait <= T
//
// where a session that has ended waits for ever. What is not found is computed again, but for the context that
// all sessions share. All of it repeats until W and what is found agree.
//
// Not modelled: several replicas without `router: session` and attention-DP ranks, where turns find their
// contexts elsewhere; host memory; sessions that outgrow the cache; the burst of agents that begin together.
#pragma once

#include "sim/result/serving_estimate.hpp"

namespace roofcast::sim {

// Fills `e.task`; needs e.footprint. `cache` as of cache_of().
SteadyState agents_steady_state(const ScenarioView& scenario, base::Bytes mean_request,
                                ServingEstimate& e, Workspace& workspace);

}  // namespace roofcast::sim
