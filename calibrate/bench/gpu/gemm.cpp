// SPDX-License-Identifier: Apache-2.0
//
// GEMMs of linear layers by number format, and their gradients in bf16. Five sets of weights (of inputs, for gradients of
// weights) take turns, as in the public tables, so that small ones stay in the L2 and large ones do not. Operands are
// already in their format: nothing is quantised.
#include "calibrate/bench/gpu/lt_gemm.cuh"
#include "calibrate/bench/gpu/timing.cuh"
#include "calibrate/bench/measure.hpp"

namespace roofcast::bench {
namespace {

constexpr int kWeightCopies = 5;

Spread seconds_of(const Stream& stream, const GemmType& type, const GemmShape& shape,
                  GemmPass pass = GemmPass::forward) {
  const LtGemm gemm(type, shape, pass);
  const GemmOperands operands(stream, type, shape, kWeightCopies, pass);
  Timing timing;
  timing.turns = kWeightCopies;
  timing.samples = 11;
  return time_launches(
      stream, [&](int turn) { operands.launch(gemm, turn, stream); }, timing);
}

}  // namespace

void run_gemm(SuiteRun& run) {
  const int capability = current_device().capability;
  const Stream stream;
  Table table(run.directory, layout("gemm"), run.subject);
  for (const GemmShape& shape : gemm_shapes()) {
    for (const GemmType& type : gemm_types()) {
      const Cells cells = {std::string("cublaslt"), std::string(type.name), shape.m, shape.n,
                           shape.k};
      run.row(table, cells, [&] {
        if (capability < type.least_capability) {
          throw std::runtime_error("the GPU does not multiply in this format");
        }
        const Spread seconds = seconds_of(stream, type, shape);
        Cells results = cells_of(seconds, 1e3);
        results.emplace_back(LtGemm::flop(shape) / seconds.median * 1e-12);
        return results;
      });
    }
  }
}

void run_gemm_backward(SuiteRun& run) {
  const Stream stream;
  const GemmType& type = gemm_types().front();
  Table table(run.directory, layout("gemm_backward"), run.subject);
  for (const GemmShape& shape : backward_shapes()) {
    for (const GemmPass pass : {GemmPass::data_gradient, GemmPass::weight_gradient}) {
      const std::string of = pass == GemmPass::data_gradient ? "data" : "weights";
      run.row(table,
              {std::string("cublaslt"), std::string(type.name), of, shape.m, shape.n, shape.k},
              [&] {
                const Spread seconds = seconds_of(stream, type, shape, pass);
                Cells results = cells_of(seconds, 1e3);
                results.emplace_back(LtGemm::flop(shape) / seconds.median * 1e-12);
                return results;
              });
    }
  }
}

double bf16_rate() {
  const Stream stream;
  const GemmShape shape{8192, 8192, 8192};
  return LtGemm::flop(shape) / seconds_of(stream, gemm_types().front(), shape).median;
}

}  // namespace roofcast::bench
