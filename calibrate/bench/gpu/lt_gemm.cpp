// SPDX-License-Identifier: Apache-2.0
#include "calibrate/bench/gpu/lt_gemm.cuh"

#include <algorithm>

namespace roofcast::bench {
namespace {

void require(cublasStatus_t status, const char* what) {
  if (status != CUBLAS_STATUS_SUCCESS) {
    throw std::runtime_error(std::string(what) + ": " + cublasLtGetStatusString(status));
  }
}

// Reused: making one takes milliseconds.
cublasLtHandle_t shared_handle() {
  static const cublasLtHandle_t handle = [] {
    cublasLtHandle_t made = nullptr;
    require(cublasLtCreate(&made), "starting cuBLASLt");
    return made;
  }();
  return handle;
}

constexpr GemmType kTypes[] = {
    {"bfloat16", Format::bf16, CUDA_R_16BF, CUDA_R_16BF, CUDA_R_32F, CUBLAS_COMPUTE_32F, 2, 2, 80},
    {"fp8", Format::fp8_e4m3, CUDA_R_8F_E4M3, CUDA_R_16BF, CUDA_R_32F, CUBLAS_COMPUTE_32F, 1, 2,
     89},
    {"int8", Format::int8, CUDA_R_8I, CUDA_R_32I, CUDA_R_32I, CUBLAS_COMPUTE_32I, 1, 4, 75},
    {"tf32", Format::fp32, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32, 4, 4,
     80},
    {"float16", Format::fp16, CUDA_R_16F, CUDA_R_16F, CUDA_R_32F, CUBLAS_COMPUTE_32F, 2, 2, 70},
};

template <class T>
void set(cublasLtMatmulDesc_t operation, cublasLtMatmulDescAttributes_t attribute, T value) {
  require(cublasLtMatmulDescSetAttribute(operation, attribute, &value, sizeof value),
          "describing a GEMM");
}

cublasOperation_t operation_of(const Matrix& matrix) {
  return matrix.transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
}

cublasLtMatrixLayout_t layout_of(cudaDataType_t type, const Matrix& matrix, const char* what) {
  cublasLtMatrixLayout_t made = nullptr;
  require(cublasLtMatrixLayoutCreate(&made, type, static_cast<std::uint64_t>(matrix.rows),
                                     static_cast<std::uint64_t>(matrix.columns), matrix.rows),
          what);
  return made;
}

}  // namespace

std::span<const GemmType> gemm_types() { return kTypes; }

LtGemm::LtGemm(const GemmType& type, const GemmShape& shape, GemmPass pass)
    : handle_(shared_handle()),
      integer_(type.scale == CUDA_R_32I),
      adds_(pass == GemmPass::weight_gradient) {
  cublasLtMatmulPreference_t preference = nullptr;
  try {
    require(cublasLtMatmulDescCreate(&operation_, type.compute, type.scale), "describing a GEMM");
    const Product all = product_of(pass, shape);
    set(operation_, CUBLASLT_MATMUL_DESC_TRANSA, operation_of(all.left));
    set(operation_, CUBLASLT_MATMUL_DESC_TRANSB, operation_of(all.right));
    if (type.operand == CUDA_R_8F_E4M3) {
      set(operation_, CUBLASLT_MATMUL_DESC_FAST_ACCUM, std::int8_t{1});
    }
    left_ = layout_of(type.operand, all.left, "describing the first operand");
    right_ = layout_of(type.operand, all.right, "describing the second operand");
    out_ = layout_of(adds_ ? CUDA_R_32F : type.result, all.result, "describing an output");

    require(cublasLtMatmulPreferenceCreate(&preference), "preferring an algorithm");
    const std::size_t workspace = kWorkspace;
    require(cublasLtMatmulPreferenceSetAttribute(
                preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace, sizeof workspace),
            "preferring an algorithm");
    int found = 0;
    require(cublasLtMatmulAlgoGetHeuristic(handle_, operation_, left_, right_, out_, out_,
                                           preference, 1, &chosen_, &found),
            "cuBLASLt has no algorithm");
    if (found == 0) {
      throw std::runtime_error("cuBLASLt has no algorithm");
    }
    cublasLtMatmulPreferenceDestroy(preference);
  } catch (...) {
    if (preference != nullptr) {
      cublasLtMatmulPreferenceDestroy(preference);
    }
    release();
    throw;
  }
}

LtGemm::~LtGemm() { release(); }

void LtGemm::release() {
  for (const cublasLtMatrixLayout_t layout : {left_, right_, out_}) {
    if (layout != nullptr) {
      cublasLtMatrixLayoutDestroy(layout);
    }
  }
  if (operation_ != nullptr) {
    cublasLtMatmulDescDestroy(operation_);
  }
}

void LtGemm::launch(const void* left, const void* right, void* out, void* workspace,
                    cudaStream_t stream) const {
  const float one = 1.0F;
  const float zero = 0.0F;
  const std::int32_t whole_one = 1;
  const std::int32_t whole_zero = 0;
  const void* alpha = integer_ ? static_cast<const void*>(&whole_one) : &one;
  const void* beta = integer_ ? static_cast<const void*>(&whole_zero) : adds_ ? &one : &zero;
  require(cublasLtMatmul(handle_, operation_, alpha, left, left_, right, right_, beta, out, out_,
                         out, out_, &chosen_.algo, workspace, kWorkspace, stream),
          "a GEMM of cuBLASLt");
}

GemmOperands::GemmOperands(const Stream& stream, const GemmType& type, const GemmShape& shape,
                           int copies, GemmPass pass)
    : copies_(copies), workspace_(LtGemm::kWorkspace) {
  const Product all = product_of(pass, shape);
  const auto left = static_cast<std::size_t>(all.left.elements());
  const auto right = static_cast<std::size_t>(all.right.elements());
  const auto result = static_cast<std::size_t>(all.result.elements());
  const auto sets = static_cast<std::size_t>(copies);
  left_bytes_ = left * type.operand_bytes;
  left_ = DeviceMemory(left_bytes_ * sets);
  right_ = DeviceMemory(right * type.operand_bytes);
  out_ = DeviceMemory(result * std::max(type.result_bytes, sizeof(float)));
  fill_random(right_.as<void>(), right, type.format, 1.0F, 1, stream);
  fill_random(left_.as<void>(), left * sets, type.format, 1.0F, 2, stream);
  check(cudaMemsetAsync(out_.as<void>(), 0, out_.bytes(), stream), "clearing a buffer");
  stream.wait();
}

void GemmOperands::launch(const LtGemm& gemm, int turn, cudaStream_t stream) const {
  const auto offset = left_bytes_ * static_cast<std::size_t>(turn % copies_);
  gemm.launch(left_.as<char>() + offset, right_.as<void>(), out_.as<void>(), workspace_.as<void>(),
              stream);
}

}  // namespace roofcast::bench
