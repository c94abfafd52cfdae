// SPDX-License-Identifier: Apache-2.0
//
// The tasks of agents: drawn for a simulation, or even for a closed form.
//
//   drawn   each session has its own stream of random numbers, so that more tasks leave the others as they were
//   even    of each cause as many quantiles as there are draws on average, in a random order: means of few tasks are those
//           of the distributions, whatever the seed is
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/scatter.hpp"
#include "base/statistics/normal_quantile.hpp"
#include "base/statistics/random.hpp"
#include "workloads/traffic/agents.hpp"
#include "workloads/traffic/even_sample.hpp"

namespace roofcast::workloads {
namespace {

constexpr std::int64_t kLongest = 100'000;  // turns of a session; longer draws are cut
constexpr double kMostValues = 16384.0;     // of a deck

// Of whom: the agents, or their sub-agents.
enum class SessionKind : std::uint8_t { agent, subagent };

const AgentSessions& sessions_of(const Agents& agents, SessionKind kind) {
  return kind == SessionKind::agent ? agents.sessions : agents.subagents->sessions;
}

std::vector<double> weights_of(const std::vector<Tool>& tools) {
  std::vector<double> weights;
  for (const Tool& tool : tools) {
    weights.push_back(tool.weight);
  }
  return weights;
}

// A deck for so many draws.
std::size_t size_for(double draws) {
  return static_cast<std::size_t>(std::clamp(std::round(draws), 1.0, kMostValues));
}

std::vector<double> even(const Lengths& lengths, double draws) {
  return lengths.shape == Lengths::Shape::fixed
             ? std::vector<double>(1, static_cast<double>(lengths.least))
             : quantiles(lengths, size_for(draws));
}

// i of n draws, as a share.
double share_of(std::size_t i, std::size_t n) {
  return (static_cast<double>(i) + 0.5) / static_cast<double>(n);
}

// 1 for this share of the draws, else 0.
std::vector<double> even(double probability, double draws) {
  std::vector<double> values;
  const std::size_t n = probability > 0.0 && probability < 1.0 ? size_for(draws) : 1;
  for (std::size_t i = 0; i < n; ++i) {
    values.push_back(share_of(i, n) < probability ? 1.0 : 0.0);
  }
  return values;
}

// Each number of a tool by its weight.
std::vector<double> even(const std::vector<Tool>& tools, double draws) {
  std::vector<double> upto = weights_of(tools);
  for (std::size_t i = 1; i < upto.size(); ++i) {
    upto[i] += upto[i - 1];
  }
  std::vector<double> values;
  const std::size_t n = size_for(draws);
  std::size_t tool = 0;
  for (std::size_t i = 0; i < n; ++i) {
    while (tool + 1 < upto.size() && upto[tool] < share_of(i, n) * upto.back()) {
      ++tool;
    }
    values.push_back(static_cast<double>(tool));
  }
  return values;
}

// Seconds; lognormal.
std::vector<double> even(const Duration& duration, double draws) {
  const double time = duration.time.si();
  const double variance = std::log1p(duration.cv * duration.cv);
  if (variance == 0.0 || time == 0.0) {
    return {time};
  }
  std::vector<double> values;
  const std::size_t n = size_for(draws);
  for (std::size_t i = 0; i < n; ++i) {
    const double z = base::normal_quantile(share_of(i, n));
    values.push_back(time * std::exp(std::sqrt(variance) * z - 0.5 * variance));
  }
  return values;
}

class AgentChances {
 public:
  AgentChances() = default;
  AgentChances(const AgentChances&) = delete;
  AgentChances& operator=(const AgentChances&) = delete;
  virtual ~AgentChances() = default;

