// SPDX-License-Identifier: Apache-2.0
#include "calibrate/fit/version_fit.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>

#include "calibrate/fit/fit.hpp"
#include "calibrate/platforms/chip_platforms.hpp"
#include "hardware/kernel_versions.hpp"
#include "models/operators/operator_cost.hpp"
#include "tests/catch.hpp"

namespace roofcast::unit_calibrate_version_fit {

namespace {

namespace fs = std::filesystem;

workloads::DecodeAttention decode(int batch, int context, base::NumberFormat cache) {
  return {{16, 2, 128, 128, 0, 512, cache}, batch, 1, context, true};
}

double physical_s(const workloads::DecodeAttention& op) {
  static calibrate::ChipPlatforms platforms("generic");
  return models::cost_of(op, platforms.find("h200_sxm", "vllm")->machine).time / base::second;
}

// Decode attention of an H200 in three versions. In 1.0 and 1.1 kernels of bf16 caches took `slowdown` times as long as
// in 1.2; those of fp8 caches always took the same.
fs::path planted(double slowdown, const std::string& name) {
  const fs::path directory = fs::temp_directory_path() / name;
  fs::create_directories(directory);
  std::ofstream out(directory / "attention_generation.csv");
  out << "system,fw,fw_version,kv_cache_dtype,batch_size,isl,kv_len_minus_isl,num_heads,"
         "num_key_value_heads,head_dim,window_size,latency_ms\n";
  for (const char* version : {"1.1", "1.2", "1.0"}) {
    for (const int batch : {1, 4, 16, 64, 256}) {
      for (int context = 128; context <= 131072; context *= 2) {
        for (const auto cache : {base::NumberFormat::bf16, base::NumberFormat::fp8}) {
          const bool other = cache == base::NumberFormat::bf16 && version != std::string("1.2");
          out << fmt::format(
              "h200_sxm,vllm,{},{},{},{},1,16,2,128,0,{:.9g}\n", version,
              cache == base::NumberFormat::fp8 ? "fp8" : "bfloat16", batch, context - 1,
              1e3 * physical_s(decode(batch, context, cache)) * (other ? slowdown : 1.0));
        }
      }
    }
  }
  return directory;
}

}  // namespace

TEST_CASE("A fit takes the newest version and states what was different before", "[unit]") {
  const fs::path tables = planted(1.5, "roofcast_version_fit_test");
  const auto fitted = calibrate::fit_calibration({"h200_sxm", "vllm", {{tables}, {}}});
  CHECK(fitted.version == "1.2");
  REQUIRE(fitted.kinds.size() == 1);
  CHECK(fitted.kinds[0].given + fitted.kinds[0].after.rows == 5 * 11 * 2);  // of the newest alone
  CHECK(fitted.kinds[0].after.median < 0.01);
  REQUIRE(fitted.older.size() == 2);
  CHECK(fitted.older[0].version == "1.1");
  CHECK(fitted.older[0].kinds == std::set<std::string>{"attention_generation"});
  REQUIRE(fitted.older[0].corrections.size() == 1);  // bf16 alone
  CHECK(fitted.older[0].corrections[0].op == "decode");
  CHECK(fitted.older[1].version == "1.0");
  CHECK(fitted.older[1].corrections.empty());  // as in 1.1

  // The overlay forecasts each version, and each version between them.
  const fs::path file = tables / "overlay.yaml";
  std::ofstream(file) << calibrate::overlay(fitted, "planted");
  calibrate::ChipPlatforms overlaid(file.string());
  const auto op = decode(16, 8192, base::NumberFormat::bf16);
  const auto forecast = [&](const char* version) {
    const sim::Platform* platform = overlaid.find("h200_sxm", "vllm", version);
    return models::cost_of(op, platform->machine).time / base::second / physical_s(op);
  };
  CHECK(forecast("") == Approx(1.0).epsilon(0.02));
  CHECK(forecast("1.2") == Approx(1.0).epsilon(0.02));
  CHECK(forecast("1.1") == Approx(1.5).epsilon(0.05));
  CHECK(forecast("1.0") == Approx(1.5).epsilon(0.05));
  CHECK(forecast("0.9") == Approx(1.5).epsilon(0.05));
  fs::remove_all(tables);
}

TEST_CASE("A difference that timers explain is no other kernel", "[unit]") {
  const fs::path tables = planted(1.05, "roofcast_version_fit_small_test");
  const auto fitted = calibrate::fit_calibration({"h200_sxm", "vllm", {{tables}, {}}});
  REQUIRE(fitted.older.size() == 2);
  CHECK(fitted.older[0].corrections.empty());
  CHECK(calibrate::overlay(fitted, "planted").find("- version: 1.1\n    measured:") !=
        std::string::npos);
  fs::remove_all(tables);
}

}  // namespace roofcast::unit_calibrate_version_fit
