// SPDX-License-Identifier: Apache-2.0
//
// Memory-bound kernels between GEMMs, on bf16: RMSNorm, SiLU of a gate times its partner, quantising to fp8 with a
// scale that is given or with one of each row. A CTA takes a row and reads it once, 16 bytes a thread at a time.
#include <algorithm>
#include <cmath>

#include "calibrate/bench/gpu/timing.cuh"
#include "calibrate/bench/measure.hpp"

namespace roofcast::bench {
namespace {

using bf16 = __nv_bfloat16;

constexpr int kThreads = 256;
constexpr int kVector = 8;       // bf16 elements in 16 bytes
constexpr int kMostVectors = 8;  // of a thread: rows of 16384
constexpr int kMostWidth = kThreads * kVector * kMostVectors;
constexpr float kFp8Max = 448.0F;  // e4m3
constexpr float kEpsilon = 1e-5F;

struct Eight {
  float value[kVector];
};

__device__ Eight load(const bf16* place) {
  const uint4 bits = *reinterpret_cast<const uint4*>(place);
  const auto* pairs = reinterpret_cast<const __nv_bfloat162*>(&bits);
  Eight all;
#pragma unroll
  for (int i = 0; i < kVector / 2; ++i) {
    const float2 two = __bfloat1622float2(pairs[i]);
    all.value[2 * i] = two.x;
    all.value[2 * i + 1] = two.y;
  }
  return all;
}
__device__ void store(bf16* place, const Eight& all) {
  uint4 bits;
  auto* pairs = reinterpret_cast<__nv_bfloat162*>(&bits);
#pragma unroll
  for (int i = 0; i < kVector / 2; ++i) {
    pairs[i] = __floats2bfloat162_rn(all.value[2 * i], all.value[2 * i + 1]);
  }
  *reinterpret_cast<uint4*>(place) = bits;
}
__device__ void store(__nv_fp8_e4m3* place, const Eight& all) {
  uint2 bits;
  auto* bytes = reinterpret_cast<__nv_fp8_e4m3*>(&bits);
#pragma unroll
  for (int i = 0; i < kVector; ++i) {
    bytes[i] = __nv_fp8_e4m3(all.value[i]);
  }
  *reinterpret_cast<uint2*>(place) = bits;
}

// Over the CTA; every thread gets the result.
template <class Join>
__device__ float joined(float value, Join join) {
  __shared__ float parts[kThreads / 32];
  for (int step = 16; step > 0; step /= 2) {
    value = join(value, __shfl_xor_sync(0xffffffffU, value, step));
  }
  if (threadIdx.x % 32 == 0) {
    parts[threadIdx.x / 32] = value;
  }
  __syncthreads();
  float all = parts[0];
  for (int i = 1; i < kThreads / 32; ++i) {
    all = join(all, parts[i]);
  }
  return all;
}

// The columns of a thread: kVector from each of these on.
__device__ int column_of(int vector) {
  return (vector * kThreads + static_cast<int>(threadIdx.x)) * kVector;
}

// Grid of the three: rows. kVectors: of a thread, as many as the width asks for.
template <int kVectors>
__global__ void rms_norm_kernel(const bf16* x, const bf16* gain, bf16* out, int width) {
  const std::size_t row = static_cast<std::size_t>(blockIdx.x) * width;
  Eight values[kVectors];
  float squares = 0.0F;
#pragma unroll
  for (int v = 0; v < kVectors; ++v) {
    if (column_of(v) < width) {
      values[v] = load(x + row + column_of(v));
      for (const float value : values[v].value) {
        squares += value * value;
      }
    }
  }
  squares = joined(squares, [](float a, float b) { return a + b; });
  const float scale = rsqrtf(squares / static_cast<float>(width) + kEpsilon);
#pragma unroll
  for (int v = 0; v < kVectors; ++v) {
    if (column_of(v) < width) {
      const Eight gains = load(gain + column_of(v));
      for (int i = 0; i < kVector; ++i) {
        values[v].value[i] *= scale * gains.value[i];
      }
      store(out + row + column_of(v), values[v]);
    }
  }
}

// A row of x is `width` gates, then as many partners.
__global__ void silu_multiply_kernel(const bf16* x, bf16* out, int width) {
  const std::size_t row = blockIdx.x;
  for (int column = static_cast<int>(threadIdx.x) * kVector; column < width;
       column += kThreads * kVector) {
    Eight gates = load(x + row * 2 * width + column);
    const Eight partners = load(x + row * 2 * width + width + column);
    for (int i = 0; i < kVector; ++i) {
      gates.value[i] *= partners.value[i] / (1.0F + __expf(-gates.value[i]));
    }
    store(out + row * width + column, gates);
  }
}

// scales[row] is what the stored values are to be multiplied by; with kStatic it is given, and the same for all.
template <int kVectors, bool kStatic>
__global__ void quantise_kernel(const bf16* x, __nv_fp8_e4m3* out, float* scales, int width) {
  const std::size_t row = static_cast<std::size_t>(blockIdx.x) * width;
  Eight values[kVectors];
  float largest = 1e-12F;
#pragma unroll
  for (int v = 0; v < kVectors; ++v) {
    if (column_of(v) < width) {
      values[v] = load(x + row + column_of(v));
      for (const float value : values[v].value) {
        largest = fmaxf(largest, fabsf(value));
      }
    }
  }
  float scale = 0.0F;
  if constexpr (kStatic) {
    scale = scales[0];
  } else {
    scale = joined(largest, [](float a, float b) { return fmaxf(a, b); }) / kFp8Max;
    if (threadIdx.x == 0) {
      scales[blockIdx.x] = scale;
    }
  }
#pragma unroll
  for (int v = 0; v < kVectors; ++v) {
    if (column_of(v) < width) {
      for (float& value : values[v].value) {
        value /= scale;
      }
      store(out + row + column_of(v), values[v]);
    }
  }
}

enum class Op { rms_norm, silu_multiply, quantise_static, quantise_row };
struct NamedOp {
  Op op;
  const char* name;
  double bytes;  // read and written for each element of the output
};
constexpr NamedOp kOps[] = {{Op::rms_norm, "rms_norm", 4.0},
                            {Op::silu_multiply, "silu_multiply", 6.0},
                            {Op::quantise_static, "quantise_fp8_static", 3.0},
                            {Op::quantise_row, "quantise_fp8_row", 3.0}};

class Operands {
 public:
  Operands(const Stream& stream, std::size_t rows, std::size_t width)
      : rows_(rows),
        width_(width),
        x_(2 * rows * width * sizeof(bf16)),
        gain_(width * sizeof(bf16)),
        out_(rows * width * sizeof(bf16)),
        scales_(rows * sizeof(float)) {
    fill_random(x_.as<void>(), 2 * rows * width, Format::bf16, 4.0F, 1, stream);
    fill_random(gain_.as<void>(), width, Format::bf16, 1.0F, 2, stream);
    const float scale = 4.0F / kFp8Max;
    check(
        cudaMemcpyAsync(scales_.as<float>(), &scale, sizeof scale, cudaMemcpyHostToDevice, stream),
        "copying a scale");
    stream.wait();
  }