  // Sessions begin one after the other; a sub-agent's begins and ends within the agent's.
  virtual void begin(std::uint64_t task, std::uint64_t place) = 0;
  virtual void end() = 0;
  virtual std::int64_t turns(SessionKind kind) = 0;
  virtual std::int64_t initial_context(SessionKind kind) = 0;
  virtual std::int64_t output() = 0;
  virtual std::int64_t tool_tokens() = 0;
  virtual bool rewritten() = 0;
  virtual bool forks() = 0;
  // The number of calls is the whole part of tool_calls, and one more with the fraction as its probability.
  virtual bool one_more_call() = 0;
  virtual base::Seconds call() = 0;  // of a tool
};

class DrawnChances : public AgentChances {
 public:
  DrawnChances(const Agents& agents, std::uint64_t seed);

  void begin(std::uint64_t task, std::uint64_t place) override;
  void end() override { sessions_.pop_back(); }
  std::int64_t turns(SessionKind kind) override;
  std::int64_t initial_context(SessionKind kind) override;
  std::int64_t output() override { return draw(agents_.output, random()); }
  std::int64_t tool_tokens() override { return draw(agents_.tool_tokens, random()); }
  bool rewritten() override { return random().uniform() < agents_.rewrites; }
  bool forks() override;
  bool one_more_call() override;
  base::Seconds call() override;

 private:
  base::Random& random() { return sessions_.back(); }

  const Agents& agents_;
  std::uint64_t seed_;
  std::optional<base::Discrete> which_;
  std::vector<base::Random> sessions_;  // that have begun
};

// Numbers that are taken one after the other, and again in another order when all are taken.
class Deck {
 public:
  Deck() = default;
  Deck(std::vector<double> values, const base::Random& random);
  double next();

 private:
  std::vector<double> values_;
  std::size_t next_ = 0;
  base::Random random_{0};
};

class EvenChances : public AgentChances {
 public:
  // `tasks` of them are asked for.
  EvenChances(const Agents& agents, std::size_t tasks, std::uint64_t seed);

  void begin(std::uint64_t /*task*/, std::uint64_t /*place*/) override {}
  void end() override {}
  std::int64_t turns(SessionKind kind) override { return whole(of(kind).turns); }
  std::int64_t initial_context(SessionKind kind) override { return whole(of(kind).context); }
  std::int64_t output() override { return whole(outputs_); }
  std::int64_t tool_tokens() override { return whole(tool_tokens_); }
  bool rewritten() override { return rewrites_.next() > 0.0; }
  bool forks() override { return forks_.next() > 0.0; }
  bool one_more_call() override { return more_calls_.next() > 0.0; }
  base::Seconds call() override;

 private:
  struct Sessions {
    Deck turns;
    Deck context;
  };
  Sessions& of(SessionKind kind) { return sessions_[static_cast<std::size_t>(kind)]; }
  static std::int64_t whole(Deck& deck) { return static_cast<std::int64_t>(deck.next()); }

