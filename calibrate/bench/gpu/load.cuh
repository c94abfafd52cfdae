// SPDX-License-Identifier: Apache-2.0
//
// Loads that are kept up: pieces of some milliseconds, each of which waits until it is done.
#pragma once

#include <memory>

#include "calibrate/bench/gpu/lt_gemm.cuh"
#include "calibrate/bench/gpu/timing.cuh"

namespace roofcast::bench {

// GEMMs in a graph of about 10 ms, five sets of weights in turn.
class GemmLoad {
 public:
  GemmLoad(const Stream& stream, const GemmType& type, const GemmShape& shape);
  void round() const;
  int gemms() const { return gemms_; }  // of a round

 private:
  const Stream& stream_;
  LtGemm gemm_;
  GemmOperands operands_;
  int gemms_ = 0;
  std::unique_ptr<Graph> graph_;
};

// Copies within the memory of the GPU.
class CopyLoad {
 public:
  static std::size_t most_bytes();  // of a buffer: 2 GiB, or a quarter of what is free

  CopyLoad(const Stream& stream, std::size_t bytes);
  void round() const;
  double bytes() const;  // that a round reads and writes

 private:
  const Stream& stream_;
  DeviceMemory from_, to_;
};

}  // namespace roofcast::bench
