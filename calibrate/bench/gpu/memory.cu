// SPDX-License-Identifier: Apache-2.0
//
// Bandwidth of DRAM and L2: copy, read and write by size, and by the number of CTAs that ask.
#include <algorithm>

#include "calibrate/bench/gpu/timing.cuh"
#include "calibrate/bench/grids.hpp"
#include "calibrate/bench/measure.hpp"

namespace roofcast::bench {
namespace {

constexpr int kUnroll = 4;  // loads of 16 bytes that a thread has under way
constexpr unsigned kThreads = 256;
constexpr unsigned kCtasPerSm = 8;  // 2048 threads, all that an SM holds
constexpr unsigned kOccupancyThreads = 1024;

// A CTA works on tiles of kUnroll loads a thread, so that what is under way lies side by side.
__device__ std::size_t first_of_tile() {
  return static_cast<std::size_t>(blockIdx.x) * blockDim.x * kUnroll + threadIdx.x;
}
__device__ std::size_t tile_stride() {
  return static_cast<std::size_t>(gridDim.x) * blockDim.x * kUnroll;
}
__device__ std::size_t first_index() {
  return static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ std::size_t grid_stride() { return static_cast<std::size_t>(gridDim.x) * blockDim.x; }

__global__ void copy_kernel(const uint4* __restrict__ in, uint4* __restrict__ out,
                            std::size_t count) {
  for (std::size_t i = first_of_tile(); i < count; i += tile_stride()) {
    uint4 values[kUnroll];
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      if (i + u * blockDim.x < count) {
        values[u] = in[i + u * blockDim.x];
      }
    }
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      if (i + u * blockDim.x < count) {
        out[i + u * blockDim.x] = values[u];
      }
    }
  }
}

// The sum of all bits keeps the loads; it is stored only for one value in 2^32.
__device__ void keep(unsigned sum, unsigned* sink) {
  if (sum == 0x9e3779b9U) {
    *sink = sum;
  }
}
__device__ unsigned folded(const uint4& value) { return value.x ^ value.y ^ value.z ^ value.w; }

__global__ void read_kernel(const uint4* __restrict__ in, unsigned* sink, std::size_t count) {
  unsigned sum = 0;
  for (std::size_t i = first_of_tile(); i < count; i += tile_stride()) {
    uint4 values[kUnroll] = {};
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      if (i + u * blockDim.x < count) {
        values[u] = in[i + u * blockDim.x];
      }
    }
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      sum ^= folded(values[u]);
    }
  }
  keep(sum, sink);
}

__global__ void write_kernel(uint4* __restrict__ out, std::size_t count) {
  const std::size_t stride = grid_stride();
  for (std::size_t i = first_index(); i < count; i += stride) {
    const auto low = static_cast<unsigned>(i) * 2654435761U;
    out[i] = make_uint4(low, low ^ 0x5bd1e995U, ~low, low + 0x27d4eb2fU);
  }
}

// Reads `total` values of a buffer of `mask + 1` over and over, past the L1.
__global__ void l2_kernel(const uint4* __restrict__ in, unsigned* sink, std::size_t mask,
                          std::size_t total) {
  const std::size_t stride = grid_stride();
  unsigned sum = 0;
  std::size_t i = first_index();
  for (; i + (kUnroll - 1) * stride < total; i += kUnroll * stride) {
    uint4 values[kUnroll];
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      values[u] = __ldcg(in + ((i + u * stride) & mask));
    }
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      sum ^= folded(values[u]);
    }
  }
  for (; i < total; i += stride) {
    sum ^= folded(__ldcg(in + (i & mask)));
  }
  keep(sum, sink);
}

class Buffers {
 public:
  Buffers(const Stream& stream, std::size_t bytes) : in_(bytes), out_(bytes) {
    fill_random(in_.as<void>(), bytes / sizeof(float), Format::fp32, 1.0F, 1, stream);
    fill_random(out_.as<void>(), bytes / sizeof(float), Format::fp32, 1.0F, 2, stream);
    stream.wait();
  }

  Spread time(const Stream& stream, const std::string& op, std::size_t bytes, unsigned ctas,
              unsigned threads) const {
    const std::size_t count = bytes / sizeof(uint4);
    Timing timing;
    timing.graph = op != "memcpy";  // a graph has other copies than a stream
    return time_launches(
        stream,
        [&](int) {
          if (op == "memcpy") {
            check(cudaMemcpyAsync(out_.as<void>(), in_.as<void>(), bytes, cudaMemcpyDeviceToDevice,
                                  stream),
                  "copying on the GPU");
            return;
          }
          if (op == "copy") {
            copy_kernel<<<ctas, threads, 0, stream>>>(in_.as<uint4>(), out_.as<uint4>(), count);
          } else if (op == "read") {
            read_kernel<<<ctas, threads, 0, stream>>>(in_.as<uint4>(), out_.as<unsigned>(), count);
          } else {
            write_kernel<<<ctas, threads, 0, stream>>>(out_.as<uint4>(), count);
          }
          check_launch(op.c_str());
        },
        timing);
  }

