// SPDX-License-Identifier: Apache-2.0
//
// How long a kernel takes: many launches in a CUDA graph, replayed, so that the host is not timed.
//
// A replay has as many launches as fill about 2 ms; replays follow each other without the host waiting, with an
// event between them, and each is one sample. The clocks are warm: replays that are not counted come first. The L2 is
// not flushed: what a launch finds there is what the ones before it left. A caller that wants cold operands gives
// launches several sets of them in turn.
#pragma once

#include <cuda_runtime.h>

#include <functional>

#include "calibrate/bench/gpu/device.cuh"
#include "calibrate/bench/table.hpp"

namespace roofcast::bench {

struct Timing {
  int turns = 1;           // sets of operands; a replay has a multiple of them
  double replay_s = 2e-3;  // what one replay takes, about
  int samples = 15;
  bool graph = true;  // else launched one by one: for libraries that cannot be captured
};

// A captured sequence of launches.
class Graph {
 public:
  Graph(const Stream& stream, const std::function<void()>& enqueue);
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  ~Graph();
  void launch(const Stream& stream) const {
    check(cudaGraphLaunch(executable_, stream), "launching a graph");
  }

 private:
  cudaGraph_t graph_ = nullptr;
  cudaGraphExec_t executable_ = nullptr;
};

// Seconds of one launch. `launch(i)` enqueues the i-th on the stream, with the operands of turn i % turns.
Spread time_launches(const Stream& stream, const std::function<void(int)>& launch,
                     const Timing& timing = {});

// Seconds of the host in `work`, divided; the stream is empty when it starts.
Spread time_on_host(const Stream& stream, double divisor, const std::function<void()>& work);

}  // namespace roofcast::bench
