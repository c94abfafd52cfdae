// SPDX-License-Identifier: Apache-2.0
//
// Latency of a load by what holds it: one thread follows a random cycle through a footprint.
//
// Lines are visited in random order, each once a round, so neither prefetching nor spatial locality helps; beyond the
// reach of the TLB its misses are part of what is measured, as they are of what a program sees.
#include <algorithm>
#include <numeric>
#include <random>

#include "calibrate/bench/gpu/timing.cuh"
#include "calibrate/bench/grids.hpp"
#include "calibrate/bench/measure.hpp"

namespace roofcast::bench {
namespace {

constexpr std::int64_t kStride = 128;  // bytes between visited places: a line of the L1 and L2
constexpr int kWords = static_cast<int>(kStride / sizeof(std::uint32_t));
constexpr int kSteps = 20000;
constexpr int kSamples = 7;
constexpr std::int64_t kSharedBytes = 32 * 1024;

enum class Load { ca, cg };  // through the L1, past it

struct Walk {
  long long cycles;
  unsigned long long nanoseconds;
  std::uint32_t last;
};

__device__ unsigned long long nanoseconds() {
  unsigned long long value = 0;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(value)::"memory");
  return value;
}

template <Load kLoad>
__device__ std::uint32_t load(const std::uint32_t* place) {
  std::uint32_t value = 0;
  if constexpr (kLoad == Load::ca) {
    asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(value) : "l"(place) : "memory");
  } else {
    asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(value) : "l"(place) : "memory");
  }
  return value;
}

// next[i · kWords] is where to go from i, in words.
template <Load kLoad>
__global__ void chase_kernel(const std::uint32_t* next, std::uint32_t start, int warm_steps,
                             int steps, Walk* walk) {
  std::uint32_t at = start;
  for (int i = 0; i < warm_steps; ++i) {
    at = load<kLoad>(next + at);
  }
  const unsigned long long started = nanoseconds();
  const long long first = clock64();
#pragma unroll 8
  for (int i = 0; i < steps; ++i) {
    at = load<kLoad>(next + at);
  }
  const long long last = clock64();
  *walk = {last - first, nanoseconds() - started, at};
}

__global__ void shared_chase_kernel(const std::uint32_t* next, int words, int steps, Walk* walk) {
  extern __shared__ std::uint32_t table[];
  for (int i = 0; i < words; ++i) {
    table[i] = next[i];
  }
  __syncthreads();
  std::uint32_t at = 0;
  const unsigned long long started = nanoseconds();
  const long long first = clock64();
#pragma unroll 8
  for (int i = 0; i < steps; ++i) {
    at = *static_cast<volatile std::uint32_t*>(table + at);
  }
  const long long last = clock64();
  *walk = {last - first, nanoseconds() - started, at};
}

__global__ void spread_out_kernel(const std::uint32_t* order, std::uint32_t* next,
                                  unsigned places) {
  const unsigned stride = gridDim.x * blockDim.x;
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < places; i += stride) {
    next[static_cast<std::size_t>(i) * kWords] = order[i] * kWords;
  }
}

// One cycle through all places (Sattolo's algorithm).
std::vector<std::uint32_t> random_cycle(std::size_t places) {
  std::vector<std::uint32_t> order(places);
  std::iota(order.begin(), order.end(), 0U);
  std::mt19937_64 random(7);
  for (std::size_t i = places - 1; i > 0; --i) {
    std::swap(order[i], order[random() % i]);
  }
  return order;
}

class Chase {
 public:
  Chase(const Stream& stream, std::int64_t footprint)
      : places_(static_cast<std::size_t>(footprint / kStride)),
        next_(static_cast<std::size_t>(footprint)),
        walk_(sizeof(Walk)) {
    const std::vector<std::uint32_t> order = random_cycle(places_);
    const DeviceMemory on_device(order.size() * sizeof(std::uint32_t));
    check(cudaMemcpy(on_device.as<void>(), order.data(), on_device.bytes(), cudaMemcpyHostToDevice),
          "copying a cycle to the GPU");
    check(cudaMemsetAsync(next_.as<void>(), 0, next_.bytes(), stream), "clearing a buffer");
    spread_out_kernel<<<blocks_for(places_, 256), 256, 0, stream>>>(
        on_device.as<std::uint32_t>(), next_.as<std::uint32_t>(), static_cast<unsigned>(places_));
    check_launch("spreading a cycle out");
    const DeviceMemory other(2 * current_device().l2_bytes);  // written: the L2 forgets the cycle
    check(cudaMemsetAsync(other.as<void>(), 0, other.bytes(), stream), "clearing the L2");
    stream.wait();
  }

