// SPDX-License-Identifier: Apache-2.0
#include <set>
#include <string>
#include <utility>

#include "base/document/problems.hpp"
#include "tests/catch.hpp"
#include "workloads/traffic/agents.hpp"
#include "workloads/traffic/request_stream.hpp"

namespace roofcast::unit_workloads_agent_tasks {

using workloads::Agents;
using workloads::AgentTask;
using workloads::AgentTurn;

namespace {

Agents agents(const std::string& more = "") {
  const base::Node document = base::parse_document(
      "test.yaml",
      "{agents: {concurrent: 4, turns: {lognormal: {mean: 10, cv: 1, max: 60}}, initial_context: "
      "{uniform: [900, 2000]}, shared_context: 700, output_tokens: {lognormal: {mean: 200, cv: 1, "
      "max: 2000}}, tool_tokens: {lognormal: {mean: 800, cv: 2, max: 20000}}, tool_calls: 1.15, "
      "tools: [{weight: 3, time: 2 s, cv: 1}, {time: 6 s, timeout: 5 s}], subagents: "
      "{probability: 0.1, count: 2, turns: {uniform: [1, 9]}, initial_context: 800}" +
          more + "}}");
  base::Problems problems;
  base::Fields fields(document, "", problems);
  workloads::RequestStream stream;
  read(fields, stream);
  fields.end();
  problems.throw_if_any();
  return *stream.agents;
}

// Of the turns of all sessions.
struct Means {
  double turns = 0.0;  // of a task
  double input = 0.0;
  double output = 0.0;
  double tools_s = 0.0;  // of a turn
};

Means means_of(const std::vector<AgentTask>& tasks) {
  Means sum;
  for (const AgentTask& task : tasks) {
    for (const auto& session : task.sessions) {
      for (const AgentTurn& turn : session) {
        sum.turns += 1.0;
        sum.input += static_cast<double>(turn.input_tokens);
        sum.output += static_cast<double>(turn.output_tokens);
        sum.tools_s += turn.tools.si();
      }
    }
  }
  return {sum.turns / static_cast<double>(tasks.size()), sum.input / sum.turns,
          sum.output / sum.turns, sum.tools_s / sum.turns};
}

}  // namespace

TEST_CASE("No two seeds share a task of agents", "[unit]") {
  const Agents all = agents();
  std::set<std::pair<std::int64_t, double>> seen;  // context and first tools
  std::size_t drawn = 0;
  for (std::uint64_t seed = 1; seed <= 64; ++seed) {
    for (const AgentTask& task : draw_tasks(all, 64, seed)) {
      const AgentTurn& first = task.sessions.front().front();
      if (first.tools > base::Seconds{} && first.tools.si() != 5.0) {  // not the timeout
        seen.insert({first.input_tokens, first.tools.si()});
        ++drawn;
      }
    }
  }
  CHECK(drawn > 1000);
  CHECK(seen.size() == drawn);
}

TEST_CASE("Tasks of a closed form have the means of many drawn ones, whatever the seed", "[unit]") {
  const Agents all = agents();
  const Means many = means_of(draw_tasks(all, 40000, 7));
  for (const std::uint64_t seed : {1U, 1000U, 5000U, 9000U}) {
    INFO(seed);
    const auto sampled = sample(all, seed);
    const Means few = means_of(sampled->tasks);
    CHECK(sampled->turns == mean_turns(all));
    CHECK(few.turns == Approx(mean_turns(all)).epsilon(0.01));
    CHECK(few.input == Approx(many.input).epsilon(0.03));
    CHECK(few.output == Approx(many.output).epsilon(0.01));
    CHECK(few.tools_s == Approx(many.tools_s).epsilon(0.01));
  }
}

TEST_CASE("Where a longest context ends tasks, a closed form has as many turns as are left",
          "[unit]") {
  const Agents ended = agents(", max_context: 6000");
  const auto sampled = sample(ended, 1);
  CHECK(sampled->turns < 0.8 * mean_turns(ended));
  // Large results of tools end them, wherever they come: what is left of turns is as random as that.
  CHECK(sampled->turns == Approx(means_of(draw_tasks(ended, 40000, 7)).turns).epsilon(0.05));
}

}  // namespace roofcast::unit_workloads_agent_tasks
