// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <csignal>
#include <functional>
#include <set>
#include <stdexcept>

#include "base/document/catalog.hpp"
#include "base/document/problems.hpp"
#include "calibrate/bench/apart.hpp"
#include "calibrate/bench/drift.hpp"
#include "calibrate/bench/gemm_pass.hpp"
#include "calibrate/bench/grids.hpp"
#include "calibrate/bench/options.hpp"
#include "calibrate/bench/plan.hpp"
#include "calibrate/bench/sustained.hpp"
#include "tests/catch.hpp"

namespace roofcast::unit_calibrate_bench_plan {

using namespace roofcast::bench;

TEST_CASE("Suites that take all they may leave nothing, and what one leaves goes to the rest",
          "[unit]") {
  double remaining = 450.0;
  for (std::size_t i = 0; i < suites().size(); ++i) {
    const double mine = allowance(remaining, suites().subspan(i));
    CHECK(mine > 0.0);
    remaining -= mine;
  }
  CHECK(remaining == Approx(0.0).margin(1e-9));

  const double first = allowance(450.0, suites());
  const double second = allowance(450.0 - first, suites().subspan(1));
  CHECK(allowance(450.0, suites().subspan(1)) > second);
  CHECK(allowance(450.0, {}) == 0.0);
}

TEST_CASE("Powers of two lie between their ends", "[unit]") {
  CHECK(powers_of_two(4, 32) == std::vector<std::int64_t>{4, 8, 16, 32});
  CHECK(powers_of_two(3, 33) == std::vector<std::int64_t>{4, 8, 16, 32});
  CHECK(powers_of_two(3, 3).empty());
}

TEST_CASE("CTAs grow from one SM to all of them and beyond", "[unit]") {
  for (const std::int64_t sms : {58, 108, 132, 148}) {
    const auto ctas = cta_counts(sms);
    CHECK(ctas.front() == 1);
    CHECK(std::adjacent_find(ctas.begin(), ctas.end(), std::greater_equal<>()) == ctas.end());
    CHECK(std::count(ctas.begin(), ctas.end(), sms) == 1);
    CHECK(ctas.back() == 2 * sms);
  }
}

TEST_CASE("A grid that is cut short still has every number of rows", "[unit]") {
  const auto shapes = gemm_shapes();
  std::set<std::int64_t> all;
  std::set<std::int64_t> early;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    all.insert(shapes[i].m);
    if (i < shapes.size() / 3) {
      early.insert(shapes[i].m);
    }
  }
  CHECK(early == all);
  auto order = scattered(1000);
  CHECK(!std::is_sorted(order.begin(), order.end()));
  std::sort(order.begin(), order.end());
  CHECK(std::adjacent_find(order.begin(), order.end()) == order.end());
  CHECK(order.back() == 999);
}

TEST_CASE("Every attention shape is one that the kernels can run", "[unit]") {
  for (const AttentionShape& s : decode_shapes()) {
    CHECK(s.heads % s.kv_heads == 0);
    CHECK(s.heads / s.kv_heads <= 16);
    CHECK((s.head_dim == 64 || s.head_dim == 128));
    CHECK(s.cache_bytes() <= std::int64_t{8} << 30);
    const std::int64_t tokens = split_tokens(s, 132, 128);
    CHECK(tokens % 128 == 0);
    CHECK((tokens >= 128 && tokens <= 16 * 128));
  }
  CHECK(AttentionShape{2, 100, 32, 8, 128}.cache_bytes() == 2 * 100 * 8 * 128 * 4);
  for (const MambaShape& s : mamba_scan_shapes()) {
    CHECK(s.tokens % 64 == 0);
    CHECK(s.heads % s.groups == 0);
  }
}

TEST_CASE("Every prompt is one that the kernel can run, and no pair of tokens counts twice",
          "[unit]") {
  std::set<std::int64_t> tokens;
  for (const AttentionShape& s : prefill_shapes()) {
    CHECK(s.heads % s.kv_heads == 0);
    CHECK((s.head_dim == 64 || s.head_dim == 128));
    CHECK(s.batch * s.context <= 65536);
    tokens.insert(s.context);
  }
  CHECK(tokens.size() == 9);
  CHECK(causal_flop({2, 3, 4, 1, 64}) == 2 * 4 * 64 * 4.0 * 6);  // 6 pairs of 3 tokens
}

TEST_CASE("Bytes in flight grow until an SM is full, and no SM gets more threads than it holds",
          "[unit]") {
  const auto shapes = in_flight_shapes();
  CHECK(shapes.front().bytes() == 32 * 16);
  CHECK(shapes.back().bytes() == 2048 * 8 * 16);
  CHECK(std::is_sorted(shapes.begin(), shapes.end(),
                       [](const auto& a, const auto& b) { return a.bytes() < b.bytes(); }));
  std::set<std::pair<std::int64_t, std::int64_t>> same_bytes;  // by threads of an SM
  for (const InFlightShape& s : shapes) {
    CHECK(s.ctas * s.threads <= 2048);
    CHECK(s.threads % 32 == 0);
    same_bytes.emplace(s.bytes(), s.ctas * s.threads);
  }
  CHECK(same_bytes.contains({256 * 4 * 16, 256}));
  CHECK(same_bytes.contains({256 * 4 * 16, 512}));  // as many bytes from more threads
}

