// SPDX-License-Identifier: Apache-2.0
//
// The same linear layer of many experts and its gradients, bf16, every expert with as many rows: one call of cublasGemmGroupedBatchedEx.
// The library takes the shapes from the host, so calls are launched one by one, not replayed: below some tens of
// microseconds it is the host that is timed.
#include <cublas_v2.h>

#include "calibrate/bench/gemm_pass.hpp"
#include "calibrate/bench/gpu/timing.cuh"
#include "calibrate/bench/grids.hpp"
#include "calibrate/bench/measure.hpp"

namespace roofcast::bench {
namespace {

using bf16 = __nv_bfloat16;

void require(cublasStatus_t status, const char* what) {
  if (status != CUBLAS_STATUS_SUCCESS) {
    throw std::runtime_error(std::string(what) + ": " + cublasGetStatusString(status));
  }
}

class Cublas {
 public:
  explicit Cublas(cudaStream_t stream) {
    require(cublasCreate(&handle_), "starting cuBLAS");
    require(cublasSetStream(handle_, stream), "giving cuBLAS a stream");
  }
  Cublas(const Cublas&) = delete;
  Cublas& operator=(const Cublas&) = delete;
  ~Cublas() { cublasDestroy(handle_); }
  operator cublasHandle_t() const { return handle_; }  // NOLINT: stands for it

 private:
  cublasHandle_t handle_ = nullptr;
};

// One pass of a linear layer for every group (calibrate/bench/gemm_pass.hpp). Results are bf16; gradients of weights are
// added.
class GroupedGemm {
 public:
  GroupedGemm(const Stream& stream, const GroupedShape& s, GemmPass pass)
      : GroupedGemm(stream, s, product_of(pass, {s.rows, s.n, s.k}),
                    pass == GemmPass::weight_gradient ? 1.0F : 0.0F) {}

  void launch(cublasHandle_t handle) const {
    auto* const* pointers = pointers_.as<void*>();
    require(
        cublasGemmGroupedBatchedEx(
            handle, left_operation_.data(), right_operation_.data(), m_.data(), n_.data(),
            k_.data(), one_.data(), pointers, CUDA_R_16BF, left_rows_.data(), pointers + groups_,
            CUDA_R_16BF, right_rows_.data(), added_.data(), pointers_.as<void*>() + 2 * groups_,
            CUDA_R_16BF, m_.data(), static_cast<int>(groups_), members_.data(), CUBLAS_COMPUTE_32F),
        "a grouped GEMM of cuBLAS");
  }

 private:
  GroupedGemm(const Stream& stream, const GroupedShape& s, const Product& p, float added)
      : groups_(static_cast<std::size_t>(s.groups)),
        left_(bytes(s.groups, p.left)),
        right_(bytes(s.groups, p.right)),
        out_(bytes(s.groups, p.result)),
        pointers_(3 * groups_ * sizeof(void*)),
        left_operation_(groups_, operation_of(p.left)),
        right_operation_(groups_, operation_of(p.right)),
        m_(groups_, static_cast<int>(p.result.rows)),
        n_(groups_, static_cast<int>(p.result.columns)),
        k_(groups_, static_cast<int>(p.depth)),
        left_rows_(groups_, static_cast<int>(p.left.rows)),
        right_rows_(groups_, static_cast<int>(p.right.rows)),
        members_(groups_, 1),
        one_(groups_, 1.0F),
        added_(groups_, added) {
    fill_random(left_.as<void>(), left_.bytes() / sizeof(bf16), Format::bf16, 1.0F, 1, stream);
    fill_random(right_.as<void>(), right_.bytes() / sizeof(bf16), Format::bf16, 1.0F, 2, stream);
    check(cudaMemsetAsync(out_.as<void>(), 0, out_.bytes(), stream), "clearing a buffer");
    std::vector<const void*> pointers;
    for (const auto& [memory, elements] :
         {std::pair<const DeviceMemory*, std::int64_t>{&left_, p.left.elements()},
          {&right_, p.right.elements()},
          {&out_, p.result.elements()}}) {
      for (std::size_t group = 0; group < groups_; ++group) {
        pointers.push_back(memory->as<bf16>() + group * static_cast<std::size_t>(elements));
      }
    }
    check(cudaMemcpyAsync(pointers_.as<void>(), pointers.data(), pointers_.bytes(),
                          cudaMemcpyHostToDevice, stream),
          "copying pointers");
    stream.wait();
  }

  static std::size_t bytes(std::int64_t groups, const Matrix& matrix) {
    return static_cast<std::size_t>(groups * matrix.elements()) * sizeof(bf16);
  }
  static cublasOperation_t operation_of(const Matrix& matrix) {
    return matrix.transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
  }

  std::size_t groups_;
  DeviceMemory left_, right_, out_, pointers_;
  std::vector<cublasOperation_t> left_operation_, right_operation_;
  std::vector<int> m_, n_, k_, left_rows_, right_rows_, members_;
  std::vector<float> one_, added_;
};

}  // namespace

void run_grouped_gemm(SuiteRun& run) {
  const Stream stream;
  const Cublas cublas(stream);
  Table forward(run.directory, layout("grouped_gemm"), run.subject);
  Table backward(run.directory, layout("grouped_gemm_backward"), run.subject);
  const auto measure = [&](const GroupedShape& s, GemmPass pass) {
    const GroupedGemm gemm(stream, s, pass);
    Timing timing;
    timing.graph = false;
    const Spread seconds = time_launches(
        stream, [&](int) { gemm.launch(cublas); }, timing);
    Cells cells = cells_of(seconds, 1e3);
    cells.emplace_back(2.0 * static_cast<double>(s.groups * s.rows) *
                       static_cast<double>(s.n * s.k) / seconds.median * 1e-12);
    return cells;
  };
  const std::string kernel = "cublasGemmGroupedBatchedEx";
  const std::string format = "bfloat16";
  for (const GroupedShape& s : grouped_shapes()) {
    run.row(forward, {kernel, format, s.groups, s.rows, s.n, s.k},
            [&] { return measure(s, GemmPass::forward); });
    run.row(backward, {kernel, format, std::string("data"), s.groups, s.rows, s.n, s.k},
            [&] { return measure(s, GemmPass::data_gradient); });
    run.row(backward, {kernel, format, std::string("weights"), s.groups, s.rows, s.n, s.k},
            [&] { return measure(s, GemmPass::weight_gradient); });
  }
}

}  // namespace roofcast::bench
