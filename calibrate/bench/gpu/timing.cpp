// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <memory>

#include "calibrate/bench/clock.hpp"
#include "calibrate/bench/gpu/timing.cuh"

namespace roofcast::bench {

Graph::Graph(const Stream& stream, const std::function<void()>& enqueue) {
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "capturing a graph");
  try {
    enqueue();
  } catch (...) {
    cudaStreamEndCapture(stream, &graph_);
    if (graph_ != nullptr) {
      cudaGraphDestroy(graph_);
    }
    cudaGetLastError();
    throw;
  }
  check(cudaStreamEndCapture(stream, &graph_), "ending the capture of a graph");
  const cudaError_t status = cudaGraphInstantiate(&executable_, graph_, 0);
  if (status != cudaSuccess) {
    cudaGraphDestroy(graph_);
    check(status, "making a graph executable");
  }
}

Graph::~Graph() {
  cudaGraphExecDestroy(executable_);
  cudaGraphDestroy(graph_);
}

Spread time_launches(const Stream& stream, const std::function<void(int)>& launch,
                     const Timing& timing) {
  Event start;
  Event end;
  launch(0);  // loads the kernel
  stream.wait();
  start.record(stream);
  for (int i = 0; i < timing.turns; ++i) {
    launch(i);
  }
  end.record(stream);
  end.wait();
  const double once = std::max(end.seconds_since(start) / timing.turns, 1e-7);

  constexpr int kMostLaunches = 500;
  const int wanted = static_cast<int>(std::min<double>(kMostLaunches, timing.replay_s / once));
  const int rounds = std::max(1, wanted / timing.turns);
  const int launches = rounds * timing.turns;
  const auto enqueue = [&] {
    for (int i = 0; i < launches; ++i) {
      launch(i);
    }
  };
  std::unique_ptr<Graph> graph;
  if (timing.graph) {
    graph = std::make_unique<Graph>(stream, enqueue);
  }
  const auto replay = [&] {
    if (graph != nullptr) {
      graph->launch(stream);
    } else {
      enqueue();
    }
  };

  // Long kernels are steady: fewer samples keep them from taking all the time.
  constexpr double kMostSeconds = 0.5;
  const double replay_s = once * launches;
  const int samples = std::clamp(static_cast<int>(kMostSeconds / replay_s),
                                 std::min(5, timing.samples), timing.samples);
  replay();
  replay();
  std::vector<Event> events(static_cast<std::size_t>(samples) + 1);
  events.front().record(stream);
  for (std::size_t i = 1; i < events.size(); ++i) {
    replay();
    events[i].record(stream);
  }
  events.back().wait();
  std::vector<double> seconds;
  for (std::size_t i = 1; i < events.size(); ++i) {
    seconds.push_back(events[i].seconds_since(events[i - 1]) / launches);
  }
  return spread_of(seconds);
}

Spread time_on_host(const Stream& stream, double divisor, const std::function<void()>& work) {
  constexpr int kSamples = 25;
  constexpr int kNotCounted = 3;
  std::vector<double> seconds;
  for (int i = 0; i < kSamples + kNotCounted; ++i) {
    stream.wait();
    const double start = now_s();
    work();
    if (i >= kNotCounted) {
      seconds.push_back((now_s() - start) / divisor);
    }
  }
  stream.wait();
  return spread_of(seconds);
}

}  // namespace roofcast::bench