TEST_CASE("Gradients are measured of the layers that GEMMs are measured of", "[unit]") {
  const auto forward = gemm_shapes();
  for (const GemmShape& shape : backward_shapes()) {
    CHECK(std::find(forward.begin(), forward.end(), shape) != forward.end());
  }
  CHECK(backward_shapes().size() == 21 * 4);
}

namespace {

double at(const std::vector<double>& data, const Matrix& matrix, std::int64_t row,
          std::int64_t column) {  // of the operand as it is multiplied
  const std::int64_t i =
      matrix.transposed ? row * matrix.rows + column : column * matrix.rows + row;
  return data[static_cast<std::size_t>(i)];
}

// As cuBLAS does it: column-major.
std::vector<double> multiplied(const Product& p, const std::vector<double>& left,
                               const std::vector<double>& right) {
  std::vector<double> result(static_cast<std::size_t>(p.result.elements()));
  for (std::int64_t column = 0; column < p.result.columns; ++column) {
    for (std::int64_t row = 0; row < p.result.rows; ++row) {
      double& sum = result[static_cast<std::size_t>(column * p.result.rows + row)];
      for (std::int64_t d = 0; d < p.depth; ++d) {
        sum += at(left, p.left, row, d) * at(right, p.right, d, column);
      }
    }
  }
  return result;
}

}  // namespace

TEST_CASE("The passes of a linear layer are what cuBLAS multiplies by columns", "[unit]") {
  const GemmShape shape{3, 5, 4};
  std::vector<double> x(3 * 4), w(5 * 4), dy(3 * 5);
  double next = 1.0;
  for (std::vector<double>* matrix : {&x, &w, &dy}) {
    for (double& value : *matrix) {
      value = next;
      next = next < 9.0 ? next + 1.3 : -next;
    }
  }
  const auto forward = multiplied(product_of(GemmPass::forward, shape), w, x);
  const auto dx = multiplied(product_of(GemmPass::data_gradient, shape), w, dy);
  const auto dw = multiplied(product_of(GemmPass::weight_gradient, shape), x, dy);
  std::vector<double> out(3 * 5), data(3 * 4), weights(5 * 4);  // row by row
  for (std::size_t m = 0; m < 3; ++m) {
    for (std::size_t n = 0; n < 5; ++n) {
      for (std::size_t k = 0; k < 4; ++k) {
        out[m * 5 + n] += x[m * 4 + k] * w[n * 4 + k];
        data[m * 4 + k] += dy[m * 5 + n] * w[n * 4 + k];
        weights[n * 4 + k] += dy[m * 5 + n] * x[m * 4 + k];
      }
    }
  }
  CHECK_THAT(forward, Catch::Matchers::Approx(out));
  CHECK_THAT(dx, Catch::Matchers::Approx(data));
  CHECK_THAT(dw, Catch::Matchers::Approx(weights));
}

TEST_CASE("Rounds and readings of a load belong to the second in which they end", "[unit]") {
  const std::vector<double> ends = {100.4, 100.8, 101.2, 102.0, 103.1};
  std::vector<PowerReading> readings;
  for (const auto& [time, power] :
       {std::pair{100.1, 300.0}, {100.5, 500.0}, {100.9, 700.0}, {102.5, 690.0}}) {
    readings.push_back({power, 2.0 * power, 0.0, 50.0, time});
  }
  const auto seconds = by_second(100.0, ends, readings, 4);
  REQUIRE(seconds.size() == 4);
  CHECK(seconds[0].seconds_per_round == Approx(0.4));
  CHECK(seconds[0].power_w == 500.0);
  CHECK(seconds[0].sm_clock_mhz == 1000.0);
  CHECK(seconds[0].readings == 3);
  CHECK(seconds[1].seconds_per_round == Approx((102.0 - 100.8) / 2.0));
  CHECK(std::isnan(seconds[1].power_w));
  CHECK(std::isnan(seconds[2].seconds_per_round));
  CHECK(seconds[2].power_w == 690.0);
  CHECK(seconds[3].seconds_per_round == Approx(103.1 - 102.0));
  // All rounds are counted once: the time of the load is theirs.
  CHECK(2 * seconds[0].seconds_per_round + 2 * seconds[1].seconds_per_round +
            seconds[3].seconds_per_round ==
        Approx(3.1));
}

