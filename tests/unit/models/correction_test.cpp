// SPDX-License-Identifier: Apache-2.0
#include "models/operators/correction.hpp"

#include <cmath>
#include <string>
#include <string_view>

#include "calibrate/fit/correction_fit.hpp"
#include "models/operators/operator_cost.hpp"
#include "tests/catch.hpp"
#include "tests/unit/models/round_machine.hpp"

namespace roofcast::unit_models_correction {

using hardware::CorrectionGrid;
using workloads::Gemm;

namespace {

// 20 % more at m = 4, nothing at m = 1 and 16, whatever n and k.
CorrectionGrid bump() {
  CorrectionGrid grid;
  grid.op = "gemm";
  grid.of = "bf16 bf16";
  grid.axes = {{0.0, 2.0, 3}, {10.0, 1.0, 1}, {10.0, 1.0, 1}};
  grid.values = {0.0F, static_cast<float>(std::log(1.2)), 0.0F};
  return grid;
}

// Of all-reduces between so many ranks, 512 to 1024 bytes.
CorrectionGrid all_reduces(std::string_view op, int ranks) {
  CorrectionGrid grid;
  grid.op = op;
  grid.of = "0 0 " + std::to_string(ranks) + " 1 1 0";
  grid.axes = {{9.0, 1.0, 2}};
  grid.values = {0.2F, 0.2F};
  return grid;
}

models::Machine corrected_by(const std::vector<CorrectionGrid>& grids) {
  models::Machine m = models::round_machine();
  hardware::Corrections corrections;
  for (const CorrectionGrid& grid : grids) {
    corrections.add(grid);
  }
  m.calibration.corrections = std::make_shared<const hardware::Corrections>(corrections);
  return m;
}

models::Machine corrected_by(const CorrectionGrid& grid) { return corrected_by(std::vector{grid}); }

double factor(const workloads::Operator& op, const models::Machine& m) {
  return models::cost_of(op, m).time / models::physical_cost_of(op, m).time;
}

// GEMMs that take `truth(m)` times what the machine says.
std::vector<calibrate::MeasuredOperator> measured(const models::Machine& machine,
                                                  double (*truth)(double log2_m)) {
  std::vector<calibrate::MeasuredOperator> rows;
  for (std::int64_t m = 1; m <= 4096; m *= 2) {
    for (const std::int64_t n : {512, 1024, 2048, 4096}) {
      for (const std::int64_t k : {512, 1024, 2048, 4096}) {
        calibrate::MeasuredOperator row;
        row.operators = {Gemm{m, n, k}};
        row.measured_s = models::cost_of(row.operators[0], machine).time / base::second *
                         truth(std::log2(static_cast<double>(m)));
        rows.push_back(row);
      }
    }
  }
  return rows;
}
std::vector<const calibrate::MeasuredOperator*> pointers(
    const std::vector<calibrate::MeasuredOperator>& rows) {
  std::vector<const calibrate::MeasuredOperator*> all;
  for (const auto& row : rows) {
    all.push_back(&row);
  }
  return all;
}

}  // namespace

TEST_CASE("A correction is its nodes', and between them a share of each in the logarithm",
          "[unit]") {
  const models::Machine m = corrected_by(bump());
  CHECK(factor(Gemm{1, 1024, 1024}, m) == Approx(1.0));
  CHECK(factor(Gemm{4, 1024, 1024}, m) == Approx(1.2));
  CHECK(factor(Gemm{8, 1024, 1024}, m) == Approx(std::sqrt(1.2)));
  const models::Cost physical = models::physical_cost_of(Gemm{4, 1024, 1024}, m);
  const models::Cost cost = models::cost_of(Gemm{4, 1024, 1024}, m);
  CHECK(cost.launch / physical.launch == Approx(1.2));
  CHECK(cost.flop == physical.flop);
}

TEST_CASE("A correction fades to nothing within four octaves of its grid", "[unit]") {
  CorrectionGrid grid = bump();
  grid.values = {0.2F, 0.2F, 0.2F};
  const models::Machine m = corrected_by(grid);
  CHECK(factor(Gemm{16, 1024, 1024}, m) == Approx(std::exp(0.2)));
  CHECK(factor(Gemm{16, 4096, 1024}, m) == Approx(std::exp(0.1)));  // two octaves beyond
  CHECK(factor(Gemm{16, 4096, 4096}, m) == Approx(1.0));
  CHECK(factor(Gemm{16, 1 << 20, 1024}, m) == Approx(1.0));
}

TEST_CASE("Decode of latents by fewer heads than were measured is corrected like the fewest",
          "[unit]") {
  CorrectionGrid grid;
  grid.op = "decode";
  grid.of = "576 0 bf16";
  grid.axes = {{0.0, 2.0, 3}, {8.0, 2.0, 2}, {1.0, 1.0, 2}};  // 2 and 4 heads
  grid.values.assign(12, 0.2F);
  const models::Machine m = corrected_by(grid);
  const auto latents = [](std::int64_t heads, std::int64_t sequences) {
    return workloads::DecodeAttention{
        {heads, 1, 576, 512, 0, 576, base::NumberFormat::bf16}, sequences, 1, 512};
  };
  const workloads::DecodeAttention keys_and_values{
      {1, 1, 576, 576, 0, 2 * 576, base::NumberFormat::bf16}, 4, 1, 512};
  CHECK(factor(latents(2, 4), m) == Approx(std::exp(0.2)));
  CHECK(factor(latents(1, 4), m) == Approx(std::exp(0.2)));
  CHECK(factor(latents(16, 4), m) == Approx(std::exp(0.1)));  // two octaves more
  CHECK(factor(latents(1, 64), m) == Approx(std::exp(0.1)));
  CHECK(factor(keys_and_values, m) == Approx(std::exp(0.15)));  // one octave fewer
}

TEST_CASE(
    "A window that holds all keys is corrected like none, and one that nobody measured like its "
    "keys",
    "[unit]") {
  CorrectionGrid grid;
  grid.op = "decode";
  grid.of = "128 0 bf16";
  grid.axes = {{0.0, 8.0, 2}, {8.0, 4.0, 2}, {0.0, 1.0, 1}};  // 256 and 4096 keys
  grid.values = {0.1F, 0.3F, 0.1F, 0.3F};
  const models::Machine m = corrected_by(grid);
  const auto decode = [](std::int64_t window, std::int64_t context) {
    return workloads::DecodeAttention{
        {8, 8, 128, 128, window, 2048, base::NumberFormat::bf16}, 4, 1, context};
  };
  for (const std::int64_t context : {256, 1024, 4096}) {
    CHECK(factor(decode(100000, context), m) == Approx(factor(decode(0, context), m)));
  }
  CHECK(factor(decode(256, 4096), m) == Approx(factor(decode(0, 256), m)));
}

TEST_CASE("A correction is of its own operator and formats alone", "[unit]") {
  const models::Machine m = corrected_by(bump());
  CHECK(factor(Gemm{4, 1024, 1024, 1, base::NumberFormat::fp8, base::NumberFormat::fp8}, m) == 1.0);
  CHECK(factor(workloads::Elementwise{1e6, 1e6, 0.0}, m) == 1.0);
}

// 2^14 rows take 2.2 ms of products and 0.6 of memory: all of the correction of bf16. One row takes the memory: none.
TEST_CASE(
    "Widened weights that were not measured are corrected like wide ones where products decide",
    "[unit]") {
  CorrectionGrid grid = bump();
  grid.axes = {{0.0, 14.0, 2}, {13.0, 1.0, 1}, {13.0, 1.0, 1}};
  grid.values = {static_cast<float>(std::log(1.2)), static_cast<float>(std::log(1.2))};
  const models::Machine m = corrected_by(grid);
  const auto widened = [](std::int64_t rows) {
    return Gemm{rows, 8192, 8192, 1, base::NumberFormat::bf16, base::NumberFormat::int4};
  };
  CHECK(factor(widened(1 << 14), m) == Approx(1.2).epsilon(0.02));
  CHECK(factor(widened(64), m) == Approx(std::sqrt(1.2)).epsilon(4e-3));
  CHECK(factor(widened(1), m) == Approx(1.0).epsilon(4e-3));
}

TEST_CASE("A GEMM in fp16 that nobody measured is corrected like one in bf16", "[unit]") {
  const auto fp16 = [](std::int64_t m, base::NumberFormat weights) {
    return Gemm{m, 1024, 1024, 1, base::NumberFormat::fp16, weights};
  };
  const models::Machine m = corrected_by(bump());
  CHECK(factor(fp16(4, base::NumberFormat::fp16), m) == Approx(1.2));
  const Gemm wide{4, 1024, 1024, 1, base::NumberFormat::bf16, base::NumberFormat::int4};
  CHECK(factor(fp16(4, base::NumberFormat::int4), m) == Approx(factor(wide, m)));
  CorrectionGrid own = bump();
  own.of = "fp16 fp16";
  own.values = {0.0F, 0.0F, 0.0F};
  CHECK(factor(fp16(4, base::NumberFormat::fp16), corrected_by({bump(), own})) == 1.0);
}

TEST_CASE("Sums of int8 are not corrected by sums of half", "[unit]") {
  CorrectionGrid grid = all_reduces("collective", 4);
  workloads::Collective op{workloads::CollectiveKind::all_reduce, 512.0, 4};
  CHECK(factor(op, corrected_by(grid)) == Approx(std::exp(0.2)));
  op.sums_int8 = true;
  CHECK(factor(op, corrected_by(grid)) == 1.0);
  grid = all_reduces("int8_collective", 4);
  CHECK(factor(op, corrected_by(grid)) == Approx(std::exp(0.2)));
  op.sums_int8 = false;
  CHECK(factor(op, corrected_by(grid)) == 1.0);
}

TEST_CASE("Collectives that leave their domain are not corrected by those inside one", "[unit]") {
  models::Machine m = corrected_by(all_reduces("collective", 8));
  const workloads::Collective op{workloads::CollectiveKind::all_reduce, 512.0, 8};
  CHECK(factor(op, m) == 1.0);  // domains of four
  m.scale_up_domain = 8;
  CHECK(factor(op, m) == Approx(std::exp(0.2)));
}

TEST_CASE("No correction makes an operator faster than its chip's datasheet allows", "[unit]") {
  CorrectionGrid grid = bump();
  grid.values = {-5.0F, -5.0F, -5.0F};
  const models::Machine m = corrected_by(grid);
  const Gemm op{16, 1024, 1024};
  const models::Cost cost = models::cost_of(op, m);
  CHECK(cost.time / base::second == Approx(cost.dram_bytes.si() / 1e12));
}

TEST_CASE("Fitted nodes find a smooth factor, whatever a tenth of outliers says", "[unit]") {
  const models::Machine machine = models::round_machine();
  auto rows = measured(machine, [](double m) { return 1.0 + 0.05 * m; });
  for (std::size_t i = 0; i < rows.size(); i += 10) {
    rows[i].measured_s *= 3.0;
  }
  const auto grids = calibrate::fit_corrections(pointers(rows), machine);
  REQUIRE(grids.size() == 1);
  CHECK(grids[0].op == "gemm");
  CHECK(grids[0].of == "bf16 bf16");
  CHECK(std::exp(grids[0].at({2.0, 10.0, 10.0})) == Approx(1.10).margin(0.03));
  CHECK(std::exp(grids[0].at({10.0, 10.0, 10.0})) == Approx(1.50).margin(0.05));
}

TEST_CASE("Fitted nodes without rows near them say nothing", "[unit]") {
  const models::Machine machine = models::round_machine();
  auto rows = measured(machine, [](double) { return 1.5; });
  // One more row, far from the others, that agrees with the model: between them is a gap.
  calibrate::MeasuredOperator far;
  far.operators = {Gemm{std::int64_t{1} << 34, 512, 512}};
  far.measured_s = models::cost_of(far.operators[0], machine).time / base::second;
  rows.push_back(far);
  const auto grids = calibrate::fit_corrections(pointers(rows), machine);
  REQUIRE(grids.size() == 1);
  CHECK(std::exp(grids[0].at({6.0, 10.0, 10.0})) == Approx(1.5).margin(0.02));
  CHECK(std::abs(grids[0].at({24.0, 10.0, 10.0})) < 0.12);
}

TEST_CASE("Corrections that make other rows worse are not kept", "[unit]") {
  const models::Machine machine = models::round_machine();
  const auto rows = measured(machine, [](double) { return 1.3; });
  const auto truth = measured(machine, [](double) { return 1.0; });
  const auto grids = calibrate::fit_corrections(pointers(rows), machine);
  CHECK(calibrate::earned(grids, pointers(rows), machine).size() == 1);
  CHECK(calibrate::earned(grids, pointers(truth), machine).empty());
}

TEST_CASE("A correction's texts are read back as they were written", "[unit]") {
  CorrectionGrid grid = bump();
  grid.values = {0.03F, -0.12F, -0.12F};
  CHECK(hardware::axes_text(grid) == "0:2:3 10:1:1 10:1:1");
  CHECK(hardware::values_text(grid) == "3 -12 -12");
  grid.values = {0.0F, 0.0F, 0.0F};
  CHECK(hardware::values_text(grid) == "0*3");
}

TEST_CASE("A correction that is no grid is refused where it is wrong", "[unit]") {
  const auto problems_of = [](const std::string& of, const std::string& axes,
                              const std::string& values) {
    const base::Node document =
        base::parse_document("c.yaml", "corrections: [{operator: gemm, of: " + of + ", axes: '" +
                                           axes + "', log_percent: '" + values + "'}]");
    base::Problems problems;
    base::Fields fields(document, "", problems);
    hardware::read_corrections(fields);
    fields.end();
    return problems.text();
  };
  using Catch::Matchers::ContainsSubstring;
  CHECK(problems_of("bf16 bf16", "0:1:2 5:2:2", "1 2*3").empty());
  CHECK_THAT(problems_of("bf16 brain", "0:1:2", "1 2"), ContainsSubstring("number formats"));
  CHECK_THAT(problems_of("bf16", "0:0:2", "1 2"), ContainsSubstring("origin:step:nodes"));
  CHECK_THAT(problems_of("bf16", "0:1:2:3", "1 2"), ContainsSubstring("1 to 4 axes"));
  CHECK_THAT(problems_of("bf16", "0:1:9999999", "0*9999999"), ContainsSubstring("1 to 4 axes"));
  CHECK_THAT(problems_of("bf16", "0:1:2 5:2:2", "1 2 3"), ContainsSubstring("one whole number"));
  CHECK_THAT(problems_of("bf16", "0:1:2", "1 2.5"), ContainsSubstring("one whole number"));
}

TEST_CASE("Corrections with the same texts are read once, and others are others", "[unit]") {
  const auto read = [](const std::string& values, const std::string& more = "") {
    const base::Node document =
        base::parse_document("c.yaml",
                             "corrections: [{operator: gemm, of: bf16 bf16, axes: "
                             "'0:1:2', log_percent: '" +
                                 values + "'" + more + "}]");
    base::Problems problems;
    base::Fields fields(document, "", problems);
    auto corrections = hardware::read_corrections(fields);
    fields.end();
    return std::pair(corrections, problems.size());
  };
  const auto first = read("7 8");
  CHECK(read("7 8").first == first.first);
  CHECK(read("7 9").first != first.first);
  CHECK(read("7 9").first->grids()[0].values[1] == 0.09F);
  // What has a fault is told it each time.
  CHECK(read("7 8", ", unknown: 1").second == 1);
  CHECK(read("7 8", ", unknown: 1").second == 1);
}

}  // namespace roofcast::unit_models_correction
