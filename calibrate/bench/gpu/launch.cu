// SPDX-License-Identifier: Apache-2.0
//
// What launching costs: empty kernels one after the other in a stream and in a graph, and the way there and back.
#include "calibrate/bench/gpu/timing.cuh"
#include "calibrate/bench/measure.hpp"

namespace roofcast::bench {
namespace {

constexpr unsigned kThreads = 128;
constexpr int kSamples = 25;

__global__ void empty_kernel() {}

void launch_empty(const Stream& stream, std::int64_t kernels, std::int64_t ctas) {
  for (std::int64_t i = 0; i < kernels; ++i) {
    empty_kernel<<<static_cast<unsigned>(ctas), kThreads, 0, stream>>>();
  }
  check_launch("an empty kernel");
}

// Seconds on the GPU from before what `enqueue` launches to after it, over and over.
Spread on_gpu(const Stream& stream, double divisor, const std::function<void()>& enqueue) {
  std::vector<double> seconds;
  for (int i = 0; i < kSamples + 3; ++i) {
    Event start;
    Event end;
    start.record(stream);
    enqueue();
    end.record(stream);
    end.wait();
    if (i >= 3) {
      seconds.push_back(end.seconds_since(start) / divisor);
    }
  }
  return spread_of(seconds);
}

}  // namespace

void run_launch(SuiteRun& run) {
  const Stream stream;
  Table table(run.directory, layout("launch"), run.subject);
  const auto row = [&](const char* method, std::int64_t kernels, std::int64_t ctas,
                       const std::function<Spread()>& measure) {
    run.row(table, {std::string(method), kernels, ctas}, [&] { return cells_of(measure(), 1e6); });
  };
  for (const std::int64_t ctas : {std::int64_t{1}, std::int64_t{current_device().sms}}) {
    constexpr std::int64_t kMany = 500;  // fewer than a stream's queue holds
    const auto many = [&] { launch_empty(stream, kMany, ctas); };
    row("stream_back_to_back", kMany, ctas, [&] { return on_gpu(stream, kMany, many); });
    row("stream_enqueue_on_host", kMany, ctas, [&] { return time_on_host(stream, kMany, many); });
    row("stream_round_trip", 1, ctas, [&] {
      return time_on_host(stream, 1.0, [&] {
        launch_empty(stream, 1, ctas);
        stream.wait();
      });
    });
    for (const std::int64_t kernels : {1, 10, 100, 1000}) {
      const auto graph_of = [&] {
        return Graph(stream, [&] { launch_empty(stream, kernels, ctas); });
      };
      row("graph_replay", kernels, ctas, [&] {
        const Graph graph = graph_of();
        return on_gpu(stream, static_cast<double>(kernels), [&] { graph.launch(stream); });
      });
      row("graph_enqueue_on_host", kernels, ctas, [&] {
        const Graph graph = graph_of();
        return time_on_host(stream, 1.0, [&] { graph.launch(stream); });
      });
      row("graph_round_trip", kernels, ctas, [&] {
        const Graph graph = graph_of();
        return time_on_host(stream, 1.0, [&] {
          graph.launch(stream);
          stream.wait();
        });
      });
    }
  }
}

}  // namespace roofcast::bench
