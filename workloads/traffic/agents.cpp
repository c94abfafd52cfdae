// SPDX-License-Identifier: Apache-2.0
#include "workloads/traffic/agents.hpp"

#include <algorithm>
#include <cmath>

#include "base/scatter.hpp"

namespace roofcast::workloads {
namespace {

constexpr base::Range kAgentCount{1.0, 1e9};
constexpr base::Range kAgents{1.0,
                              1e6};  // the closed form asks for the rate of each number of them

void read_loop(base::Fields& f, Agents& a) {
  f.integer("concurrent", a.concurrent, kAgents, base::optional);
  if (f.has("arrivals")) {
    f.group("arrivals", [&](base::Fields& g) { read(g, a.arrivals.emplace()); });
  }
  if (f.has("concurrent") == a.arrivals.has_value()) {
    f.problem("concurrent",
              "one of concurrent (agents that work at one task after another) and arrivals (of "
              "tasks) is expected");
  }
}

void read(base::Fields& f, Duration& duration) {
  f.quantity("time", duration.time, base::not_negative);
  f.number("cv", duration.cv, base::not_negative, base::optional);
}

void read(base::Fields& f, Tool& tool) {
  f.number("weight", tool.weight, base::positive, base::optional);
  read(f, tool.duration);
  f.quantity("timeout", tool.timeout, base::positive, base::optional);
}

void read(base::Fields& f, AgentSessions& sessions) {
  read(f, "turns", sessions.turns);
  read(f, "initial_context", sessions.initial_context);
}

// Writes tasks as requests.
class Writer {
 public:
  Writer(const Agents& agents, std::uint64_t seed) : seed_(seed) {
    base::Random shared(seed, "shared blocks");
    for (std::int64_t unit = 0; unit < agents.shared_context / kAgentBlockTokens; ++unit) {
      shared_.push_back(shared.bits());
    }
    requests_.block_tokens = kAgentBlockTokens;
    requests_.blocks_have_answers = true;
    requests_.stages = agents.stages;
    requests_.think = agents.think;
    requests_.seed = seed;
  }

  void add(const AgentTask& task, base::Seconds arrival) {
    arrival_ = arrival;
    std::vector<std::size_t> first;  // index of the first request of each session
    std::size_t next = requests_.requests.size();
    for (const std::vector<AgentTurn>& session : task.sessions) {
      first.push_back(next);
      next += session.size();
    }
    for (std::size_t s = 0; s < task.sessions.size(); ++s) {
      add(task.sessions[s]);
      for (std::size_t i = 0; i + 1 < task.sessions[s].size(); ++i) {
        const AgentTurn& turn = task.sessions[s][i];
        const std::size_t at = first[s] + i;
        if (turn.children == 0) {
          follow(at, at + 1, turn.tools);
        }
        for (std::size_t child = turn.child; child < turn.child + turn.children; ++child) {
          follow(at, first[child], {});
          follow(first[child] + task.sessions[child].size() - 1, at + 1, {});
        }
      }
    }
    ++task_;
  }

  Requests end() {
    std::stable_sort(requests_.follow_ups.begin(), requests_.follow_ups.end(),
                     [](const FollowUp& a, const FollowUp& b) { return a.after < b.after; });
    return std::move(requests_);
  }

 private:
  void follow(std::size_t after, std::size_t request, base::Seconds delay) {
    requests_.follow_ups.push_back(
        {static_cast<std::int32_t>(after), static_cast<std::int32_t>(request), delay});
  }

  void add(const std::vector<AgentTurn>& session) {
    base::Random random(base::seed_of_part(seed_, static_cast<std::uint64_t>(session_)),
                        "agent blocks");
    for (std::size_t i = 0; i < session.size(); ++i) {
      const AgentTurn& turn = session[i];
      if (i == 0 || turn.own_known == 0) {
        // The context begins or was rewritten: it gets new blocks for all turns until the next rewriting.
        std::size_t last = i;
        while (last + 1 < session.size() && session[last + 1].own_known > 0) {
          ++last;
        }
        first_block_ = requests_.blocks.size();
        const std::int64_t units = blocks_of(session[last]);
        for (std::int64_t unit = 0; unit < units; ++unit) {
          const bool shared = unit < turn.shared_known / kAgentBlockTokens;
          requests_.blocks.push_back(shared ? shared_[static_cast<std::size_t>(unit)]
                                            : random.bits());
        }
      }
      Request request;
      request.arrival = arrival_;
      request.input_tokens = turn.input_tokens;
      request.output_tokens = turn.output_tokens;
      request.session = session_;
      request.task = task_;
      request.first_block = first_block_;
      request.block_count = static_cast<std::uint32_t>(blocks_of(turn));
      requests_.requests.push_back(request);
    }
    ++session_;
  }

