// SPDX-License-Identifier: Apache-2.0
//
// DRAM bandwidth by what is under way: CTAs of an SM, threads of a CTA and loads of a thread. By Little's law it rises
// with the bytes in flight until the memory is full.
#include <algorithm>

#include "calibrate/bench/gpu/timing.cuh"
#include "calibrate/bench/grids.hpp"
#include "calibrate/bench/measure.hpp"

namespace roofcast::bench {
namespace {

// Each thread has kLoads of 16 bytes under way, past the L1, and uses them when all are there.
template <int kLoads>
__global__ void read_kernel(const uint4* __restrict__ in, unsigned* sink, std::size_t count) {
  const std::size_t stride = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  unsigned sum = 0;
  for (; i + (kLoads - 1) * stride < count; i += kLoads * stride) {
    uint4 values[kLoads];
#pragma unroll
    for (int u = 0; u < kLoads; ++u) {
      values[u] = __ldcg(in + i + u * stride);
    }
#pragma unroll
    for (int u = 0; u < kLoads; ++u) {
      sum ^= values[u].x ^ values[u].y ^ values[u].z ^ values[u].w;
    }
  }
  for (; i < count; i += stride) {
    const uint4 value = __ldcg(in + i);
    sum ^= value.x ^ value.y ^ value.z ^ value.w;
  }
  if (sum == 0x9e3779b9U) {  // keeps the loads; stored only for one sum in 2^32
    *sink = sum;
  }
}

void launch(const InFlightShape& shape, unsigned sms, const uint4* in, unsigned* sink,
            std::size_t count, cudaStream_t stream) {
  const unsigned ctas = static_cast<unsigned>(shape.ctas) * sms;
  const auto threads = static_cast<unsigned>(shape.threads);
  switch (shape.loads) {
    case 1:
      read_kernel<1><<<ctas, threads, 0, stream>>>(in, sink, count);
      break;
    case 2:
      read_kernel<2><<<ctas, threads, 0, stream>>>(in, sink, count);
      break;
    case 4:
      read_kernel<4><<<ctas, threads, 0, stream>>>(in, sink, count);
      break;
    case 8:
      read_kernel<8><<<ctas, threads, 0, stream>>>(in, sink, count);
      break;
    default:
      throw std::runtime_error("the kernel has 1, 2, 4 or 8 loads");
  }
  check_launch("reading with loads under way");
}

}  // namespace

void run_in_flight(SuiteRun& run) {
  const auto sms = static_cast<unsigned>(current_device().sms);
  const Stream stream;
  // Far more than the L2 holds, and short enough for one warp of an SM.
  const std::size_t bytes = std::min(std::size_t{1} << 30, free_memory() / 2);
  const DeviceMemory in(bytes);
  const DeviceMemory sink(sizeof(unsigned));
  fill_random(in.as<void>(), bytes / sizeof(float), Format::fp32, 1.0F, 1, stream);
  stream.wait();
  Table table(run.directory, layout("in_flight"), run.subject);
  Timing timing;
  timing.samples = 5;
  for (const InFlightShape& shape : in_flight_shapes()) {
    run.row(table, {shape.ctas, shape.threads, shape.loads, static_cast<std::int64_t>(bytes)}, [&] {
      const Spread seconds = time_launches(
          stream,
          [&](int) {
            launch(shape, sms, in.as<uint4>(), sink.as<unsigned>(), bytes / sizeof(uint4), stream);
          },
          timing);
      Cells cells = cells_of(seconds, 1e3);
      cells.emplace_back(shape.bytes());
      cells.emplace_back(static_cast<double>(bytes) / seconds.median * 1e-9);
      return cells;
    });
  }
}

}  // namespace roofcast::bench
