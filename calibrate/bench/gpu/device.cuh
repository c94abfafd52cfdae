// SPDX-License-Identifier: Apache-2.0
//
// CUDA's resources as objects, and its errors as exceptions that say what was tried.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace roofcast::bench {

void check(cudaError_t status, const char* what);  // std::runtime_error
// After every launch: what the launch itself got wrong.
inline void check_launch(const char* kernel) { check(cudaGetLastError(), kernel); }

class DeviceMemory {
 public:
  DeviceMemory() = default;
  explicit DeviceMemory(std::size_t bytes) : bytes_(bytes) {
    check(cudaMalloc(&data_, bytes), "allocating memory of the GPU");
  }
  DeviceMemory(DeviceMemory&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  DeviceMemory& operator=(DeviceMemory&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~DeviceMemory() { cudaFree(data_); }

  template <class T>
  T* as() const {
    return static_cast<T*>(data_);
  }
  std::size_t bytes() const { return bytes_; }

 private:
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

class Stream {
 public:
  Stream() { check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "making a stream"); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream() { cudaStreamDestroy(stream_); }
  operator cudaStream_t() const { return stream_; }  // NOLINT: stands for it
  void wait() const { check(cudaStreamSynchronize(stream_), "waiting for the GPU"); }

 private:
  cudaStream_t stream_ = nullptr;
};

class Event {
 public:
  Event() { check(cudaEventCreate(&event_), "making an event"); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  ~Event() { cudaEventDestroy(event_); }
  operator cudaEvent_t() const { return event_; }  // NOLINT: stands for it
  void record(cudaStream_t stream) { check(cudaEventRecord(event_, stream), "recording an event"); }
  void wait() const { check(cudaEventSynchronize(event_), "waiting for an event"); }
  double seconds_since(const Event& start) const {
    float milliseconds = 0.0F;
    check(cudaEventElapsedTime(&milliseconds, start.event_, event_), "reading a time");
    return milliseconds * 1e-3;
  }

 private:
  cudaEvent_t event_ = nullptr;
};

struct Device {
  std::string name;
  std::string pci_bus_id;
  int sms = 0;
  int capability = 0;  // 90: Hopper
  std::size_t l2_bytes = 0;
  std::size_t memory_bytes = 0;
};
Device current_device();
std::size_t free_memory();

// The number formats that are filled: uniform in [-scale, scale], int8 in all of its values.
enum class Format { bf16, fp16, fp32, fp8_e4m3, int8 };
void fill_random(void* data, std::size_t elements, Format format, float scale, std::uint32_t seed,
                 cudaStream_t stream);

template <class T>
std::vector<T> to_host(const T* data, std::size_t elements) {
  std::vector<T> all(elements);
  check(cudaMemcpy(all.data(), data, elements * sizeof(T), cudaMemcpyDeviceToHost),
        "copying results to the host");
  return all;
}

// The largest |got − expected| over the largest |expected|.
double relative_error(const std::vector<float>& got, const std::vector<float>& expected);
std::vector<float> floats(const std::vector<__nv_bfloat16>& values);

// A launch's grid has at most this many CTAs: kernels step over what is left.
inline unsigned blocks_for(std::size_t elements, unsigned threads) {
  constexpr std::size_t kMost = 1U << 20U;
  const std::size_t blocks = (elements + threads - 1) / threads;
  return static_cast<unsigned>(blocks < kMost ? blocks : kMost);
}

}  // namespace roofcast::bench
