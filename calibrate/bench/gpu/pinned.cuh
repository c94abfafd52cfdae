// SPDX-License-Identifier: Apache-2.0
//
// Memory of the host that the GPU can read while a kernel runs.
#pragma once

#include "calibrate/bench/gpu/device.cuh"

namespace roofcast::bench {

class PinnedMemory {
 public:
  explicit PinnedMemory(std::size_t bytes) {
    check(cudaMallocHost(&data_, bytes), "allocating pinned memory");
  }
  PinnedMemory(const PinnedMemory&) = delete;
  PinnedMemory& operator=(const PinnedMemory&) = delete;
  ~PinnedMemory() { cudaFreeHost(data_); }
  void* data() const { return data_; }

 private:
  void* data_ = nullptr;
};

}  // namespace roofcast::bench