TEST_CASE("Long contexts are split no finer than the SMs can use", "[unit]") {
  const AttentionShape small{1, 1024, 32, 8, 128};
  const AttentionShape large{64, 32768, 32, 8, 128};
  CHECK(split_tokens(small, 132, 128) == 128);
  CHECK(split_tokens(large, 132, 128) == 16 * 128);
}

TEST_CASE("A GPU is a chip of the catalog by the name its driver gives it, to the letter",
          "[unit]") {
  const auto chip_of = [](std::string_view gpu) {
    return base::id_called(hardware::chip_catalog(), gpu);
  };
  CHECK(chip_of("NVIDIA H200") == "h200_sxm");
  CHECK(chip_of("NVIDIA H100 80GB HBM3") == "h100_sxm");
  CHECK(!chip_of("NVIDIA H200 NVL"));  // another power limit and another link
}

namespace {

Options parsed(const std::vector<std::string>& arguments) {
  Options options;
  auto reversed = arguments;
  std::reverse(reversed.begin(), reversed.end());
  make_parser(options)->parse(reversed);
  return options;
}

}  // namespace

TEST_CASE("The bench's arguments are taken as they are meant", "[unit]") {
  const Options options =
      parsed({"--out", "dir", "--only", "gemm,copy", "--chip", "h20", "--budget-s", "60"});
  CHECK(options.directory == "dir");
  CHECK(options.only == std::vector<std::string>{"gemm", "copy"});
  CHECK(options.chip == "h20");
  CHECK(options.budget_s == 60.0);
  CHECK(parsed({"--list"}).list);
  CHECK(parsed({"--drift"}).drift);
}

TEST_CASE("The bench refuses what it cannot do", "[unit]") {
  CHECK_THROWS_AS(parsed({}), CLI::ParseError);
  CHECK_THROWS_AS(parsed({"--out", "dir", "--only", "gem"}), CLI::ParseError);
  CHECK_THROWS_AS(parsed({"--out", "dir", "--budget-s", "-1"}), CLI::ParseError);
  CHECK_THROWS_AS(parsed({"--out", "dir", "--budget-s", "1e12"}), CLI::ParseError);
  CHECK_THROWS_AS(parsed({"--out", "dir", "--drift"}), CLI::ParseError);
  CHECK_THROWS_AS(parsed({"--list", "--drift"}), CLI::ParseError);
  CHECK_THROWS_AS(parsed({"--out", "dir", "--fast"}), CLI::ParseError);
}

TEST_CASE("A GPU that does what its chip says does not drift", "[unit]") {
  const hardware::Chip chip = catalog_chip("h200_sxm");
  Observed observed{chip.bandwidth * 0.9, *chip.measured.l2_bandwidth, *chip.measured.dram_latency,
                    chip.peak(base::MathType::bf16) * 0.8};
  const auto drifting = [&] {
    std::vector<std::string> figures;
    for (const Comparison& comparison : compare(observed, chip)) {
      if (!comparison.agrees()) {
        figures.push_back(comparison.figure);
      }
    }
    return figures;
  };
  CHECK(drifting().empty());
  observed.copy_bandwidth = chip.bandwidth * 1.1;  // no copy passes the datasheet
  CHECK(drifting() == std::vector<std::string>{"DRAM copy"});
  observed.copy_bandwidth = chip.bandwidth * 0.9;
  observed.bf16 = chip.peak(base::MathType::bf16) * 0.4;
  CHECK(drifting() == std::vector<std::string>{"bf16 GEMM"});
  CHECK_THAT(line(compare(observed, chip).at(1)), Catch::Matchers::ContainsSubstring("DRIFT"));
}

TEST_CASE("What the catalog does not have is not compared", "[unit]") {
  hardware::Chip chip = catalog_chip("h200_sxm");
  const Observed observed{chip.bandwidth, *chip.measured.l2_bandwidth, *chip.measured.dram_latency,
                          chip.peak(base::MathType::bf16)};
  CHECK(compare(observed, chip).size() == 4);
  chip.measured = {};
  CHECK(compare(observed, chip).size() == 2);
  CHECK_THROWS_WITH(catalog_chip("h200_sxn"), Catch::Matchers::ContainsSubstring("h200_sxm"));
}

TEST_CASE("Work apart ends as it does, and takes nothing with it", "[unit]") {
  CHECK(run_apart([] { return 3; }, 60.0).status == 3);
  CHECK(run_apart([]() -> int { throw std::runtime_error("as a test wants it"); }, 60.0).status ==
        1);
  CHECK_THAT(run_apart([] { return std::raise(SIGKILL); }, 60.0).problem,
             Catch::Matchers::ContainsSubstring("killed by signal"));
  CHECK_THAT(run_apart([] { return pause(); }, 0.0).problem,
             Catch::Matchers::ContainsSubstring("longer than it may"));
}

}  // namespace roofcast::unit_calibrate_bench_plan