  const Agents& agents_;
  std::array<Sessions, 2> sessions_;
  Deck outputs_;
  Deck tool_tokens_;
  Deck rewrites_;
  Deck forks_;
  Deck more_calls_;
  Deck which_;                   // tool of a call
  std::vector<Deck> durations_;  // of the calls of each tool
};

DrawnChances::DrawnChances(const Agents& agents, std::uint64_t seed)
    : agents_(agents), seed_(seed) {
  if (!agents.tools.empty()) {
    which_.emplace(weights_of(agents.tools));
  }
}

void DrawnChances::begin(std::uint64_t task, std::uint64_t place) {
  sessions_.emplace_back(base::seed_of_part(base::seed_of_part(seed_, task), place), "agent");
}

std::int64_t DrawnChances::turns(SessionKind kind) {
  return draw(sessions_of(agents_, kind).turns, random());
}

std::int64_t DrawnChances::initial_context(SessionKind kind) {
  return draw(sessions_of(agents_, kind).initial_context, random());
}

bool DrawnChances::forks() {
  return random().uniform() < (agents_.subagents ? agents_.subagents->probability : 0.0);
}

bool DrawnChances::one_more_call() {
  return random().uniform() < agents_.tool_calls - std::floor(agents_.tool_calls);
}

base::Seconds DrawnChances::call() {
  const Tool& tool = agents_.tools[(*which_)(random())];
  return base::min(tool.duration.draw(random()), tool.timeout);
}

Deck::Deck(std::vector<double> values, const base::Random& random)
    : values_(std::move(values)), next_(values_.size()), random_(random) {}

double Deck::next() {
  if (next_ == values_.size()) {
    shuffle(values_, random_);
    next_ = 0;
  }
  return values_[next_++];
}

EvenChances::EvenChances(const Agents& agents, std::size_t tasks, std::uint64_t seed)
    : agents_(agents) {
  const auto count = static_cast<double>(tasks);
  const auto deck = [&](std::vector<double> values, std::string_view cause) {
    return Deck(std::move(values), base::Random(seed, cause));
  };
  const double own = count * mean(agents.sessions.turns);
  const double turns = count * mean_turns(agents);
  const double pauses = std::max(0.0, turns - count);  // between turns
  sessions_[0] = {deck(even(agents.sessions.turns, count), "turns"),
                  deck(even(agents.sessions.initial_context, count), "initial_context")};
  if (agents.subagents) {
    const SubAgents& subagents = *agents.subagents;
    const double sent =
        (own - count) * subagents.probability * static_cast<double>(subagents.count);
    sessions_[1] = {
        deck(even(subagents.sessions.turns, sent), "turns of sub-agents"),
        deck(even(subagents.sessions.initial_context, sent), "initial_context of sub-agents")};
  }
  outputs_ = deck(even(agents.output, turns), "output_tokens");
  tool_tokens_ = deck(even(agents.tool_tokens, pauses), "tool_tokens");
  rewrites_ = deck(even(agents.rewrites, pauses), "rewrites");
  forks_ = deck(even(agents.subagents ? agents.subagents->probability : 0.0, own - count), "forks");
  more_calls_ = deck(even(agents.tool_calls - std::floor(agents.tool_calls), pauses), "tool_calls");
  if (agents.tools.empty()) {
    return;
  }
  const double calls = pauses * agents.tool_calls;
  const std::vector<double> weights = weights_of(agents.tools);
  double sum = 0.0;
  for (const double weight : weights) {
    sum += weight;
  }
  which_ = deck(even(agents.tools, calls), "tools");
  for (std::size_t i = 0; i < agents.tools.size(); ++i) {
    durations_.emplace_back(even(agents.tools[i].duration, calls * weights[i] / sum),
                            base::Random(base::seed_of_part(seed, i), "tool"));
  }
}

base::Seconds EvenChances::call() {
  const auto which = static_cast<std::size_t>(which_.next());
  return base::min(base::Seconds::from_si(durations_[which].next()), agents_.tools[which].timeout);
}

std::int64_t whole_blocks(std::int64_t tokens) {
  return tokens / kAgentBlockTokens * kAgentBlockTokens;
}

class TaskMaker {
 public:
  TaskMaker(const Agents& agents, AgentChances& chances) : agents_(agents), chances_(chances) {}

  AgentTask make(std::uint64_t number) {
    AgentTask task;
    task.sessions.emplace_back();
    std::vector<AgentTurn> turns = session(SessionKind::agent, number, 0, &task);
    task.sessions.front() = std::move(turns);
    return task;
  }

