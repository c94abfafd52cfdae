// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>

#include "calibrate/bench/gpu/device.cuh"
#include "calibrate/bench/measure.hpp"

namespace roofcast::bench {
namespace {

// A hash of an index (the finaliser of MurmurHash3): random bits without a state.
__device__ std::uint32_t hashed(std::uint64_t index, std::uint32_t seed) {
  std::uint64_t x = index + (static_cast<std::uint64_t>(seed) << 40U) + 1U;
  x ^= x >> 33U;
  x *= 0xff51afd7ed558ccdULL;
  x ^= x >> 33U;
  x *= 0xc4ceb9fe1a85ec53ULL;
  x ^= x >> 33U;
  return static_cast<std::uint32_t>(x);
}

__device__ void store(__nv_bfloat16* out, float value) { *out = __float2bfloat16(value); }
__device__ void store(__half* out, float value) { *out = __float2half(value); }
__device__ void store(float* out, float value) { *out = value; }
__device__ void store(__nv_fp8_e4m3* out, float value) { *out = __nv_fp8_e4m3(value); }

template <class T>
__global__ void fill_kernel(T* out, std::size_t elements, float scale, std::uint32_t seed) {
  const std::size_t stride = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  for (; i < elements; i += stride) {
    const float unit = static_cast<float>(hashed(i, seed)) * 0x1p-31F - 1.0F;
    store(out + i, unit * scale);
  }
}

__global__ void fill_int8_kernel(std::int8_t* out, std::size_t elements, std::uint32_t seed) {
  const std::size_t stride = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  for (; i < elements; i += stride) {
    out[i] = static_cast<std::int8_t>(hashed(i, seed) & 0xffU);
  }
}

}  // namespace

void check(cudaError_t status, const char* what) {
  if (status != cudaSuccess) {
    cudaGetLastError();  // an error that does not last is forgotten
    throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(status));
  }
}

std::string lost_gpu() {
  cudaGetLastError();
  const cudaError_t status = cudaDeviceSynchronize();
  return status == cudaSuccess
             ? std::string()
             : std::string("the GPU's context is lost, ") + cudaGetErrorString(status);
}

Device current_device() {
  int index = 0;
  check(cudaGetDevice(&index), "finding a GPU");
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, index), "asking for the GPU's properties");
  std::array<char, 32> bus{};
  check(cudaDeviceGetPCIBusId(bus.data(), static_cast<int>(bus.size()), index),
        "asking for the GPU's PCI address");
  return {properties.name,
          bus.data(),
          properties.multiProcessorCount,
          properties.major * 10 + properties.minor,
          static_cast<std::size_t>(properties.l2CacheSize),
          properties.totalGlobalMem};
}

std::size_t free_memory() {
  std::size_t unused = 0;
  std::size_t total = 0;
  check(cudaMemGetInfo(&unused, &total), "asking for free memory");
  return unused;
}

void fill_random(void* data, std::size_t elements, Format format, float scale, std::uint32_t seed,
                 cudaStream_t stream) {
  constexpr unsigned kThreads = 256;
  const unsigned blocks = blocks_for(elements, kThreads);
  const auto fill = [&](auto* out) {
    fill_kernel<<<blocks, kThreads, 0, stream>>>(out, elements, scale, seed);
  };
  if (elements == 0) {
    return;
  }
  switch (format) {
    case Format::bf16:
      fill(static_cast<__nv_bfloat16*>(data));
      break;
    case Format::fp16:
      fill(static_cast<__half*>(data));
      break;
    case Format::fp32:
      fill(static_cast<float*>(data));
      break;
    case Format::fp8_e4m3:
      fill(static_cast<__nv_fp8_e4m3*>(data));
      break;
    case Format::int8:
      fill_int8_kernel<<<blocks, kThreads, 0, stream>>>(static_cast<std::int8_t*>(data), elements,
                                                        seed);
      break;
  }
  check_launch("filling a buffer with random values");
}

double relative_error(const std::vector<float>& got, const std::vector<float>& expected) {
  double largest = 0.0;
  double error = 0.0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    largest = std::max(largest, std::abs(static_cast<double>(expected[i])));
    const double difference = std::abs(static_cast<double>(got[i]) - expected[i]);
    error = std::isfinite(difference) ? std::max(error, difference) : INFINITY;
  }
  return largest > 0.0 ? error / largest : INFINITY;
}

std::vector<float> floats(const std::vector<__nv_bfloat16>& values) {
  std::vector<float> all;
  all.reserve(values.size());
  for (const __nv_bfloat16 value : values) {
    all.push_back(__bfloat162float(value));
  }
  return all;
}

}  // namespace roofcast::bench