  void launch(Op op, const Stream& stream) const {
    const auto vectors = (width_ + kThreads * kVector - 1) / (kThreads * kVector);
    if (vectors <= 1) {
      launch<1>(op, stream);
    } else if (vectors <= 2) {
      launch<2>(op, stream);
    } else if (vectors <= 4) {
      launch<4>(op, stream);
    } else {
      launch<kMostVectors>(op, stream);
    }
    check_launch("an elementwise kernel");
  }

  // The host's result in fp32 beside the kernel's.
  double error(Op op, const Stream& stream) const {
    launch(op, stream);
    stream.wait();
    const std::vector<float> x = floats(to_host(x_.as<bf16>(), 2 * rows_ * width_));
    const std::vector<float> gain = floats(to_host(gain_.as<bf16>(), width_));
    const std::vector<float> scales = to_host(scales_.as<float>(), rows_);
    std::vector<float> got;
    std::vector<float> expected;
    if (op == Op::rms_norm || op == Op::silu_multiply) {
      got = floats(to_host(out_.as<bf16>(), rows_ * width_));
    } else {
      const auto stored = to_host(out_.as<__nv_fp8_e4m3>(), rows_ * width_);
      for (std::size_t i = 0; i < stored.size(); ++i) {
        got.push_back(static_cast<float>(stored[i]) *
                      scales[op == Op::quantise_row ? i / width_ : 0]);
      }
    }
    for (std::size_t row = 0; row < rows_; ++row) {
      double squares = 0.0;
      for (std::size_t i = 0; i < width_; ++i) {
        squares += std::pow(x[row * width_ + i], 2.0);
      }
      const double norm = 1.0 / std::sqrt(squares / static_cast<double>(width_) + kEpsilon);
      for (std::size_t i = 0; i < width_; ++i) {
        const double value = x[row * width_ + i];
        if (op == Op::rms_norm) {
          expected.push_back(static_cast<float>(value * norm * gain[i]));
        } else if (op == Op::silu_multiply) {
          const double gate = x[row * 2 * width_ + i];
          const double partner = x[row * 2 * width_ + width_ + i];
          expected.push_back(static_cast<float>(gate / (1.0 + std::exp(-gate)) * partner));
        } else {
          expected.push_back(static_cast<float>(value));
        }
      }
    }
    return relative_error(got, expected);
  }

