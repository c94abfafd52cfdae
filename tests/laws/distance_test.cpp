// SPDX-License-Identifier: Apache-2.0
//
// What a forecast takes from measured chips is continuous in the distance to them.
#include <cmath>

#include "hardware/nearest_calibration.hpp"
#include "sim/scenario/knob.hpp"
#include "tests/catch.hpp"
#include "tests/laws/catalog.hpp"

namespace roofcast::laws_distance {

namespace {

hardware::Calibration calibration_of(const std::string& chip, const std::string& stack,
                                     const std::string& setting) {
  base::Node document;
  document["system"]["chip"] = base::scalar_node(chip, {});
  base::Problems problems;
  if (!setting.empty()) {
    sim::set_knob(document, {"law", setting, {}}, problems);
  } else {
    document["system"]["chip"] = base::load_entry(hardware::chip_catalog(), chip);
  }
  problems.throw_if_any();
  document["system"]["calibration"] =
      hardware::nearest_calibration(*document.find_path("system.chip"), stack);
  sim::load_references(document, problems);
  hardware::Calibration calibration;
  base::Fields fields(*document.find_path("system.calibration"), "calibration", problems);
  hardware::read(fields, calibration);
  problems.throw_if_any();
  return calibration;
}

double apart(double a, double b) { return std::abs(a / b - 1.0); }

}  // namespace

TEST_CASE("A chip that differs by 0.01 % has the parameters and intervals of its like", "[laws]") {
  for (const std::string& chip : base::catalog_ids(hardware::chip_catalog())) {
    for (const char* stack : {"vllm", "trtllm", "sglang"}) {
      const hardware::Calibration before = calibration_of(chip, stack, "");
      const hardware::Calibration after =
          calibration_of(chip, stack, "system.chip.hbm.bandwidth=x1.0001");
      INFO(chip << " " << stack);
      CHECK(apart(after.gemm_step_trips, before.gemm_step_trips) < 1e-3);
      CHECK(apart(after.decode_cta_clocks, before.decode_cta_clocks) < 1e-3);
      CHECK(apart(after.moe_kernels, before.moe_kernels) < 1e-3);
      CHECK(apart(after.launch.si(), before.launch.si()) < 1e-3);
      CHECK(std::abs(after.corrections_share - before.corrections_share) < 1e-3);
      REQUIRE(after.errors.size() == before.errors.size());
      for (std::size_t i = 0; i < after.errors.size(); ++i) {
        INFO(after.errors[i].kind);
        CHECK(apart(after.errors[i].low, before.errors[i].low) < 5e-3);
        CHECK(apart(after.errors[i].high, before.errors[i].high) < 5e-3);
      }
    }
  }
}

TEST_CASE(
    "The further a chip is from a measured one, the wider its intervals, and none is narrower",
    "[laws]") {
  const hardware::Calibration own = calibration_of("h200_sxm", "vllm", "");
  std::vector<hardware::Calibration> further = {own};
  for (const char* factor : {"x1.01", "x1.3", "x2", "x8"}) {
    further.push_back(
        calibration_of("h200_sxm", "vllm", std::string("system.chip.power.tdp=") + factor));
  }
  for (std::size_t i = 1; i < further.size(); ++i) {
    for (std::size_t kind = 0; kind < own.errors.size(); ++kind) {
      if (own.errors[kind].rows > 0) {
        INFO(own.errors[kind].kind << " " << i);
        CHECK(further[i].errors[kind].low <= further[i - 1].errors[kind].low);
        CHECK(further[i].errors[kind].high >= further[i - 1].errors[kind].high);
      }
      if (own.errors[kind].kind == "gemm" || own.errors[kind].kind == "moe") {
        CHECK(further[i].errors[kind].low < further[i - 1].errors[kind].low);
        CHECK(further[i].errors[kind].high > further[i - 1].errors[kind].high);
      }
    }
  }
}

}  // namespace roofcast::laws_distance
