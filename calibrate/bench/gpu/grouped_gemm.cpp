// SPDX-License-Identifier: Apache-2.0
//
// The same linear layer of many experts, bf16, every expert with as many rows: one call of cublasGemmGroupedBatchedEx.
// The library takes the shapes from the host, so calls are launched one by one, not replayed: below some tens of
// microseconds it is the host that is timed.
#include <cublas_v2.h>

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

// Row-major out[rows,n] = x[rows,k] · w[n,k]ᵀ of every group, as gemm.csv has it.
class GroupedGemm {
 public:
  GroupedGemm(const Stream& stream, const GroupedShape& s)
      : groups_(static_cast<std::size_t>(s.groups)),
        w_(product(s.groups, s.n * s.k)),
        x_(product(s.groups, s.rows * s.k)),
        out_(product(s.groups, s.rows * s.n)),
        pointers_(3 * groups_ * sizeof(void*)),
        transpose_(groups_, CUBLAS_OP_T),
        keep_(groups_, CUBLAS_OP_N),
        n_(groups_, static_cast<int>(s.n)),
        rows_(groups_, static_cast<int>(s.rows)),
        k_(groups_, static_cast<int>(s.k)),
        members_(groups_, 1),
        one_(groups_, 1.0F),
        zero_(groups_, 0.0F) {
    fill_random(w_.as<void>(), w_.bytes() / sizeof(bf16), Format::bf16, 1.0F, 1, stream);
    fill_random(x_.as<void>(), x_.bytes() / sizeof(bf16), Format::bf16, 1.0F, 2, stream);
    std::vector<const void*> pointers;
    for (const auto& [memory, elements] :
         {std::pair<const DeviceMemory*, std::int64_t>{&w_, s.n * s.k},
          {&x_, s.rows * s.k},
          {&out_, s.rows * s.n}}) {
      for (std::size_t group = 0; group < groups_; ++group) {
        pointers.push_back(memory->as<bf16>() + group * static_cast<std::size_t>(elements));
      }
    }
    check(cudaMemcpyAsync(pointers_.as<void>(), pointers.data(), pointers_.bytes(),
                          cudaMemcpyHostToDevice, stream),
          "copying pointers");
    stream.wait();
  }

  void launch(cublasHandle_t handle) const {
    auto* const* pointers = pointers_.as<void*>();
    require(cublasGemmGroupedBatchedEx(
                handle, transpose_.data(), keep_.data(), n_.data(), rows_.data(), k_.data(),
                one_.data(), pointers, CUDA_R_16BF, k_.data(), pointers + groups_, CUDA_R_16BF,
                k_.data(), zero_.data(), pointers_.as<void*>() + 2 * groups_, CUDA_R_16BF,
                n_.data(), static_cast<int>(groups_), members_.data(), CUBLAS_COMPUTE_32F),
            "a grouped GEMM of cuBLAS");
  }

 private:
  static std::size_t product(std::int64_t groups, std::int64_t elements) {
    return static_cast<std::size_t>(groups * elements) * sizeof(bf16);
  }

  std::size_t groups_;
  DeviceMemory w_, x_, out_, pointers_;
  std::vector<cublasOperation_t> transpose_, keep_;
  std::vector<int> n_, rows_, k_, members_;
  std::vector<float> one_, zero_;
};

}  // namespace

void run_grouped_gemm(SuiteRun& run) {
  const Stream stream;
  const Cublas cublas(stream);
  Table table(run.directory, layout("grouped_gemm"), run.subject);
  for (const GroupedShape& s : grouped_shapes()) {
    run.row(table,
            {std::string("cublasGemmGroupedBatchedEx"), std::string("bfloat16"), s.groups, s.rows,
             s.n, s.k},
            [&] {
              const GroupedGemm gemm(stream, s);
              Timing timing;
              timing.graph = false;
              const Spread seconds = time_launches(
                  stream, [&](int) { gemm.launch(cublas); }, timing);
              Cells cells = cells_of(seconds, 1e3);
              cells.emplace_back(2.0 * static_cast<double>(s.groups * s.rows) *
                                 static_cast<double>(s.n * s.k) / seconds.median * 1e-12);
              return cells;
            });
  }
}

}  // namespace roofcast::bench
