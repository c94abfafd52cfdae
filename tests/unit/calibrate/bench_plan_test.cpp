// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <functional>
#include <set>
#include <stdexcept>

#include "base/document/catalog.hpp"
#include "base/document/problems.hpp"
#include "calibrate/bench/apart.hpp"
#include "calibrate/bench/drift.hpp"
#include "calibrate/bench/grids.hpp"
#include "calibrate/bench/options.hpp"
#include "calibrate/bench/plan.hpp"
#include "tests/catch.hpp"

using namespace roofcast;
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
