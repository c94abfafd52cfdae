// SPDX-License-Identifier: Apache-2.0
//
// What the host needs for calls: small copies, events, memory, and graphs by their number of nodes. `launch` has kernels.
#include <algorithm>

#include "calibrate/bench/gpu/pinned.cuh"
#include "calibrate/bench/gpu/timing.cuh"
#include "calibrate/bench/measure.hpp"

namespace roofcast::bench {
namespace {

constexpr std::int64_t kMost = std::int64_t{1} << 20;  // bytes of a copy
constexpr int kMany = 100;                             // calls of a sample, where one is short

class Calls {
 public:
  Calls(SuiteRun& run, const Stream& stream)
      : run_(run), stream_(stream), table_(run.directory, layout("host"), run.subject) {}

  // `calls` are in one sample.
  void time(const char* call, std::int64_t bytes, std::int64_t nodes, double calls,
            const std::function<void()>& work) {
    row(call, bytes, nodes, [&] { return time_on_host(stream_, calls, work); });
  }
  void row(const char* call, std::int64_t bytes, std::int64_t nodes,
           const std::function<Spread()>& measure) {
    run_.row(table_, {std::string(call), bytes, nodes}, [&] { return cells_of(measure(), 1e6); });
  }

 private:
  SuiteRun& run_;
  const Stream& stream_;
  Table table_;
};

void many(const std::function<void()>& call) {
  for (int i = 0; i < kMany; ++i) {
    call();
  }
}

void time_copies(Calls& calls, const Stream& stream) {
  const DeviceMemory here(kMost);
  const DeviceMemory there(kMost);
  const PinnedMemory pinned(kMost);
  const std::vector<char> pageable(kMost);
  std::vector<char> target(kMost);
  struct Direction {
    const char* enqueue;
    const char* round_trip;
    void* to;
    const void* from;
    cudaMemcpyKind kind;
  };
  const Direction directions[] = {
      {"copy_to_gpu_enqueue", "copy_to_gpu_round_trip", here.as<void>(), pinned.data(),
       cudaMemcpyHostToDevice},
      {"copy_to_host_enqueue", "copy_to_host_round_trip", pinned.data(), here.as<void>(),
       cudaMemcpyDeviceToHost},
      {"copy_on_gpu_enqueue", "copy_on_gpu_round_trip", there.as<void>(), here.as<void>(),
       cudaMemcpyDeviceToDevice},
      {"pageable_copy_to_gpu_enqueue", "pageable_copy_to_gpu_round_trip", here.as<void>(),
       pageable.data(), cudaMemcpyHostToDevice},
      {"pageable_copy_to_host_enqueue", "pageable_copy_to_host_round_trip", target.data(),
       here.as<void>(), cudaMemcpyDeviceToHost},
  };
  for (const std::int64_t bytes :
       {std::int64_t{8}, std::int64_t{4096}, std::int64_t{65536}, kMost}) {
    for (const Direction& d : directions) {
      const auto copy = [&] {
        check(cudaMemcpyAsync(d.to, d.from, static_cast<std::size_t>(bytes), d.kind, stream),
              "copying");
      };
      calls.time(d.enqueue, bytes, 0, kMany, [&] { many(copy); });
      calls.time(d.round_trip, bytes, 0, 1.0, [&] {
        copy();
        stream.wait();
      });
    }
  }
}

void time_events(Calls& calls, const Stream& stream) {
  Event event;
  event.record(stream);
  calls.time("event_record", 0, 0, kMany, [&] { many([&] { event.record(stream); }); });
  calls.time("stream_wait_event", 0, 0, kMany, [&] {
    many([&] { check(cudaStreamWaitEvent(stream, event, 0), "waiting for an event"); });
  });
  calls.time("synchronize_idle_stream", 0, 0, kMany, [&] { many([&] { stream.wait(); }); });
}

void time_memory(Calls& calls, const Stream& stream) {
  for (const std::int64_t bytes : {kMost, 256 * kMost}) {
    const auto size = static_cast<std::size_t>(bytes);
    calls.time("malloc_and_free", bytes, 0, 1.0, [&] { const DeviceMemory memory(size); });
    calls.time("malloc_and_free_async", bytes, 0, kMany, [&] {
      many([&] {
        void* memory = nullptr;
        check(cudaMallocAsync(&memory, size, stream), "allocating memory of the GPU");
        check(cudaFreeAsync(memory, stream), "freeing memory of the GPU");
      });
    });
  }
}

// Nodes that clear four bytes each.
void time_graphs(Calls& calls, const Stream& stream) {
  const DeviceMemory memory(sizeof(int));
  for (const std::int64_t nodes : {1, 10, 100, 1000}) {
    const auto enqueue = [&] {
      for (std::int64_t i = 0; i < nodes; ++i) {
        check(cudaMemsetAsync(memory.as<void>(), 0, sizeof(int), stream), "clearing a buffer");
      }
    };
    calls.time("memset_enqueue", sizeof(int), nodes, static_cast<double>(nodes), enqueue);
    calls.time("graph_capture_and_instantiate", 0, nodes, 1.0,
               [&] { const Graph graph(stream, enqueue); });
    calls.row("graph_launch_round_trip", 0, nodes, [&] {
      const Graph graph(stream, enqueue);
      return time_on_host(stream, 1.0, [&] {
        graph.launch(stream);
        stream.wait();
      });
    });
  }
}

}  // namespace

void run_host(SuiteRun& run) {
  const Stream stream;
  Calls calls(run, stream);
  time_copies(calls, stream);
  time_events(calls, stream);
  time_memory(calls, stream);
  time_graphs(calls, stream);
}

}  // namespace roofcast::bench
