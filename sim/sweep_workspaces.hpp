// SPDX-License-Identifier: Apache-2.0
//
// What the threads of a sweep keep from estimate to estimate. A sweep in parts has many runs of few points, and a thread
// that began each of them with nothing would compute most iterations again.
#pragma once

#include <memory>
#include <vector>

#include "sim/iteration/iteration.hpp"

namespace roofcast::sim {

// Of one thread.
class SweepWorkspace {
 public:
  SweepWorkspace();
  // Pools and trainings make sections of their own for each estimate, so no iteration of theirs is kept.
  Workspace& of(const ScenarioView& s);

 private:
  Workspace staying_;
  Workspace passing_;
};

// Of all threads. The points that they estimate live as long, and their sections stay where they are
// (sim/iteration/iteration_cache.hpp). One run at a time.
class SweepWorkspaces {
 public:
  void reserve(unsigned threads);
  // Each thread asks for its own, which is made at the first call: about 3 MB.
  SweepWorkspace& of(unsigned thread);

 private:
  std::vector<std::unique_ptr<SweepWorkspace>> by_thread_;
};

}  // namespace roofcast::sim
