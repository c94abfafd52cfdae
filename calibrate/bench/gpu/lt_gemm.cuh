// SPDX-License-Identifier: Apache-2.0
//
// One GEMM of cuBLASLt with the algorithm its heuristic puts first: out[m,n] = x[m,k] · w[n,k]ᵀ, all
// row-major, as a linear layer has it. bf16 and fp16 give their own format, fp8 (e4m3, unit scales, fast
// accumulation) bf16, tf32 fp32, int8 int32.
#pragma once

#include <cublasLt.h>

#include <span>

#include "calibrate/bench/gpu/device.cuh"
#include "calibrate/bench/grids.hpp"

namespace roofcast::bench {

struct GemmType {
  const char* name;  // as the public tables call it
  Format format;
  cudaDataType_t operand, result, scale;
  cublasComputeType_t compute;
  std::size_t operand_bytes, result_bytes;
  int least_capability;
};
std::span<const GemmType> gemm_types();  // bf16 first

class LtGemm {
 public:
  static constexpr std::size_t kWorkspace = std::size_t{64} << 20;

  LtGemm(const GemmType& type,
         const GemmShape& shape);  // std::runtime_error when there is no algorithm
  LtGemm(const LtGemm&) = delete;
  LtGemm& operator=(const LtGemm&) = delete;
  ~LtGemm();

  void launch(const void* x, const void* w, void* out, void* workspace, cudaStream_t stream) const;

  static double flop(const GemmShape& s) {
    return 2.0 * static_cast<double>(s.m) * static_cast<double>(s.n) * static_cast<double>(s.k);
  }

 private:
  void release();

  cublasLtHandle_t handle_ = nullptr;
  cublasLtMatmulDesc_t operation_ = nullptr;
  cublasLtMatrixLayout_t w_ = nullptr, x_ = nullptr, out_ = nullptr;
  cublasLtMatmulHeuristicResult_t chosen_{};
  bool integer_ = false;
};

// Operands of one GEMM in random values; `copies` sets of weights share one input and one output.
class GemmOperands {
 public:
  GemmOperands(const Stream& stream, const GemmType& type, const GemmShape& shape, int copies);
  void launch(const LtGemm& gemm, int turn, cudaStream_t stream) const;

 private:
  int copies_;
  std::size_t weight_bytes_;
  DeviceMemory x_, w_, out_, workspace_;
};

}  // namespace roofcast::bench
