// SPDX-License-Identifier: Apache-2.0
//
// Copies between pinned memory of the host and the GPU, by size.
#include "calibrate/bench/gpu/pinned.cuh"
#include "calibrate/bench/gpu/timing.cuh"
#include "calibrate/bench/grids.hpp"
#include "calibrate/bench/measure.hpp"

namespace roofcast::bench {
void run_pcie(SuiteRun& run) {
  constexpr std::int64_t kMost = std::int64_t{512} << 20;
  const Stream stream;
  Table table(run.directory, layout("pcie"), run.subject);
  const DeviceMemory on_gpu(kMost);
  const PinnedMemory on_host(kMost);
  fill_random(on_gpu.as<void>(), kMost / sizeof(float), Format::fp32, 1.0F, 1, stream);
  check(cudaMemcpyAsync(on_host.data(), on_gpu.as<void>(), kMost, cudaMemcpyDeviceToHost, stream),
        "copying to the host");
  stream.wait();
  for (const std::int64_t bytes : powers_of_two(4096, kMost)) {
    for (const char* direction : {"host_to_gpu", "gpu_to_host"}) {
      const bool in = direction == std::string_view("host_to_gpu");
      run.row(table, {std::string(direction), bytes}, [&] {
        const Spread seconds = time_launches(stream, [&](int) {
          check(cudaMemcpyAsync(in ? on_gpu.as<void>() : on_host.data(),
                                in ? on_host.data() : on_gpu.as<void>(),
                                static_cast<std::size_t>(bytes),
                                in ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost, stream),
                "copying between host and GPU");
        });
        Cells cells = cells_of(seconds, 1e3);
        cells.emplace_back(static_cast<double>(bytes) / seconds.median * 1e-9);
        return cells;
      });
    }
  }
}

}  // namespace roofcast::bench
