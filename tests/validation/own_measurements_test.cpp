// SPDX-License-Identifier: Apache-2.0
//
// What roofcast-bench measured on an H100 and an H200 (calibrate/measurements/h100_sxm, h200_sxm): no calibration that ships
// was fitted to it.
#include "calibrate/accuracy/own_measurements.hpp"

#include <cmath>
#include <map>

#include "base/csv/csv.hpp"
#include "base/statistics/quantile.hpp"
#include "calibrate/platforms/measurements.hpp"
#include "tests/catch.hpp"
#include "tests/measurements.hpp"

namespace roofcast::validation_own_measurements {

namespace {

const calibrate::OwnMeasurements& own() {
  static const calibrate::OwnMeasurements all =
      calibrate::own_measurements(calibrate::measurements() / "ops");
  return all;
}

calibrate::ErrorSummary errors(const std::vector<calibrate::OwnErrors>& all,
                               const std::string& chip, const std::string& what) {
  for (const calibrate::OwnErrors& each : all) {
    if (each.chip == chip && each.what == what) {
      return calibrate::summarise(each.pairs);
    }
  }
  FAIL("nothing was measured of " << what << " on " << chip);
  return {};
}

constexpr const char* kChips[] = {"h100_sxm", "h200_sxm"};

}  // namespace

TEST_CASE("GEMMs of one's own GPU are forecast about as well as others' tables repeat them",
          "[validation]") {
  for (const std::string chip : kChips) {
    INFO(chip);
    std::vector<double> apart;
    for (const calibrate::RepeatedGemms& gemms : own().repeated) {
      for (const double ratio : gemms.ratios) {
        if (gemms.chip == chip) {
          apart.push_back(std::abs(ratio - 1.0));
        }
      }
    }
    REQUIRE(apart.size() > 100);
    const double repeat = base::quantile(apart, 0.5);
    CHECK(repeat > 0.04);  // measurements differ
    CHECK(errors(own().forecasts, chip, "gemm, bfloat16").median < 1.25 * repeat);
    CHECK(errors(own().forecasts, chip, "gemm, fp8").median < 0.09);
    CHECK(errors(own().forecasts, chip, "gemm, tf32").median < 0.09);  // which nobody fitted to
  }
}

TEST_CASE("The interval of a GEMM holds nine of ten that one's own GPU measures", "[validation]") {
  for (const std::string chip : kChips) {
    for (const std::string what : {"gemm, bfloat16", "gemm, float16", "gemm, fp8", "gemm, tf32"}) {
      INFO(chip << " " << what);
      const double held = errors(own().forecasts, chip, what).coverage90;
      CHECK(held > 0.84);
      CHECK(held < 0.98);
    }
  }
}

TEST_CASE("A calibration of one's own GEMMs alone forecasts those that it did not see",
          "[validation]") {
  for (const std::string chip : kChips) {
    INFO(chip);
    const auto held_back = errors(own().alone, chip, "gemm, shapes held back");
    CHECK(held_back.rows > 150);
    CHECK(held_back.median < 0.055);
    CHECK(held_back.mape < 0.08);
  }
}

TEST_CASE("Power and time of a load that is kept up are forecast", "[validation]") {
  for (const std::string chip : kChips) {
    INFO(chip);
    CHECK(errors(own().forecasts, chip, "gemm_power, power").median < 0.02);
    CHECK(errors(own().forecasts, chip, "gemm_power, time at the power limit").median < 0.08);
  }
}

TEST_CASE("Attention's backward pass runs at the share of the forward rate that was measured",
          "[validation]") {
  const base::CsvTable forward = base::read_csv(measured_table("h200_sxm", "attention_forward"));
  const base::CsvTable backward = base::read_csv(measured_table("h200_sxm", "attention_backward"));
  const auto rates = [](const base::CsvTable& table) {
    std::map<std::string, double> found;
    for (std::size_t row = 0; row < table.rows(); ++row) {
      const auto cell = [&](const char* name) {
        return std::string(table.cell(row, table.column(name)));
      };
      if (cell("kernel_source") == "torch_cudnn" && std::stoi(cell("isl")) >= 2048) {
        found[cell("batch_size") + " " + cell("isl") + " " + cell("num_heads") + " " +
              cell("num_key_value_heads") + " " + cell("head_dim")] =
            std::stod(cell("tflop_per_s"));
      }
    }
    return found;
  };
  const auto of_forward = rates(forward);
  std::vector<double> shares;
  for (const auto& [shape, rate] : rates(backward)) {
    shares.push_back(rate / of_forward.at(shape));
  }
  REQUIRE(shares.size() > 50);
  CHECK(base::quantile(shares, 0.5) == Approx(0.83).margin(0.03));
}

}  // namespace roofcast::validation_own_measurements
