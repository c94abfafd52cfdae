// SPDX-License-Identifier: Apache-2.0
//
// Agents: sessions of turns, whose context grows by answers and the results of tools.
//
//   traffic:
//     agents:
//       concurrent: 64                      # each works at one task after the other
//       tasks: 640                          # of all, in a simulation; ten an agent when left out
//       turns: {lognormal: {mean: 50, cv: 0.6, max: 150}}
//       initial_context: 15000              # system prompt, tool definitions, the task
//       shared_context: 12000               # of it, the same in all sessions
//       output_tokens: {lognormal: {mean: 258, cv: 1.3, max: 4000}}
//       tool_tokens: {lognormal: {mean: 590, cv: 2, max: 20000}}    # results of a turn's calls
//       tool_calls: 1.15                    # a turn, side by side: the next turn waits for the longest
//       tools: [{weight: 6, time: 30 ms}, {weight: 4, time: 7 s, cv: 0.5, timeout: 120 s}]
//       rewrites: 0.02                      # turns before which the context is written anew
//       max_context: 131072                 # a session ends before a turn beyond it
//       subagents: {probability: 0.02, count: 3, turns: 8, initial_context: 14000}
//       think: {time: 20 s, cv: 1}          # between two tasks; none when left out
//       stages: [{time: 15 ms, servers: 2}, {time: 40 ms, cv: 0.5}]     # before every turn
//
// A turn's prompt is the whole context: the prompt before it, its answer, and what the tools said. So it
// begins with all that the session computed before, unless the context was rewritten. A turn that forks sends
// `count` sub-agents instead of calling tools, each a session of its own; its next turn comes when all are
// done, and reads their last answers. Sub-agents send none themselves. Times of a tool are lognormal about
// `time` with coefficient of variation `cv`, and end at `timeout`; mean and cv are those without it. Stages
// (embedding, retrieval, reranking) are passed before a turn's prompt is sent, each with its servers and a queue.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/document/fields.hpp"
#include "base/units/quantity.hpp"
#include "workloads/traffic/lengths.hpp"
#include "workloads/traffic/requests.hpp"

namespace roofcast::workloads {

struct Tool {
  double weight = 1.0;  // how often it is called, among all
  Duration duration;
  base::Seconds timeout = base::Seconds::infinity();
};

struct AgentSessions {
  Lengths turns;
  Lengths initial_context;
};

struct SubAgents {
  double probability = 0.0;  // that a turn of the agent forks
  std::int64_t count = 0;
  AgentSessions sessions;
};

struct Agents {
  std::int64_t concurrent = 0;
  std::optional<std::int64_t> tasks;
  AgentSessions sessions;
  std::int64_t shared_context = 0;
  Lengths output;
  Lengths tool_tokens;
  double tool_calls = 1.0;
  std::vector<Tool> tools;
  double rewrites = 0.0;
  std::int64_t max_context = 0;  // 0: none
  std::optional<SubAgents> subagents;
  Duration think;
  std::vector<Stage> stages;
};

void read(base::Fields& f, Agents& agents);

double mean_turns(const Agents& agents);  // of a task, those of sub-agents with them

// Tokens of a block that sessions can have in common, in simulation and closed form.
inline constexpr std::int64_t kAgentBlockTokens = 64;

struct AgentTurn {
  std::int64_t input_tokens = 0;
  std::int64_t output_tokens = 0;
  // Of the input, in whole blocks: what the session computed before, and what other sessions have.
  std::int64_t own_known = 0;
  std::int64_t shared_known = 0;
  base::Seconds tools;    // until the next turn; none of a session's last turn
  std::size_t child = 0;  // the first session of its sub-agents
  std::size_t children = 0;
};

struct AgentTask {
  std::vector<std::vector<AgentTurn>> sessions;  // the agent's own first
};

// The first `count` tasks of a seed: more of them leave these as they are.
std::vector<AgentTask> draw_tasks(const Agents& agents, std::size_t count, std::uint64_t seed);

// Their turns as requests: a turn follows the one before it and its sub-agents (Requests::follow_ups), and
// the first of each task are those that clients send.
Requests requests_of(const Agents& agents, const std::vector<AgentTask>& tasks, std::uint64_t seed);

// What closed forms know of a scenario's agents: the first tasks of its seed.
inline constexpr std::size_t kSampledTasks = 400;
struct SampledAgents {
  Agents agents;
  std::vector<AgentTask> tasks;
};
// Nothing of agents that were misread.
std::shared_ptr<const SampledAgents> sample(const Agents& agents, std::uint64_t seed);

}  // namespace roofcast::workloads