  static std::int64_t blocks_of(const AgentTurn& turn) {
    return (turn.input_tokens + turn.output_tokens) / kAgentBlockTokens;
  }

  std::uint64_t seed_;
  std::vector<std::uint64_t> shared_;
  std::size_t first_block_ = 0;
  std::int32_t session_ = 0;
  std::int32_t task_ = 0;
  base::Seconds arrival_;
  Requests requests_;
};

}  // namespace

void read(base::Fields& f, Agents& a) {
  read_loop(f, a);
  f.integer("tasks", a.tasks, kAgentCount);
  read(f, a.sessions);
  f.integer("shared_context", a.shared_context, base::not_negative, base::optional);
  read(f, "output_tokens", a.output);
  a.tool_tokens.least = 0;
  read(f, "tool_tokens", a.tool_tokens, base::optional);
  f.number("tool_calls", a.tool_calls, {0.0, 1000.0}, base::optional);
  f.each(
      "tools", [&](base::Fields& g) { read(g, a.tools.emplace_back()); }, base::optional);
  f.number("rewrites", a.rewrites, base::fraction, base::optional);
  f.integer("max_context", a.max_context, kAgentCount, base::optional);
  f.group(
      "subagents",
      [&](base::Fields& g) {
        SubAgents& s = a.subagents.emplace();
        g.number("probability", s.probability, base::fraction);
        g.integer("count", s.count, {0.0, static_cast<double>(kMostChildren)});
        read(g, s.sessions);
      },
      base::optional);
  f.group(
      "think", [&](base::Fields& g) { read(g, a.think); }, base::optional);
  if (a.arrivals && f.has("think")) {
    f.problem("think", "has no effect beside arrivals: nobody waits to send the next task");
  }
  f.each(
      "stages",
      [&](base::Fields& g) {
        Stage& stage = a.stages.emplace_back();
        read(g, stage.service);
        g.integer("servers", stage.servers, kStageServers, base::optional);
      },
      base::optional);
  f.group(
      "embedder", [&](base::Fields& g) { read(g, a.embedder.emplace()); }, base::optional);
  f.group(
      "reranker", [&](base::Fields& g) { read(g, a.reranker.emplace()); }, base::optional);
  if (mean_turns(a) > kMostTurns) {
    f.problem("turns", "make more than 20,000 turns a task, with those of sub-agents");
  }
}

// The last turn of a session cannot fork.
double mean_turns(const Agents& a) {
  const double turns = mean(a.sessions.turns);
  const double forks = a.subagents ? std::max(0.0, turns - 1.0) * a.subagents->probability *
                                         static_cast<double>(a.subagents->count) *
                                         mean(a.subagents->sessions.turns)
                                   : 0.0;
  return turns + forks;
}

Arrivals arrivals_of_turns(const Arrivals& tasks, double turns) {
  Arrivals of_turns = tasks;
  of_turns.rate *= turns;
  for (base::Hertz& rate : of_turns.rates) {
    rate *= turns;
  }
  if (turns > 1.0 && tasks.process != ArrivalProcess::mmpp) {
    of_turns.process = ArrivalProcess::poisson;
  }
  return of_turns;
}

Requests requests_of(const Agents& agents, const std::vector<AgentTask>& tasks,
                     std::uint64_t seed) {
  Writer writer(agents, seed);
  std::optional<ArrivalTimes> times;
  if (agents.arrivals) {
    times.emplace(*agents.arrivals, base::Random(seed, "arrivals"));
  }
  for (const AgentTask& task : tasks) {
    writer.add(task, times ? times->next() : base::Seconds{});
  }
  return writer.end();
}

}  // namespace roofcast::workloads