  // `bytes` is a power of two.
  Spread time_l2(const Stream& stream, std::size_t bytes, std::size_t moved, unsigned ctas) const {
    return time_launches(stream, [&](int) {
      l2_kernel<<<ctas, kThreads, 0, stream>>>(in_.as<uint4>(), out_.as<unsigned>(),
                                               bytes / sizeof(uint4) - 1, moved / sizeof(uint4));
      check_launch("l2_read");
    });
  }

 private:
  DeviceMemory in_, out_;
};

std::size_t moved_by(const std::string& op, std::size_t bytes) {
  return op == "copy" || op == "memcpy" ? 2 * bytes : bytes;
}

Cells cells(const Spread& seconds, std::size_t moved) {
  Cells all = cells_of(seconds, 1e3);
  all.emplace_back(static_cast<std::int64_t>(moved));
  all.emplace_back(static_cast<double>(moved) / seconds.median * 1e-9);
  return all;
}

constexpr std::int64_t kKibi = 1024;
constexpr std::int64_t kMebi = kKibi * kKibi;
constexpr std::int64_t kGibi = kMebi * kKibi;
constexpr std::int64_t kL2Moved = 4 * kGibi;

// A power of two, so that two buffers take at most half of what is free.
std::int64_t largest_buffer() {
  const auto quarter = static_cast<std::int64_t>(free_memory() / 4);
  return powers_of_two(kMebi, std::min(4 * kGibi, quarter)).back();
}

}  // namespace

void run_copy(SuiteRun& run) {
  const Device device = current_device();
  const auto sms = static_cast<unsigned>(device.sms);
  const Stream stream;
  const std::int64_t most = largest_buffer();
  const Buffers buffers(stream, static_cast<std::size_t>(most));
  Table copy(run.directory, layout("copy"), run.subject);
  Table l2(run.directory, layout("l2"), run.subject);

  const auto row = [&](const std::string& op, std::int64_t size, unsigned ctas, unsigned threads) {
    const auto bytes = static_cast<std::size_t>(size);
    run.row(copy, {op, size, std::int64_t{ctas}, std::int64_t{threads}}, [&] {
      return cells(buffers.time(stream, op, bytes, ctas, threads), moved_by(op, bytes));
    });
  };
  const auto full = [&](std::int64_t bytes) {
    const auto threads = static_cast<std::size_t>(bytes) / sizeof(uint4);
    return std::min(kCtasPerSm * sms, blocks_for(threads, kThreads));
  };
  std::vector<std::int64_t> sizes = powers_of_two(256 * kKibi, most);
  std::reverse(sizes.begin(), sizes.end());
  for (const std::int64_t bytes : sizes) {
    for (const char* op : {"copy", "read", "write"}) {
      row(op, bytes, full(bytes), kThreads);
    }
    row("memcpy", bytes, 0, 0);
  }
  for (const std::int64_t size : powers_of_two(kMebi, std::min(most, 512 * kMebi))) {
    const auto bytes = static_cast<std::size_t>(size);
    const unsigned ctas = kCtasPerSm * sms;
    run.row(l2, {std::string("read"), size, std::int64_t{ctas}, std::int64_t{kThreads}},
            [&] { return cells(buffers.time_l2(stream, bytes, kL2Moved, ctas), kL2Moved); });
  }
  const std::int64_t large = std::min(most, 2 * kGibi);
  for (const std::int64_t ctas : cta_counts(device.sms)) {
    for (const char* op : {"copy", "read"}) {
      row(op, large, static_cast<unsigned>(ctas), kOccupancyThreads);
    }
  }
}

double copy_bandwidth() {
  const Stream stream;
  const auto bytes = static_cast<std::size_t>(std::min(largest_buffer(), 2 * kGibi));
  const Buffers buffers(stream, bytes);
  const unsigned ctas = kCtasPerSm * static_cast<unsigned>(current_device().sms);
  const Spread seconds = buffers.time(stream, "copy", bytes, ctas, kThreads);
  return static_cast<double>(moved_by("copy", bytes)) / seconds.median;
}

double l2_bandwidth() {
  const Stream stream;
  const Device device = current_device();
  // Half of the L2 or less: on parts with two halves each keeps a copy of what it reads of the other.
  const std::int64_t bytes =
      powers_of_two(kMebi, std::max(kMebi, static_cast<std::int64_t>(device.l2_bytes) / 4)).back();
  const Buffers buffers(stream, static_cast<std::size_t>(bytes));
  const Spread seconds = buffers.time_l2(stream, static_cast<std::size_t>(bytes), kL2Moved,
                                         kCtasPerSm * static_cast<unsigned>(device.sms));
  return static_cast<double>(kL2Moved) / seconds.median;
}

}  // namespace roofcast::bench
