// SPDX-License-Identifier: Apache-2.0
#include "hardware/kernel_versions.hpp"

#include <fmt/format.h>

#include <cmath>

#include "calibrate/platforms/chip_platforms.hpp"
#include "models/operators/operator_cost.hpp"
#include "sim/scenario/knob.hpp"
#include "sim/scenario/references.hpp"
#include "sim/scenario/section_readers.hpp"
#include "tests/catch.hpp"

namespace roofcast::unit_hardware_kernel_versions {

namespace {

// A calibration of three versions: A changed after 3.0, B after 2.0, C never.
std::string changes() {
  const auto grid = [](const char* margin, const char* of, int percent) {
    return fmt::format("{0}- {{operator: gemm, of: {1}, axes: 0:1:2, log_percent: {2} {2}}}\n",
                       margin, of, percent);
  };
  return "base: generic\nname: Test\nprovenance: measured-corrected\nstack: trtllm\nversion: 3.1\n"
         "corrections:\n" +
         grid("  ", "bf16 bf16", 10) + grid("  ", "fp8 fp8", 20) + grid("  ", "nvfp4 nvfp4", 30) +
         "older_versions:\n  - version: 3.0\n    measured: gemm\n    corrections:\n" +
         grid("      ", "bf16 bf16", 11) +
         "  - version: 2.0\n    measured: gemm\n    corrections:\n" +
         grid("      ", "fp8 fp8", 22) + "  - version: 1.0\n    measured: moe\n";
}

hardware::Calibration read(const std::string& text, const std::vector<std::string>& settings = {}) {
  base::Node document = base::parse_document("test.yaml", "system: hgx_h200\n");
  document["system"] = base::parse_document("system.yaml", "base: hgx_h200\nname: A test\n");
  document["system"]["calibration"] = base::parse_document("calibration.yaml", text);
  base::Problems problems;
  for (const std::string& setting : settings) {
    sim::set_knob(document, {"--set", setting, {}}, problems);
  }
  sim::load_references(document, problems);
  const sim::Platform platform = sim::read_platform(document, problems);
  problems.throw_if_any();
  return platform.system.calibration;
}

// 100 · ln of the factors of bf16, fp8 and nvfp4.
std::vector<long> percents(const hardware::Calibration& c) {
  std::vector<long> all;
  for (const hardware::CorrectionGrid& grid : c.corrections->grids()) {
    all.push_back(std::lround(100.0 * static_cast<double>(grid.values.at(0))));
  }
  return all;
}

hardware::Calibration at(const std::string& version, const std::string& stack = "trtllm") {
  hardware::Calibration c = read(changes());
  hardware::take_version(c, stack, version);
  return c;
}

}  // namespace

TEST_CASE("Older kernels are reached step by step, and what did not change stays", "[unit]") {
  CHECK(percents(read(changes())) == std::vector<long>{10, 20, 30});
  CHECK(percents(at("3.1")) == std::vector<long>{10, 20, 30});
  CHECK(percents(at("3.0")) == std::vector<long>{11, 20, 30});
  CHECK(percents(at("2.0")) == std::vector<long>{11, 22, 30});
  CHECK(percents(at("1.0")) == std::vector<long>{11, 22, 30});
}

TEST_CASE("A version that nobody measured takes the nearest one's kernels and says so", "[unit]") {
  CHECK(at("2.0").name == "Test, kernels of 2.0");
  CHECK(at("2.4").name == "Test, kernels of 2.0, the nearest measured to 2.4");
  CHECK(percents(at("2.4")) == percents(at("2.0")));
  CHECK(at("9").version == "3.1");
  CHECK(at("0.1").version == "1.0");
}

TEST_CASE("The number of another stack's version says nothing of this one's kernels", "[unit]") {
  const hardware::Calibration c = at("2.0", "sglang");
  CHECK(percents(c) == std::vector<long>{10, 20, 30});
  CHECK(c.version == "3.1");
  CHECK(c.name == "Test (sglang 2.0 was not measured)");
}

TEST_CASE("serving.version decides whose kernels are forecast, whichever knob is set first",
          "[unit]") {
  const std::vector<std::string> stack = {"serving.stack=trtllm", "serving.version=2.0"};
  CHECK(percents(read(changes(), stack)) == std::vector<long>{11, 22, 30});
  CHECK(percents(read(changes(), {stack[1], stack[0]})) == std::vector<long>{11, 22, 30});
}

TEST_CASE("A server runs the kernels that it tunes, in every version", "[unit]") {
  const std::string tuned =
      changes() + "tuned:\n  kernels_of: vllm\n  corrections:\n" +
      "  - {operator: gemm, of: nvfp4 nvfp4, axes: 0:1:2, log_percent: -5 -5}\n";
  CHECK(percents(read(tuned)) == std::vector<long>{10, 20, -5});
  const std::vector<std::string> old = {"serving.stack=trtllm", "serving.version=2.0"};
  CHECK(percents(read(tuned, old)) == std::vector<long>{11, 22, -5});
}

TEST_CASE("Tables of kernels that were not tuned are forecast as they were timed", "[unit]") {
  calibrate::ChipPlatforms platforms;
  const workloads::Operator gemm =
      workloads::Gemm{16, 8192, 8192, 1, base::NumberFormat::nvfp4, base::NumberFormat::nvfp4};
  const auto time = [&](const sim::Platform* p) { return models::cost_of(gemm, p->machine).time; };
  CHECK(time(platforms.find("b200_sxm", "trtllm")) <
        0.9 * time(platforms.find_timed("b200_sxm", "trtllm")));
  CHECK(time(platforms.find("b200_sxm", "vllm")) == time(platforms.find_timed("b200_sxm", "vllm")));
}

TEST_CASE("Versions that do not go back in time are refused", "[unit]") {
  std::string text = changes();
  text.replace(text.find("version: 1.0"), 12, "version: 2.5");
  CHECK_THROWS_WITH(read(text),
                    Catch::Matchers::ContainsSubstring("is not older than the one before, 2.0"));
}

}  // namespace roofcast::unit_hardware_kernel_versions
