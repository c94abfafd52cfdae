// SPDX-License-Identifier: Apache-2.0
//
// Walks through sampled tasks of agents (agents.hpp): the times of tasks, where every turn takes the same mean time.
#pragma once

#include <vector>

#include "workloads/traffic/agents.hpp"

namespace roofcast::workloads {

// The context of a turn after its answer, until the next turn of the session.
struct Pause {
  double tokens = 0;   // tokens of the context, without those that all sessions share
  base::Seconds wait;  // until it is used; infinite if it is not used again
};

// Times of the sampled tasks.
struct Walk {
  std::vector<base::Seconds> times;  // of each task
  base::Seconds alive;               // of all sessions, without waits for sub-agents
  base::Seconds tools;               // of all sessions, in tools
  base::Seconds total;               // sum of `times`
  std::vector<Pause> pauses;         // of each turn, session by session
};

// Time of a turn in stages and engine: first + wait · (an exponential number of mean 1) + a_token · (tokens − 1).
struct Stay {
  base::Seconds first;    // first token of a turn that is alone, and the service of stages
  base::Seconds wait;     // mean of the rest before the first token
  base::Seconds a_token;  // each further token
};

// The exponential numbers are drawn once, so that each walk has the same ones.
class TaskWalk {
 public:
  explicit TaskWalk(const SampledAgents& sample);

  double turns() const { return static_cast<double>(turns_); }
  Walk walk(const Stay& stay);

 private:
  base::Seconds session(const AgentTask& task, std::size_t number, const Stay& stay);

  const SampledAgents& sample_;
  std::size_t turns_ = 0;
  std::vector<double> waits_;
  std::vector<std::size_t> firsts_;  // index of the first turn of each session of the task
  Walk walk_;
};

}  // namespace roofcast::workloads
