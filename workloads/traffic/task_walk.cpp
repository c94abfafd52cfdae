// SPDX-License-Identifier: Apache-2.0
#include "workloads/traffic/task_walk.hpp"

#include <utility>

#include "base/statistics/random.hpp"

namespace roofcast::workloads {

using base::Seconds;

TaskWalk::TaskWalk(const SampledAgents& sample) : sample_(sample) {
  base::Random random(1, "waits");
  for (const AgentTask& task : sample.tasks) {
    for (const auto& session : task.sessions) {
      turns_ += session.size();
    }
  }
  waits_.reserve(turns_);
  for (std::size_t i = 0; i < turns_; ++i) {
    waits_.push_back(random.exponential(1.0));
  }
}

Walk TaskWalk::walk(const Stay& stay) {
  walk_ = {};
  walk_.pauses.resize(turns_);
  std::size_t first = 0;
  for (const AgentTask& task : sample_.tasks) {
    firsts_.clear();
    for (const auto& session : task.sessions) {
      firsts_.push_back(first);
      first += session.size();
    }
    walk_.times.push_back(session(task, 0, stay));
    walk_.total += walk_.times.back();
  }
  return std::move(walk_);
}

// Time of one session. Sub-agents have no sub-agents themselves, so this is at most two deep.
Seconds TaskWalk::session(const AgentTask& task, std::size_t number, const Stay& stay) {
  Seconds time;
  const std::vector<AgentTurn>& turns = task.sessions[number];
  for (std::size_t i = 0; i < turns.size(); ++i) {
    const AgentTurn& turn = turns[i];
    const std::size_t index = firsts_[number] + i;
    const Seconds engine = stay.first + stay.wait * waits_[index] +
                           stay.a_token * static_cast<double>(turn.output_tokens - 1);
    Seconds pause = turn.tools;
    walk_.alive += engine + pause;
    walk_.tools += pause;
    for (std::size_t child = turn.child; child < turn.child + turn.children; ++child) {
      pause = base::max(pause, session(task, child, stay));
    }
    const bool last = i + 1 == turns.size();
    const bool used = !last && turns[i + 1].own_known > 0;
    walk_.pauses[index] = {
        static_cast<double>(turn.input_tokens + turn.output_tokens - turn.shared_known),
        used ? pause + stay.wait * waits_[index + 1] : Seconds::infinity()};
    time += engine + pause;
  }
  return time;
}

}  // namespace roofcast::workloads
