// SPDX-License-Identifier: Apache-2.0
//
// Agents: sessions of turns, whose context grows by answers and the results of tools.
//
//   traffic:
//     agents:
//       concurrent: 64                      # each works at one task after another
//       tasks: 640                          # in a simulation, over all agents; ten an agent when left out
//       turns: {lognormal: {mean: 50, cv: 0.6, max: 150}}
//       initial_context: 15000              # system prompt, tool definitions, the task
//       shared_context: 12000               # the part of it that is the same in all sessions
//       output_tokens: {lognormal: {mean: 258, cv: 1.3, max: 4000}}
//       tool_tokens: {lognormal: {mean: 590, cv: 2, max: 20000}}    # results of the calls of a turn
//       tool_calls: 1.15                    # a turn, at the same time: the next turn waits for the longest
//       tools: [{weight: 6, time: 30 ms}, {weight: 4, time: 7 s, cv: 0.5, timeout: 120 s}]
//       rewrites: 0.02                      # share of turns before which the context is rewritten
//       max_context: 131072                 # a session ends before a turn beyond it
//       subagents: {probability: 0.02, count: 3, turns: 8, initial_context: 14000}
//       think: {time: 20 s, cv: 1}          # between two tasks; none when left out
//       arrivals: {process: poisson, rate: 0.2 /s}   # of tasks, in place of concurrent and think
//       stages: [{time: 15 ms, servers: 2}, {time: 40 ms, cv: 0.5}]     # before every turn
//       embedder: {model: bge-m3, tokens: 32}       # before the stages (front_model.hpp)
//       reranker: {model: bge-m3, tokens: 544, sequences: 50, servers: 1}     # after them
//
// The prompt of a turn is the whole context: the prompt before it, its answer, and the results of tools. So
// it begins with everything that the session computed before, unless the context was rewritten. A turn that
// forks sends `count` sub-agents instead of calling tools. Each sub-agent is a session of its own. The next
// turn comes when all are done, and reads their last answers. Sub-agents send no sub-agents themselves. The
// time of a tool is lognormal with mean `time` and coefficient of variation `cv`, and ends at `timeout`; mean
// and cv are those without the timeout. With `arrivals`, tasks come whether or not earlier ones are done. Stages (embedding, retrieval, reranking) come before the prompt of a
// turn is sent. Each stage has its servers and a queue. Those that a model computes can be said as models.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/document/fields.hpp"
#include "base/units/quantity.hpp"
#include "workloads/traffic/arrivals.hpp"
#include "workloads/traffic/front_model.hpp"
#include "workloads/traffic/lengths.hpp"
#include "workloads/traffic/requests.hpp"

namespace roofcast::workloads {

struct Tool {
  double weight = 1.0;  // how often it is called, relative to the others
  Duration duration;
  base::Seconds timeout = base::Seconds::infinity();
};

struct AgentSessions {
  Lengths turns;
  Lengths initial_context;
};

struct SubAgents {
  double probability = 0.0;  // probability that a turn of the agent forks
  std::int64_t count = 0;
  AgentSessions sessions;
};

struct Agents {
  std::int64_t concurrent = 0;       // 0 with arrivals
  std::optional<Arrivals> arrivals;  // of tasks
  std::optional<std::int64_t> tasks;
  AgentSessions sessions;
  std::int64_t shared_context = 0;
  Lengths output;
  Lengths tool_tokens;
  double tool_calls = 1.0;
  std::vector<Tool> tools;
  double rewrites = 0.0;
  std::int64_t max_context = 0;  // 0: no limit
  std::optional<SubAgents> subagents;
  Duration think;
  std::vector<Stage> stages;
  std::optional<FrontModel> embedder;
  std::optional<FrontModel> reranker;
};

void read(base::Fields& f, Agents& agents);

double mean_turns(const Agents& agents);        // turns of a task, with those of sub-agents
inline constexpr double kMostTurns = 20'000.0;  // of a task, on average
inline constexpr std::uint64_t kMostChildren = 1000;

// Tokens of a block of the prefix cache that sessions can share, in simulation and closed form.
inline constexpr std::int64_t kAgentBlockTokens = 64;

struct AgentTurn {
  std::int64_t input_tokens = 0;
  std::int64_t output_tokens = 0;
  std::int64_t own_known = 0;     // input tokens that the session computed before, in whole blocks
  std::int64_t shared_known = 0;  // input tokens that all sessions share, in whole blocks
  base::Seconds tools;    // time of tools until the next turn; 0 in the last turn of a session
  std::size_t child = 0;  // the first session of its sub-agents
  std::size_t children = 0;
};

struct AgentTask {
  std::vector<std::vector<AgentTurn>> sessions;  // that of the agent, then those of its sub-agents
};

// The first `count` tasks of a seed. A greater count gives the same tasks and more.
std::vector<AgentTask> draw_tasks(const Agents& agents, std::size_t count, std::uint64_t seed);

// The turns of tasks as requests. A turn follows the turn before it and its sub-agents (Requests::follow_ups). Clients
// send the first turn of each task, or it comes when the task arrives. All turns have the arrival of their task.
Requests requests_of(const Agents& agents, const std::vector<AgentTask>& tasks, std::uint64_t seed);

// Turns as they arrive when tasks do. Those of one task are taken as spread, but for slow phases of the tasks.
Arrivals arrivals_of_turns(const Arrivals& tasks, double turns);

// The agents of a scenario as closed forms see them: tasks whose means are those of the distributions
// (workloads/traffic/agent_tasks.cpp). As many as have 8,000 turns, but at least so many.
inline constexpr std::size_t kSampledTasks = 400;
struct SampledAgents {
  Agents agents;
  std::vector<AgentTask> tasks;
  double turns = 1.0;  // of a task, mean; of `tasks` where max_context ends some
};
// Returns null for agents whose document has a problem.
std::shared_ptr<const SampledAgents> sample(const Agents& agents, std::uint64_t seed);

}  // namespace roofcast::workloads