 private:
  template <int kVectors>
  void launch(Op op, const Stream& stream) const {
    const auto grid = static_cast<unsigned>(rows_);
    const auto width = static_cast<int>(width_);
    const auto* x = x_.as<bf16>();
    switch (op) {
      case Op::rms_norm:
        rms_norm_kernel<kVectors>
            <<<grid, kThreads, 0, stream>>>(x, gain_.as<bf16>(), out_.as<bf16>(), width);
        break;
      case Op::silu_multiply:
        silu_multiply_kernel<<<grid, kThreads, 0, stream>>>(x, out_.as<bf16>(), width);
        break;
      case Op::quantise_static:
        quantise_kernel<kVectors, true><<<grid, kThreads, 0, stream>>>(x, out_.as<__nv_fp8_e4m3>(),
                                                                       scales_.as<float>(), width);
        break;
      case Op::quantise_row:
        quantise_kernel<kVectors, false><<<grid, kThreads, 0, stream>>>(x, out_.as<__nv_fp8_e4m3>(),
                                                                        scales_.as<float>(), width);
        break;
    }
  }

  std::size_t rows_, width_;
  DeviceMemory x_, gain_, out_, scales_;
};

// fp8 keeps three bits behind the leading one: half a step is a sixteenth of a value.
double tolerance(Op op) {
  return op == Op::quantise_static || op == Op::quantise_row ? 0.07 : 0.01;
}

}  // namespace

void run_elementwise(SuiteRun& run) {
  const Stream stream;
  Table table(run.directory, layout("elementwise"), run.subject);
  for (const NamedOp& op : kOps) {
    std::string wrong = "the kernel was not checked";
    for (const std::int64_t rows : {16384, 4096, 1024, 256, 64, 16, 1}) {
      for (const std::int64_t width : {2048, 4096, 8192, 14336}) {
        static_assert(14336 <= kMostWidth);
        run.row(table, {std::string(op.name), rows, width}, [&] {
          if (!wrong.empty()) {
            const double error = Operands(stream, 3, 4096).error(op.op, stream);
            wrong = error <= tolerance(op.op)
                        ? std::string()
                        : "the kernel is off its reference by " + std::to_string(error);
          }
          if (!wrong.empty()) {
            throw std::runtime_error(wrong);
          }
          const Operands operands(stream, static_cast<std::size_t>(rows),
                                  static_cast<std::size_t>(width));
          const Spread seconds =
              time_launches(stream, [&](int) { operands.launch(op.op, stream); });
          const auto moved = static_cast<double>(rows * width) * op.bytes;
          Cells cells = cells_of(seconds, 1e3);
          cells.emplace_back(static_cast<std::int64_t>(moved));
          cells.emplace_back(moved / seconds.median * 1e-9);
          return cells;
        });
      }
    }
  }
}

}  // namespace roofcast::bench
