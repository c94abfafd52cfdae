// SPDX-License-Identifier: Apache-2.0
#include "calibrate/bench/gpu/lt_gemm.cuh"

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

std::size_t product(std::int64_t a, std::int64_t b) {
  return static_cast<std::size_t>(a) * static_cast<std::size_t>(b);
}

}  // namespace

std::span<const GemmType> gemm_types() { return kTypes; }

// cuBLASLt is column-major: out'[n,m] = (w'[k,n])ᵀ · x'[k,m], where ' is the row-major matrix read by columns.
LtGemm::LtGemm(const GemmType& type, const GemmShape& shape)
    : handle_(shared_handle()), integer_(type.scale == CUDA_R_32I) {
  cublasLtMatmulPreference_t preference = nullptr;
  try {
    require(cublasLtMatmulDescCreate(&operation_, type.compute, type.scale), "describing a GEMM");
    set(operation_, CUBLASLT_MATMUL_DESC_TRANSA, CUBLAS_OP_T);
    set(operation_, CUBLASLT_MATMUL_DESC_TRANSB, CUBLAS_OP_N);
    if (type.operand == CUDA_R_8F_E4M3) {
      set(operation_, CUBLASLT_MATMUL_DESC_FAST_ACCUM, std::int8_t{1});
    }
    const auto m = static_cast<std::uint64_t>(shape.m);
    const auto n = static_cast<std::uint64_t>(shape.n);
    const auto k = static_cast<std::uint64_t>(shape.k);
    require(cublasLtMatrixLayoutCreate(&w_, type.operand, k, n, shape.k), "describing weights");
    require(cublasLtMatrixLayoutCreate(&x_, type.operand, k, m, shape.k), "describing an input");
    require(cublasLtMatrixLayoutCreate(&out_, type.result, n, m, shape.n), "describing an output");

    require(cublasLtMatmulPreferenceCreate(&preference), "preferring an algorithm");
    const std::size_t workspace = kWorkspace;
    require(cublasLtMatmulPreferenceSetAttribute(
                preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace, sizeof workspace),
            "preferring an algorithm");
    int found = 0;
    require(cublasLtMatmulAlgoGetHeuristic(handle_, operation_, w_, x_, out_, out_, preference, 1,
                                           &chosen_, &found),
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
  for (const cublasLtMatrixLayout_t layout : {w_, x_, out_}) {
    if (layout != nullptr) {
      cublasLtMatrixLayoutDestroy(layout);
    }
  }
  if (operation_ != nullptr) {
    cublasLtMatmulDescDestroy(operation_);
  }
}

void LtGemm::launch(const void* x, const void* w, void* out, void* workspace,
                    cudaStream_t stream) const {
  const float one = 1.0F;
  const float zero = 0.0F;
  const std::int32_t whole_one = 1;
  const std::int32_t whole_zero = 0;
  const void* alpha = integer_ ? static_cast<const void*>(&whole_one) : &one;
  const void* beta = integer_ ? static_cast<const void*>(&whole_zero) : &zero;
  require(cublasLtMatmul(handle_, operation_, alpha, w, w_, x, x_, beta, out, out_, out, out_,
                         &chosen_.algo, workspace, kWorkspace, stream),
          "a GEMM of cuBLASLt");
}

GemmOperands::GemmOperands(const Stream& stream, const GemmType& type, const GemmShape& s,
                           int copies)
    : copies_(copies),
      weight_bytes_(product(s.n, s.k) * type.operand_bytes),
      x_(product(s.m, s.k) * type.operand_bytes),
      w_(weight_bytes_ * static_cast<std::size_t>(copies)),
      out_(product(s.m, s.n) * type.result_bytes),
      workspace_(LtGemm::kWorkspace) {
  fill_random(x_.as<void>(), product(s.m, s.k), type.format, 1.0F, 1, stream);
  fill_random(w_.as<void>(), product(s.n, s.k) * static_cast<std::size_t>(copies), type.format,
              1.0F, 2, stream);
  stream.wait();
}

void GemmOperands::launch(const LtGemm& gemm, int turn, cudaStream_t stream) const {
  const auto offset = weight_bytes_ * static_cast<std::size_t>(turn % copies_);
  gemm.launch(x_.as<void>(), w_.as<char>() + offset, out_.as<void>(), workspace_.as<void>(),
              stream);
}

}  // namespace roofcast::bench
