// SPDX-License-Identifier: Apache-2.0
#include "workloads/traffic/agents.hpp"

#include <algorithm>
#include <string>

#include "base/document/problems.hpp"
#include "tests/catch.hpp"
#include "workloads/traffic/request_stream.hpp"

namespace roofcast::unit_workloads_agents {

using workloads::Agents;
using workloads::AgentTask;
using workloads::AgentTurn;
using workloads::kAgentBlockTokens;

namespace {

workloads::RequestStream stream_of(const std::string& more) {
  const base::Node document = base::parse_document(
      "test.yaml",
      "{agents: {concurrent: 4, turns: {uniform: [2, 12]}, initial_context: {uniform: [900, "
      "2000]}, "
      "shared_context: 700, output_tokens: {uniform: [1, 300]}, tool_tokens: {uniform: [1, 900]}, "
      "tools: [{time: 2 s, cv: 1}]" +
          more + "}, seed: 3}");
  base::Problems problems;
  base::Fields fields(document, "", problems);
  workloads::RequestStream stream;
  read(fields, stream);
  fields.end();
  problems.throw_if_any();
  return stream;
}

const std::string kForks =
    ", subagents: {probability: 0.3, count: 3, turns: {uniform: [1, 5]}, initial_context: 800}";

template <class Law>
void for_each_turn(const std::vector<AgentTask>& tasks, Law law) {
  for (const AgentTask& task : tasks) {
    for (const std::vector<AgentTurn>& session : task.sessions) {
      for (std::size_t i = 0; i < session.size(); ++i) {
        law(task, session, i);
      }
    }
  }
}

}  // namespace

TEST_CASE("A turn's prompt is all before it, and what its tools or its sub-agents said", "[unit]") {
  const Agents agents = *stream_of(kForks).agents;
  std::size_t forks = 0;
  for_each_turn(draw_tasks(agents, 50, 3), [&](const AgentTask& task, const auto& session,
                                               std::size_t i) {
    const AgentTurn& turn = session[i];
    if (i + 1 == session.size()) {
      CHECK(turn.children == 0);
      CHECK(turn.tools.si() == 0.0);
      return;
    }
    const std::int64_t said = session[i + 1].input_tokens - turn.input_tokens - turn.output_tokens;
    if (turn.children == 0) {
      CHECK(said >= 1);
      CHECK(said <= 900);
      CHECK(turn.tools.si() > 0.0);
      return;
    }
    ++forks;
    CHECK(&session == task.sessions.data());  // sub-agents send none
    CHECK(turn.children == 3);
    CHECK(turn.tools.si() == 0.0);
    std::int64_t answers = 0;
    for (std::size_t child = turn.child; child < turn.child + turn.children; ++child) {
      answers += task.sessions[child].back().output_tokens;
    }
    CHECK(said == answers);
  });
  CHECK(forks > 20);
}

TEST_CASE("What a turn finds are the whole blocks of the turn before it", "[unit]") {
  for_each_turn(draw_tasks(*stream_of("").agents, 50, 3),
                [](const AgentTask&, const auto& session, std::size_t i) {
                  const AgentTurn& turn = session[i];
                  CHECK(turn.shared_known == 640);  // 700 in blocks of 64
                  const std::int64_t before =
                      i == 0 ? 700 : session[i - 1].input_tokens + session[i - 1].output_tokens - 1;
                  CHECK(turn.own_known + turn.shared_known == before / 64 * 64);
                });
}

TEST_CASE("Turns as requests name the blocks that they have in common, and no others", "[unit]") {
  const Agents agents = *stream_of(", rewrites: 0.2").agents;
  const auto tasks = draw_tasks(agents, 20, 3);
  const workloads::Requests all = requests_of(agents, tasks, 3);
  std::size_t next = 0;
  std::size_t rewritten = 0;
  std::vector<std::uint64_t> before;
  for_each_turn(tasks, [&](const AgentTask&, const auto& session, std::size_t i) {
    const workloads::Request& request = all.requests[next++];
    const auto blocks = all.blocks_of(request);
    const auto shared = static_cast<std::size_t>(session[i].shared_known / kAgentBlockTokens);
    CHECK(blocks.size() ==
          static_cast<std::size_t>((request.input_tokens + request.output_tokens) / 64));
    const auto common = [&](std::size_t unit) {
      return unit < std::min(blocks.size(), before.size()) && blocks[unit] == before[unit];
    };
    std::size_t same = 0;
    while (common(same)) {
      ++same;
    }
    if (!before.empty()) {
      const bool goes_on = i > 0 && session[i].own_known > 0;
      rewritten += i > 0 && !goes_on ? 1 : 0;
      CHECK(same == (goes_on ? before.size() : shared));
    }
    before.assign(blocks.begin(), blocks.end());
  });
  CHECK(next == all.requests.size());
  CHECK(rewritten > 5);
}

TEST_CASE("More tasks, and more sub-agents, leave what was drawn before as it was", "[unit]") {
  const Agents agents = *stream_of(kForks).agents;
  const auto few = draw_tasks(agents, 5, 3);
  const auto many = draw_tasks(agents, 20, 3);
  Agents larger = agents;
  larger.subagents->count = 7;
  const auto prompt_group = draw_tasks(larger, 5, 3);
  for (std::size_t t = 0; t < few.size(); ++t) {
    REQUIRE(few[t].sessions.size() == many[t].sessions.size());
    REQUIRE(few[t].sessions.front().size() == prompt_group[t].sessions.front().size());
    for (std::size_t i = 0; i < few[t].sessions.front().size(); ++i) {
      const AgentTurn& turn = few[t].sessions.front()[i];
      const AgentTurn& forked = prompt_group[t].sessions.front()[i];
      CHECK(turn.output_tokens == many[t].sessions.front()[i].output_tokens);
      CHECK(turn.output_tokens == forked.output_tokens);
      CHECK(turn.tools.si() == forked.tools.si());
      for (std::size_t child = 0; child < turn.children; ++child) {
        CHECK(few[t].sessions[turn.child + child].size() ==
              prompt_group[t].sessions[forked.child + child].size());
      }
    }
  }
}

TEST_CASE("A session ends before its context is too long", "[unit]") {
  const Agents agents = *stream_of(kForks + ", max_context: 4000").agents;
  const auto tasks = draw_tasks(agents, 100, 3);
  std::int64_t longest = 0;
  std::size_t sessions = 0;
  for_each_turn(tasks, [&](const AgentTask&, const auto& session, std::size_t i) {
    longest = std::max(longest, session[i].input_tokens);
    sessions += i == 0 ? 1 : 0;
  });
  CHECK(longest <= 4000);
  CHECK(longest > 3000);
  // Each session but the agents' own is some turn's.
  std::size_t children = 0;
  for_each_turn(tasks, [&](const AgentTask&, const auto& session, std::size_t i) {
    children += session[i].children;
  });
  CHECK(sessions == tasks.size() + children);
}

TEST_CASE("Calls side by side take as long as the longest, no longer than a timeout", "[unit]") {
  const auto mean_of = [](const std::string& tools) {
    double sum = 0.0;
    double count = 0.0;
    for_each_turn(draw_tasks(*stream_of(tools).agents, 2000, 3),
                  [&](const AgentTask&, const auto& session, std::size_t i) {
                    sum += session[i].tools.si();
                    count += i + 1 < session.size() ? 1.0 : 0.0;
                  });
    return sum / count;
  };
  Agents agents = *stream_of(", tool_calls: 2").agents;
  agents.tools = {{1.0, {1.0 * base::second, 0.0}}, {1.0, {3.0 * base::second, 0.0}}};
  double sum = 0.0;
  double count = 0.0;
  for_each_turn(draw_tasks(agents, 2000, 3),
                [&](const AgentTask&, const auto& session, std::size_t i) {
                  sum += session[i].tools.si();
                  count += i + 1 < session.size() ? 1.0 : 0.0;
                });
  CHECK(sum / count == Approx(2.5).epsilon(0.02));  // 3 s but for one pair in four
  CHECK(mean_of("") == Approx(2.0).epsilon(0.03));
  CHECK(mean_of(", tool_calls: 1.5") > mean_of(""));
  agents.tools = {{1.0, {2.0 * base::second, 2.0}, 1.0 * base::second}};
  for_each_turn(draw_tasks(agents, 100, 3),
                [](const AgentTask&, const auto& session, std::size_t i) {
                  CHECK(session[i].tools.si() <= 1.0);
                });
}

TEST_CASE("Follow-ups join a task's turns: each but the first waits, and nothing follows the last",
          "[unit]") {
  const Agents agents = *stream_of(kForks).agents;
  const auto tasks = draw_tasks(agents, 30, 3);
  const workloads::Requests all = requests_of(agents, tasks, 3);
  std::vector<std::size_t> waits(all.requests.size());
  std::vector<std::size_t> followed(all.requests.size());
  for (const workloads::FollowUp& each : all.follow_ups) {
    CHECK(each.after != each.request);
    ++waits[static_cast<std::size_t>(each.request)];
    ++followed[static_cast<std::size_t>(each.after)];
  }
  std::size_t firsts = 0;
  std::size_t lasts = 0;
  std::size_t joins = 0;
  for (std::size_t i = 0; i < waits.size(); ++i) {
    firsts += waits[i] == 0 ? 1 : 0;
    lasts += followed[i] == 0 ? 1 : 0;
    joins += waits[i] == 3 ? 1 : 0;
  }
  CHECK(firsts == tasks.size());
  CHECK(lasts == tasks.size());
  CHECK(joins > 10);
}

TEST_CASE("Turns of a task by its distributions are those of tasks drawn", "[unit]") {
  const Agents agents = *stream_of(kForks).agents;
  double turns = 0.0;
  for_each_turn(draw_tasks(agents, 4000, 3),
                [&](const AgentTask&, const auto&, std::size_t) { turns += 1.0; });
  CHECK(mean_turns(agents) == Approx(7.0 + 6.0 * 0.3 * 3.0 * 3.0));
  CHECK(turns / 4000.0 == Approx(mean_turns(agents)).epsilon(0.03));
}

TEST_CASE("Turns have the arrival of their task, and come as often as tasks have turns", "[unit]") {
  Agents agents = *stream_of(kForks).agents;
  agents.concurrent = 0;
  agents.arrivals.emplace().rate = 0.5 * base::hertz;
  const auto tasks = draw_tasks(agents, 30, 3);
  const workloads::Requests all = requests_of(agents, tasks, 3);
  workloads::ArrivalTimes times(*agents.arrivals, base::Random(3, "arrivals"));
  std::int32_t task = -1;
  base::Seconds arrival;
  for (const workloads::Request& request : all.requests) {
    if (request.task != task) {
      task = request.task;
      arrival = times.next();
    }
    CHECK(request.arrival == arrival);
  }
  CHECK(task == 29);
  const workloads::Arrivals turns = arrivals_of_turns(*agents.arrivals, 8.0);
  CHECK(mean_rate(turns).si() == Approx(4.0));
  CHECK(turns.process == workloads::ArrivalProcess::poisson);
  // Clusters of tasks are no clusters of turns; slow phases are.
  agents.arrivals->process = workloads::ArrivalProcess::gamma;
  agents.arrivals->cv = 3.0;
  CHECK(arrivals_of_turns(*agents.arrivals, 8.0).process == workloads::ArrivalProcess::poisson);
  CHECK(arrivals_of_turns(*agents.arrivals, 1.0).process == workloads::ArrivalProcess::gamma);
  workloads::Arrivals phases;
  phases.process = workloads::ArrivalProcess::mmpp;
  phases.rates = {1.0 * base::hertz, 3.0 * base::hertz};
  phases.sojourns = {60.0 * base::second, 60.0 * base::second};
  CHECK(mean_rate(arrivals_of_turns(phases, 8.0)).si() == Approx(16.0));
}

}  // namespace roofcast::unit_workloads_agents
