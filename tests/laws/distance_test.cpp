// SPDX-License-Identifier: Apache-2.0
//
// What a forecast takes from measured chips is continuous in the distance to them.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>

#include "hardware/nearest_calibration.hpp"
#include "models/operators/correction.hpp"
#include "sim/scenario/knob.hpp"
#include "tests/catch.hpp"
#include "tests/laws/catalog.hpp"

namespace roofcast::laws_distance {

namespace {

hardware::Calibration calibration_of(base::Node chip, const std::string& stack) {
  base::Node document;
  base::Problems problems;
  document["system"]["calibration"] = hardware::nearest_calibration(chip, stack);
  document["system"]["chip"] = std::move(chip);
  sim::load_references(document, problems);
  hardware::Calibration calibration;
  base::Fields fields(*document.find_path("system.calibration"), "calibration", problems);
  hardware::read(fields, calibration);
  problems.throw_if_any();
  return calibration;
}

hardware::Calibration calibration_of(const std::string& chip, const std::string& stack,
                                     const std::string& setting) {
  if (setting.empty()) {
    return calibration_of(base::load_entry(hardware::chip_catalog(), chip), stack);
  }
  base::Node document;
  document["system"]["chip"] = base::scalar_node(chip, {});
  base::Problems problems;
  sim::set_knob(document, {"law", setting, {}}, problems);
  problems.throw_if_any();
  return calibration_of(*document.find_path("system.chip"), stack);
}

// The figures of a chip of the catalog under a name that the catalog does not have.
base::Node chip_in_full(const std::string& id) {
  base::Node chip = base::load_entry(hardware::chip_catalog(), id);
  chip.reference.clear();
  chip["name"] = base::scalar_node("Mine", chip.place);
  std::erase_if(chip.entries, [](const base::Entry& entry) { return entry.key == "known_as"; });
  return chip;
}

void scale(base::Node& chip, const char* path, double factor) {
  base::Node& figure = *chip.find_path(path);
  figure = base::scalar_node(fmt::format("{:.12g} {}", factor * std::stod(figure.text),
                                         figure.text.substr(figure.text.find(' ') + 1)),
                             figure.place);
}

bool has_tdp(const std::string& chip) {
  const base::Node document = base::load_entry(hardware::chip_catalog(), chip);
  const base::Node* tdp = document.find_path("power.tdp");
  return tdp != nullptr && !tdp->is_null();
}

double apart(double a, double b) { return std::abs(a / b - 1.0); }

}  // namespace

TEST_CASE("A chip that differs by 0.01 % has the parameters and intervals of its like", "[laws]") {
  for (const std::string& chip : base::catalog_ids(hardware::chip_catalog())) {
    for (const char* stack : {"vllm", "trtllm", "sglang"}) {
      for (const char* setting :
           {"system.chip.hbm.bandwidth=x1.0001", "system.chip.power.tdp=x0.9999"}) {
        if (std::string_view(setting).find("tdp") != std::string_view::npos && !has_tdp(chip)) {
          continue;
        }
        const hardware::Calibration before = calibration_of(chip, stack, "");
        const hardware::Calibration after = calibration_of(chip, stack, setting);
        INFO(chip << " " << stack << " " << setting);
        CHECK(apart(after.gemm_step_trips, before.gemm_step_trips) < 1e-3);
        CHECK(apart(after.decode_cta_clocks, before.decode_cta_clocks) < 1e-3);
        CHECK(apart(after.moe_kernels, before.moe_kernels) < 1e-3);
        CHECK(apart(after.launch.si(), before.launch.si()) < 1e-3);
        CHECK(std::abs(after.corrections_share - before.corrections_share) < 1e-3);
        REQUIRE(after.errors.size() == before.errors.size());
        for (std::size_t i = 0; i < after.errors.size(); ++i) {
          INFO(after.errors[i].kind);
          CHECK(apart(after.errors[i].low, before.errors[i].low) < 8e-3);
          CHECK(apart(after.errors[i].high, before.errors[i].high) < 8e-3);
        }
      }
    }
  }
}

TEST_CASE("A chip of the catalog that is changed keeps its parameters, whatever is changed",
          "[laws]") {
  for (const std::string& chip : base::catalog_ids(hardware::chip_catalog())) {
    const hardware::Calibration before = calibration_of(chip, "vllm", "");
    for (const char* setting : {"system.chip.hbm.bandwidth=x3", "system.chip.power.tdp=x0.5"}) {
      if (!has_tdp(chip)) {
        continue;
      }
      const hardware::Calibration after = calibration_of(chip, "vllm", setting);
      INFO(chip << " " << setting);
      CHECK(apart(after.gemm_step_trips, before.gemm_step_trips) < 1e-9);
      CHECK(apart(after.decode_cta_clocks, before.decode_cta_clocks) < 1e-9);
      CHECK(std::abs(after.corrections_share - before.corrections_share) < 1e-9);
    }
  }
}

TEST_CASE("A chip that differs in its name alone has the parameters that it had", "[laws]") {
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / "roofcast_named";
  std::filesystem::create_directories(folder);
  for (const char* chip : {"h200_sxm", "h20", "b200_sxm"}) {
    const std::string file = (folder / (std::string(chip) + ".yaml")).string();
    std::ofstream(file) << "base: " << chip << "\nname: Another name\n";
    for (const char* stack : {"vllm", "trtllm"}) {
      const hardware::Calibration of = calibration_of(chip, stack, "");
      const hardware::Calibration renamed =
          calibration_of(file, stack, "system.chip.status=shipping");
      INFO(chip << " " << stack);
      CHECK(apart(renamed.gemm_step_trips, of.gemm_step_trips) < 1e-9);
      CHECK(apart(renamed.decode_cta_clocks, of.decode_cta_clocks) < 1e-9);
      CHECK(std::abs(renamed.corrections_share - of.corrections_share) < 1e-9);
    }
  }
  std::filesystem::remove_all(folder);
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

TEST_CASE("A chip that gives up INT8 is as near as it was, and one with other FP8 is further",
          "[laws]") {
  const hardware::Calibration own = calibration_of("b200_sxm", "trtllm", "");
  const hardware::Calibration integers =
      calibration_of("b200_sxm", "trtllm", "system.chip.tensor.int8=x0.03");
  const hardware::Calibration other =
      calibration_of("b200_sxm", "trtllm", "system.chip.tensor.fp8=x2");
  for (std::size_t kind = 0; kind < own.errors.size(); ++kind) {
    if (own.errors[kind].kind == "gemm" || own.errors[kind].kind == "moe") {
      INFO(own.errors[kind].kind);
      CHECK(integers.errors[kind].low == own.errors[kind].low);
      CHECK(integers.errors[kind].high == own.errors[kind].high);
      CHECK(other.errors[kind].low < own.errors[kind].low);
    }
  }
}

// 1 % of a figure is 0.001 generations: (0.001 / 3)^0.75 = 0.2 % of the correlation.
TEST_CASE("Nothing jumps where another measured chip becomes the nearest", "[laws]") {
  using base::NumberFormat;
  const workloads::Operator ops[] = {workloads::Gemm{.m = 4096, .n = 8192, .k = 8192},
                                     workloads::Gemm{.m = 16,
                                                     .n = 8192,
                                                     .k = 8192,
                                                     .activations = NumberFormat::fp8,
                                                     .weights = NumberFormat::fp8},
                                     workloads::Collective{.bytes = 1e6, .ranks = 8}};
  int changes = 0;
  for (const char* id : {"b300_sxm", "h100_sxm", "a100_sxm"}) {
    for (const char* path : {"hbm.bandwidth", "power.tdp"}) {
      std::vector<double> before;
      std::string nearest;
      for (double factor = 0.7; factor < 2.0; factor *= 1.01) {
        base::Node chip = chip_in_full(id);
        scale(chip, path, factor);
        const hardware::Calibration now = calibration_of(chip, "trtllm");
        std::vector<double> logs = {std::log(now.gemm_step_trips), std::log(now.row_clocks),
                                    std::log(now.launch.si())};
        for (const workloads::Operator& op : ops) {
          logs.push_back(models::correction_log(op, now));
        }
        for (const char* kind : {"gemm", "moe", "attention_generation", "custom_allreduce"}) {
          const auto error =
              std::find_if(now.errors.begin(), now.errors.end(),
                           [&](const hardware::KindError& e) { return e.kind == kind; });
          REQUIRE(error != now.errors.end());
          logs.push_back(std::log(error->low));
          logs.push_back(std::log(error->high));
        }
        INFO(id << " " << path << " x" << factor << ", " << now.name);
        for (std::size_t i = 0; i < before.size(); ++i) {
          INFO(i << ": " << before[i] << ", " << logs[i]);
          CHECK(std::abs(logs[i] - before[i]) < 0.015);
        }
        changes += !nearest.empty() && nearest != now.name;
        nearest = now.name;
        before = std::move(logs);
      }
    }
  }
  CHECK(changes > 2);
}

TEST_CASE("A chip stated in full keeps its parameters while its figures are changed", "[laws]") {
  const hardware::Calibration before = calibration_of(chip_in_full("b300_sxm"), "vllm");
  for (const char* setting : {"system.chip.hbm.bandwidth=x3", "system.chip.power.tdp=x0.5",
                              "system.chip.nvlink.bandwidth_bidirectional=x2"}) {
    base::Node document;
    document["system"]["chip"] = chip_in_full("b300_sxm");
    base::Problems problems;
    sim::set_knob(document, {"law", setting, {}}, problems);
    problems.throw_if_any();
    const hardware::Calibration after = calibration_of(*document.find_path("system.chip"), "vllm");
    INFO(setting);
    CHECK(apart(after.gemm_step_trips, before.gemm_step_trips) < 1e-9);
    CHECK(apart(after.decode_cta_clocks, before.decode_cta_clocks) < 1e-9);
    CHECK(std::abs(after.corrections_share - before.corrections_share) < 1e-9);
    REQUIRE(after.relatives.size() == before.relatives.size());
    for (std::size_t i = 0; i < after.relatives.size(); ++i) {
      CHECK(std::abs(after.relatives[i].corrections_share - before.relatives[i].corrections_share) <
            1e-9);
    }
  }
}

}  // namespace roofcast::laws_distance