 private:
  // Draws one session. Its sub-agents are added to `task`; a sub-agent has no task and sends none.
  //
  // input   tokens  context of the next turn
  // known   tokens  of the session in the KV cache after the last turn
  // shared  tokens  that all sessions have in common, in whole blocks
  // result  tokens  results of tools, or last answers of sub-agents
  // fork    –       place of a sub-agent among the sessions of its task
  std::vector<AgentTurn> session(SessionKind kind, std::uint64_t number, std::uint64_t place,
                                 AgentTask* task) {
    chances_.begin(number, place);
    const std::int64_t count = std::min(chances_.turns(kind), kLongest);
    std::int64_t input = chances_.initial_context(kind);
    const std::int64_t shared = whole_blocks(std::min(agents_.shared_context, input - 1));
    std::vector<AgentTurn> turns;
    std::int64_t known = 0;
    for (std::int64_t i = 0; i < count; ++i) {
      AgentTurn turn;
      turn.input_tokens = input;
      turn.output_tokens = chances_.output();
      turn.shared_known = shared;
      const bool rewritten = i > 0 && chances_.rewritten();
      turn.own_known = rewritten ? 0 : std::max(shared, whole_blocks(known)) - shared;
      // The last token of an answer is not in the cache.
      known = turn.input_tokens + turn.output_tokens - 1;
      const bool goes_on = i + 1 < count;
      base::Seconds tools;
      std::int64_t result = 0;
      if (goes_on && task != nullptr && chances_.forks()) {
        turn.child = task->sessions.size();
        turn.children = static_cast<std::size_t>(agents_.subagents->count);
        for (std::size_t child = 0; child < turn.children; ++child) {
          const std::uint64_t fork = kMostChildren * static_cast<std::uint64_t>(i) + child + 1;
          task->sessions.push_back(session(SessionKind::subagent, number, fork, nullptr));
          result += task->sessions.back().back().output_tokens;
        }
      } else if (goes_on) {
        tools = tool_time();
        result = chances_.tool_tokens();
      }
      input += turn.output_tokens + result;
      const bool last = !goes_on || (agents_.max_context > 0 && input > agents_.max_context);
      if (!last) {
        turn.tools = tools;
      } else if (turn.children > 0) {
        task->sessions.resize(turn.child);
        turn.children = 0;
      }
      turns.push_back(turn);
      if (last) {
        break;
      }
    }
    chances_.end();
    return turns;
  }

  // The time of the calls of one turn, which run at the same time.
  base::Seconds tool_time() {
    const int calls =
        static_cast<int>(std::floor(agents_.tool_calls)) + (chances_.one_more_call() ? 1 : 0);
    base::Seconds longest;
    for (int i = 0; i < calls && !agents_.tools.empty(); ++i) {
      longest = base::max(longest, chances_.call());
    }
    return longest;
  }

  const Agents& agents_;
  AgentChances& chances_;
};

std::vector<AgentTask> make_tasks(const Agents& agents, std::size_t count, AgentChances& chances) {
  TaskMaker maker(agents, chances);
  std::vector<AgentTask> tasks;
  tasks.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    tasks.push_back(maker.make(i));
  }
  return tasks;
}

double turns_of(const std::vector<AgentTask>& tasks) {
  double turns = 0.0;
  for (const AgentTask& task : tasks) {
    for (const std::vector<AgentTurn>& session : task.sessions) {
      turns += static_cast<double>(session.size());
    }
  }
  return turns;
}

}  // namespace

std::shared_ptr<const SampledAgents> sample(const Agents& agents, std::uint64_t seed) {
  constexpr double kSampled = 8e3;      // turns
  constexpr double kMostSampled = 1e6;  // turns
  const double turns = mean_turns(agents);
  if (!(turns <= kMostTurns)) {
    return nullptr;
  }
  const double wanted = std::max(static_cast<double>(kSampledTasks), std::ceil(kSampled / turns));
  const auto count = static_cast<std::size_t>(std::min(wanted, std::ceil(kMostSampled / turns)));
  SampledAgents sampled{agents, {}, turns};
  EvenChances chances(agents, count, seed);
  sampled.tasks = make_tasks(agents, count, chances);
  if (agents.max_context > 0) {
    sampled.turns = turns_of(sampled.tasks) / static_cast<double>(count);
  }
  return std::make_shared<SampledAgents>(std::move(sampled));
}

std::vector<AgentTask> draw_tasks(const Agents& agents, std::size_t count, std::uint64_t seed) {
  DrawnChances chances(agents, seed);
  return make_tasks(agents, count, chances);
}

}  // namespace roofcast::workloads
