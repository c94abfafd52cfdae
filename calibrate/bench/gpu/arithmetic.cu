// SPDX-License-Identifier: Apache-2.0
//
// What the SMs compute beside the tensor cores: exponentials, which bound the softmax of attention, and FMA in fp32. All
// threads of all SMs run chains of instructions that do not depend on each other.
#include "calibrate/bench/gpu/timing.cuh"
#include "calibrate/bench/measure.hpp"

namespace roofcast::bench {
namespace {

constexpr int kChains = 8;  // of a thread
constexpr int kSteps = 4096;
constexpr unsigned kThreads = 256;
constexpr unsigned kCtasPerSm = 8;  // 2048 threads, all that an SM holds

enum class Op { exp2, fma };

template <Op kOp>
__global__ void __launch_bounds__(kThreads) arithmetic_kernel(float seed, float* sink) {
  float values[kChains];
  for (int c = 0; c < kChains; ++c) {
    values[c] = seed * static_cast<float>(threadIdx.x + c);
  }
#pragma unroll 4
  for (int step = 0; step < kSteps; ++step) {
#pragma unroll
    for (int c = 0; c < kChains; ++c) {
      if constexpr (kOp == Op::exp2) {
        asm volatile("ex2.approx.ftz.f32 %0, %0;" : "+f"(values[c]));
      } else {
        asm volatile("fma.rn.f32 %0, %0, %1, %1;" : "+f"(values[c]) : "f"(seed));
      }
    }
  }
  float sum = 0.0F;
  for (int c = 0; c < kChains; ++c) {
    sum += values[c];
  }
  if (sum == 12345.678F) {  // keeps the chains
    *sink = sum;
  }
}

}  // namespace

void run_arithmetic(SuiteRun& run) {
  const auto ctas = static_cast<unsigned>(current_device().sms) * kCtasPerSm;
  const Stream stream;
  const DeviceMemory sink(sizeof(float));
  Table table(run.directory, layout("arithmetic"), run.subject);
  const auto row = [&](const char* name, auto kernel) {
    run.row(table, {std::string(name), std::int64_t{ctas}, std::int64_t{kThreads}}, [&] {
      const Spread seconds = time_launches(stream, [&](int) {
        kernel<<<ctas, kThreads, 0, stream>>>(0.001F, sink.as<float>());
        check_launch(name);
      });
      Cells cells = cells_of(seconds, 1e3);
      cells.emplace_back(static_cast<double>(kChains) * kSteps * kThreads * ctas / seconds.median);
      return cells;
    });
  };
  row("exp2_fp32", arithmetic_kernel<Op::exp2>);
  row("fma_fp32", arithmetic_kernel<Op::fma>);
}

}  // namespace roofcast::bench