  // Each walk goes on where the one before it ended. The first goes round what a cache may hold, all of them round
  // what an L1 may hold, which forgets between kernels.
  Walk through_global(const Stream& stream, Load how) {
    constexpr std::size_t kMostInL2 = 1U << 20U;
    constexpr std::size_t kMostInL1 = 1U << 12U;
    const int warm = static_cast<int>(std::min(places_, first_ ? kMostInL2 : kMostInL1));
    first_ = false;
    const auto* next = next_.as<std::uint32_t>();
    if (how == Load::ca) {
      chase_kernel<Load::ca><<<1, 1, 0, stream>>>(next, at_, warm, kSteps, walk_.as<Walk>());
    } else {
      chase_kernel<Load::cg><<<1, 1, 0, stream>>>(next, at_, warm, kSteps, walk_.as<Walk>());
    }
    return result(stream);
  }

  Walk through_shared(const Stream& stream) {
    const int words = static_cast<int>(next_.bytes() / sizeof(std::uint32_t));
    shared_chase_kernel<<<1, 1, next_.bytes(), stream>>>(next_.as<std::uint32_t>(), words, kSteps,
                                                         walk_.as<Walk>());
    return result(stream);
  }

 private:
  Walk result(const Stream& stream) {
    check_launch("a pointer chase");
    stream.wait();
    const Walk walk = to_host(walk_.as<Walk>(), 1).front();
    at_ = walk.last;
    return walk;
  }

  std::size_t places_;
  DeviceMemory next_;
  DeviceMemory walk_;
  std::uint32_t at_ = 0;
  bool first_ = true;
};

struct Latency {
  Spread seconds;
  double cycles = 0.0;
};

Latency latency(const std::function<Walk()>& walk) {
  std::vector<double> seconds;
  std::vector<double> cycles;
  walk();
  for (int i = 0; i < kSamples; ++i) {
    const Walk walked = walk();
    seconds.push_back(static_cast<double>(walked.nanoseconds) * 1e-9 / kSteps);
    cycles.push_back(static_cast<double>(walked.cycles) / kSteps);
  }
  return {spread_of(seconds), spread_of(cycles).median};
}

Cells cells(const Latency& latency) {
  Cells all = cells_of(latency.seconds, 1e9);
  all.emplace_back(latency.cycles);
  return all;
}

}  // namespace

void run_latency(SuiteRun& run) {
  const Stream stream;
  Table table(run.directory, layout("latency"), run.subject);
  run.row(table, {std::string("shared"), std::string("ld"), kSharedBytes, kStride}, [&] {
    Chase chase(stream, kSharedBytes);
    return cells(latency([&] { return chase.through_shared(stream); }));
  });
  const auto most = static_cast<std::int64_t>(free_memory() / 2);
  for (const std::int64_t footprint : powers_of_two(4096, std::min(most, std::int64_t{1} << 30))) {
    for (const Load how : {Load::ca, Load::cg}) {
      const std::string name = how == Load::ca ? "ld.ca" : "ld.cg";
      run.row(table, {std::string("global"), name, footprint, kStride}, [&] {
        Chase chase(stream, footprint);
        return cells(latency([&] { return chase.through_global(stream, how); }));
      });
    }
  }
}

double dram_latency() {
  const Stream stream;
  // Eight times the L2, in which at most an eighth is found; small enough for the TLB of most GPUs.
  const std::int64_t footprint =
      powers_of_two(1, 8 * static_cast<std::int64_t>(current_device().l2_bytes)).back();
  Chase chase(stream, footprint);
  return latency([&] { return chase.through_global(stream, Load::cg); }).seconds.median;
}

}  // namespace roofcast::bench
