// SPDX-License-Identifier: Apache-2.0
#include "calibrate/fit/fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <set>

#include "calibrate/fit/parameter_spread.hpp"
#include "calibrate/platforms/chip_platforms.hpp"
#include "models/operators/operator_cost.hpp"
#include "tests/catch.hpp"

namespace roofcast::unit_calibrate_fit {

namespace {

namespace fs = std::filesystem;

// A directory with decode attention of an H200 whose parameters are known, timed without error, in
// the public tables' layout.
fs::path planted(double ramp, double clocks, const std::string& name,
                 const std::vector<int>& key_value_heads = {1, 2, 8}) {
  calibrate::ChipPlatforms platforms("generic");
  models::Machine machine = platforms.find("h200_sxm", "vllm")->machine;
  machine.calibration.decode_ramp_bytes_per_sm = ramp;
  machine.calibration.decode_fill_clocks = clocks;
  const fs::path directory = fs::temp_directory_path() / name;
  fs::create_directories(directory);
  std::ofstream out(directory / "attention_generation.csv");
  out << "system,fw,kv_cache_dtype,batch_size,isl,kv_len_minus_isl,num_heads,num_key_value_heads,"
         "head_dim,window_size,latency_ms\n";
  for (const int batch : {1, 4, 16, 64, 256}) {
    for (int context = 128; context <= 131072; context *= 2) {
      for (const int heads : key_value_heads) {
        const workloads::DecodeAttention op{
            {8 * heads, heads, 128, 128, 0, 256 * heads, base::NumberFormat::bf16},
            batch,
            1,
            context,
            true};
        const double ms = models::cost_of(op, machine).time / base::millisecond;
        out << fmt::format("h200_sxm,vllm,bfloat16,{},{},1,{},{},128,0,{:.9g}\n", batch,
                           context - 1, 8 * heads, heads, ms);
      }
    }
  }
  return directory;
}

const calibrate::FittedParameter* find(const calibrate::FittedCalibration& fitted,
                                       std::string_view path) {
  for (const calibrate::FittedParameter& p : fitted.parameters) {
    if (p.path == path) {
      return &p;
    }
  }
  return nullptr;
}

}  // namespace

TEST_CASE("A fit finds planted parameters and judges itself on shapes it has not seen", "[unit]") {
  const fs::path tables = planted(600000.0, 6000.0, "roofcast_fit_test");
  const auto fitted = calibrate::fit_calibration({"h200_sxm", "vllm", {{tables}, {}}});
  REQUIRE(fitted.kinds.size() == 1);
  const calibrate::KindErrors& errors = fitted.kinds[0];
  CHECK(errors.given + errors.after.rows == 5 * 11 * 3);
  CHECK(errors.after.rows > 15);
  CHECK(errors.before.median > 0.05);
  CHECK(errors.after.median < 0.01);
  const auto* fill = find(fitted, "attention.decode_fill_clocks");
  REQUIRE(fill != nullptr);
  CHECK(std::stod(fill->text) == Approx(6000.0).epsilon(0.08));
  REQUIRE(find(fitted, "attention.decode_ramp_bytes_per_sm") != nullptr);
  CHECK(std::stod(find(fitted, "attention.decode_ramp_bytes_per_sm")->text) ==
        Approx(600000.0).epsilon(0.05));
  CHECK(find(fitted, "attention.prefill_fill_clocks") == nullptr);  // no prompt was measured

  // The overlay is a calibration that the same tables find right.
  const fs::path file = tables / "overlay.yaml";
  std::ofstream(file) << calibrate::overlay(fitted, "planted");
  calibrate::ChipPlatforms overlaid(file.string());
  const hardware::Calibration& read = overlaid.find("h200_sxm", "vllm")->system.calibration;
  CHECK(read.provenance == hardware::Provenance::calibrated);
  CHECK(read.decode_fill_clocks == Approx(6000.0).epsilon(0.08));
  REQUIRE(read.errors.size() > 1);  // of the kinds without rows, the generic ones
  CHECK(read.errors[0].kind == "attention_generation");
  CHECK(read.errors[0].low <= 1.0);
  CHECK(read.errors[0].high >= 1.0);
  fs::remove_all(tables);
}

TEST_CASE("A fit that is judged by layers has seen no shape of them", "[unit]") {
  const fs::path tables = planted(600000.0, 6000.0, "roofcast_fit_layers_test", {1, 2, 8, 9});
  const auto by_layers =
      calibrate::fit_calibration({"h200_sxm", "vllm", {{tables}, {}}, calibrate::Split::layers});
  std::size_t held_back = 0;  // 5 batches times 11 contexts of each layer that is drawn
  for (const std::string layer : {"8 1 128 0", "16 2 128 0", "64 8 128 0", "72 9 128 0"}) {
    held_back += calibrate::held_back_layer({&layer, 1}) ? 5 * 11 : 0;
  }
  REQUIRE(held_back == 5 * 11);
  REQUIRE(by_layers.kinds.size() == 1);
  CHECK(by_layers.kinds[0].after.rows == held_back);
  CHECK(by_layers.kinds[0].pairs.size() == held_back);
  CHECK(by_layers.kinds[0].given == 3 * held_back);
  CHECK(by_layers.kinds[0].after.median < 0.02);
  fs::remove_all(tables);
}

TEST_CASE("Few rows of a measured chip start from its calibration, and place what they tell",
          "[unit]") {
  // Decode attention of an H200 as its calibration has it, but for the fixed clocks of both kernels.
  calibrate::ChipPlatforms platforms;
  models::Machine machine = platforms.find("h200_sxm", "vllm")->machine;
  const double before = machine.calibration.decode_fill_clocks;
  machine.calibration.decode_fill_clocks = 4.0 * before;
  const fs::path file = fs::temp_directory_path() / "roofcast_few_attention_generation.csv";
  std::ofstream out(file);
  out << "system,fw,kv_cache_dtype,batch_size,isl,kv_len_minus_isl,num_heads,num_key_value_heads,"
         "head_dim,window_size,latency_ms\n";
  for (const int batch : {1, 16}) {
    for (const int context : {256, 1024, 4096, 16384, 65536}) {
      const workloads::DecodeAttention op{
          {32, 8, 128, 128, 0, 2048, base::NumberFormat::bf16}, batch, 1, context, true};
      out << fmt::format("h200_sxm,vllm,bfloat16,{},{},1,32,8,128,0,{:.9g}\n", batch, context - 1,
                         models::cost_of(op, machine).time / base::millisecond);
    }
  }
  out.close();
  const auto fitted = calibrate::fit_calibration({"h200_sxm", "vllm", {{file}, {}}});
  CHECK(fitted.start.text == "h200_sxm.vllm");
  CHECK(fitted.corrections.empty());
  REQUIRE(fitted.kinds.size() == 1);
  CHECK(fitted.kinds[0].given == 10);
  CHECK(fitted.kinds[0].after.rows == 10);  // each by the others
  CHECK(fitted.kinds[0].physical.median < 0.25 * fitted.kinds[0].before.median);
  const auto* fill = find(fitted, "attention.decode_fill_clocks");
  REQUIRE(fill != nullptr);
  CHECK(std::stod(fill->text) > 2.0 * before);
  CHECK(fitted.stay.size() > fitted.parameters.size());  // ten rows say little
  // What is not told stays as it was, with the interval at least.
  const hardware::Calibration& start = platforms.find("h200_sxm", "vllm")->system.calibration;
  for (const hardware::KindError& e : start.errors) {
    if (e.kind == "attention_generation") {
      CHECK(fitted.kinds[0].low <= e.low);
      CHECK(fitted.kinds[0].high >= e.high);
    }
  }
  CHECK(fitted.others.size() + 1 == start.errors.size());
  fs::remove(file);
}

TEST_CASE("Of few layers one judges where the draw takes none, or all", "[unit]") {
  std::vector<std::vector<std::string>> drawn, others;
  for (int i = 0; i < 60; ++i) {
    const std::vector<std::string> layer{std::to_string(i)};
    (calibrate::held_back_layer(layer) ? drawn : others).push_back(layer);
  }
  REQUIRE(drawn.size() > 2);
  for (const auto& of : {drawn, others}) {
    const std::set<std::vector<std::string>> few(of.begin(), of.begin() + 3);
    const calibrate::HeldBackLayers judging(few);
    CHECK(std::count_if(few.begin(), few.end(),
                        [&](const auto& layer) { return judging.has(layer); }) == 1);
  }
  const calibrate::HeldBackLayers all({drawn[0], others[0], others[1]});
  CHECK(all.has(drawn[0]));
  CHECK_FALSE(all.has(others[0]));
}

TEST_CASE("A shipped parameter that its rows place no better than 50 % says that it is fixed",
          "[unit]") {
  std::size_t fixed = 0;
  for (const calibrate::ParameterSpread& spread : calibrate::parameter_spreads()) {
    for (const calibrate::PlacedParameter& p : spread.placed) {
      CAPTURE(spread.path, p.calibration);
      if (std::abs(p.uncertainty - calibrate::kLoose) > 0.005) {  // printed in whole percent
        CHECK((p.uncertainty > calibrate::kLoose) == p.fixed);
      }
      fixed += p.fixed ? 1 : 0;
    }
  }
  CHECK(fixed > 0);
}

TEST_CASE("A width of a GEMM is held back wherever it stands, about a fifth of all", "[unit]") {
  std::size_t drawn = 0;
  std::size_t all = 0;
  for (int n = 1; n <= 400; ++n) {
    for (int k = n; k <= 400; ++k) {
      const std::string layer[] = {std::to_string(n), std::to_string(k)};
      const std::string swapped[] = {layer[1], layer[0]};
      REQUIRE(calibrate::held_back_layer(layer) == calibrate::held_back_layer(swapped));
      drawn += calibrate::held_back_layer(layer) ? 1 : 0;
      ++all;
    }
  }
  const double share = static_cast<double>(drawn) / static_cast<double>(all);
  CHECK(share > 0.15);
  CHECK(share < 0.25);
}

TEST_CASE("A fit without tables, or of an unknown chip, is refused with a reason", "[unit]") {
  const fs::path empty = fs::temp_directory_path() / "roofcast_fit_empty";
  fs::create_directories(empty);
  CHECK_THROWS_WITH(calibrate::fit_calibration({"h200_sxm", "vllm", {{empty}, {}}}),
                    Catch::Matchers::ContainsSubstring("no table with rows"));
  CHECK_THROWS_WITH(calibrate::fit_calibration({"h2000", "vllm", {{empty}, {}}}),
                    Catch::Matchers::ContainsSubstring("no system with the chip"));
  fs::remove_all(empty);
}

}  // namespace roofcast::unit_calibrate_fit
