// SPDX-License-Identifier: Apache-2.0
//
// One GEMM of cuBLASLt with the algorithm its heuristic puts first, as a linear layer has it (calibrate/bench/gemm_pass.hpp).
// Gradients of weights are added in fp32.
//
// bf16 and fp16 give their own format, fp8 (e4m3, unit scales, fast
// accumulation) bf16, tf32 fp32, int8 int32.
#pragma once

#include <cublasLt.h>

#include <span>

#include "calibrate/bench/gemm_pass.hpp"
#include "calibrate/bench/gpu/device.cuh"

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

  // std::runtime_error when there is no algorithm.
  LtGemm(const GemmType& type, const GemmShape& shape, GemmPass pass = GemmPass::forward);
  LtGemm(const LtGemm&) = delete;
  LtGemm& operator=(const LtGemm&) = delete;
  ~LtGemm();

  void launch(const void* left, const void* right, void* out, void* workspace,
              cudaStream_t stream) const;

  static double flop(const GemmShape& s) {
    return 2.0 * static_cast<double>(s.m) * static_cast<double>(s.n) * static_cast<double>(s.k);
  }

 private:
  void release();

  cublasLtHandle_t handle_ = nullptr;
  cublasLtMatmulDesc_t operation_ = nullptr;
  cublasLtMatrixLayout_t left_ = nullptr, right_ = nullptr, out_ = nullptr;
  cublasLtMatmulHeuristicResult_t chosen_{};
  bool integer_ = false;
  bool adds_ = false;  // to what is there
};

// Operands of one GEMM in random values; `copies` sets of the left one share the right one and the result.
class GemmOperands {
 public:
  GemmOperands(const Stream& stream, const GemmType& type, const GemmShape& shape, int copies,
               GemmPass pass = GemmPass::forward);
  void launch(const LtGemm& gemm, int turn, cudaStream_t stream) const;

 private:
  int copies_;
  std::size_t left_bytes_ = 0;
  DeviceMemory left_, right_, out_, workspace_;
};

}  // namespace roofcast::bench
