// SPDX-License-Identifier: Apache-2.0
//
// Kernels of a training framework on a B200 (calibrate/measurements/training/simumax_kernels.yaml): every second one
// decides the catalog's figure, the others judge it.
#include <cmath>
#include <string>
#include <vector>

#include "base/csv/csv.hpp"
#include "calibrate/platforms/error_summary.hpp"
#include "sim/scenario/sections.hpp"
#include "sim/training/pass.hpp"
#include "tests/catch.hpp"
#include "tests/measurements.hpp"

namespace roofcast::validation_training_kernels {
namespace {

struct Kernel {
  workloads::Operator op;
  double measured = 0;  // s
};

class Kernels {
 public:
  Kernels() : table_(base::read_csv(measured_table("training", "simumax_kernels"))) {}

  // Of one kind on B200, in the order of the table.
  std::vector<Kernel> matmuls() const {
    std::vector<Kernel> found;
    for (std::size_t row = 0; row < table_.rows(); ++row) {
      if (of(row, "matmul")) {
        found.push_back({workloads::Gemm{integer(row, "m"), integer(row, "n"), integer(row, "k"),
                                         integer(row, "batch_or_groups")},
                         seconds(row)});
      }
    }
    return found;
  }
  // Products of experts, but for those that add to gradients.
  std::vector<Kernel> grouped() const {
    std::vector<Kernel> found;
    for (std::size_t row = 0; row < table_.rows(); ++row) {
      if (of(row, "group_matmul") && cell(row, "accumulate") == "False") {
        const std::int64_t experts = integer(row, "batch_or_groups");
        found.push_back({workloads::GroupedGemm{static_cast<double>(experts * integer(row, "m")),
                                                static_cast<double>(experts), integer(row, "n"),
                                                integer(row, "k")},
                         seconds(row)});
      }
    }
    return found;
  }

 private:
  std::string cell(std::size_t row, const char* column) const {
    return std::string(table_.cell(row, table_.column(column)));
  }
  bool of(std::size_t row, const char* op) const {
    return cell(row, "chip") == "b200_sxm" && cell(row, "op") == op;
  }
  std::int64_t integer(std::size_t row, const char* column) const {
    return std::stoll(cell(row, column));
  }
  double seconds(std::size_t row) const { return 1e-3 * std::stod(cell(row, "latency_ms")); }

  base::CsvTable table_;
};

// Eight B200 that train with Megatron.
sim::Scenario scenario() {
  return sim::read_scenario(base::parse_document(
      "test",
      "system: hgx_b200\nmodel: llama-3.1-8b\nprecision: bf16\ndeployment: {data_parallel: 8}\n"
      "training: {sequence_length: 2048, global_batch: 8, trainer: megatron}\n"));
}

calibrate::ErrorSummary errors_of(const std::vector<Kernel>& kernels, std::size_t first,
                                  const sim::Scenario& s, std::size_t step = 2) {
  std::vector<calibrate::Pair> pairs;
  for (std::size_t i = first; i < kernels.size(); i += step) {
    const sim::TrainingKernel one =
        sim::training_kernel(kernels[i].op, sim::view(s).platform->machine, s.training);
    pairs.push_back({kernels[i].measured, one.count * one.time.si()});
  }
  return calibrate::summarise(pairs);
}

}  // namespace

TEST_CASE("GEMMs of a training framework on a B200 take what half of them say", "[validation]") {
  const std::vector<Kernel> kernels = Kernels().matmuls();
  sim::Scenario s = scenario();
  const calibrate::ErrorSummary fitted = errors_of(kernels, 0, s);
  const calibrate::ErrorSummary held_back = errors_of(kernels, 1, s);
  WARN(calibrate::summary_line("fitted", fitted, 0));
  WARN(calibrate::summary_line("held back", held_back, 0));
  CHECK(held_back.rows == 203);
  CHECK(std::abs(fitted.bias) < 0.01);
  CHECK(held_back.median < 0.07);
  s.training.trainer.kernels.clear();
  CHECK(errors_of(kernels, 1, s).median > 0.25);
}

TEST_CASE("Products of experts in a training framework take as long as one after another",
          "[validation]") {
  const std::vector<Kernel> kernels = Kernels().grouped();
  sim::Scenario s = scenario();
  const calibrate::ErrorSummary errors = errors_of(kernels, 0, s, 1);
  WARN(calibrate::summary_line("experts", errors, 0));
  CHECK(errors.rows == 60);
  CHECK(errors.median < 0.07);
  s.training.trainer.kernels.front().expert_launch = {};
  CHECK(errors_of(kernels, 0, s, 1).median > 0.2);
}

}  // namespace roofcast::validation_training_kernels
