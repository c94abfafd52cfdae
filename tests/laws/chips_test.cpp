// SPDX-License-Identifier: Apache-2.0
//
// Datasheets agree with themselves and with physics: peaks with units and clocks, formats with each
// other, and every figure with the range its unit belongs to.
#include <cmath>
#include <map>
#include <set>

#include "hardware/chip_architecture.hpp"
#include "hardware/chip_distance.hpp"
#include "tests/catch.hpp"
#include "tests/laws/catalog.hpp"

namespace roofcast::laws::laws_chips {
namespace {

using base::MathType;
using Catch::Matchers::ContainsSubstring;

TEST_CASE("Every chip of a vendor whose chips were measured has a known generation", "[laws]") {
  std::set<std::string> measured;
  for (const std::string& id : base::catalog_ids(hardware::calibration_catalog())) {
    measured.insert(id.substr(0, id.find('.')));
  }
  std::set<std::string> vendors;
  for (const hardware::Chip& chip : chips()) {
    if (measured.contains(chip.id)) {
      vendors.insert(chip.vendor);
    }
  }
  CHECK(!vendors.empty());
  for (const hardware::Chip& chip : chips()) {
    CAPTURE(chip.id);
    const auto kind = hardware::kind_of(base::load_entry(hardware::chip_catalog(), chip.id));
    CHECK((kind || !vendors.contains(chip.vendor)));
  }
}

TEST_CASE("A dense 16-bit peak is units times width times clock, within 2 %, or explained",
          "[laws]") {
  std::size_t checked = 0;
  for (const hardware::Chip& chip : chips()) {
    const std::optional<double> ratio = hardware::peak_over_width(chip);
    INFO(chip.id);
    // Only TPUs and chips with no known units have no width.
    CHECK((ratio || chip.vendor == "Google" || !chip.sms_used()));
    if (ratio) {
      CHECK(*ratio <= 1.02);
      CHECK(hardware::peak_note(base::load_entry(hardware::chip_catalog(), chip.id)).empty());
      ++checked;
    }
  }
  CHECK(checked >= 30);
}

TEST_CASE("Formats of an architecture are those of its chips' datasheets, within 4 %", "[laws]") {
  std::size_t checked = 0;
  for (const hardware::Chip& chip : chips()) {
    const auto* architecture = hardware::architecture_called(chip.architecture);
    REQUIRE(architecture != nullptr);
    const auto kind = hardware::kind_of_die(chip);
    for (int i = 1; kind && i < base::kMathTypes; ++i) {
      const auto type = static_cast<MathType>(i);
      const std::vector<double>& ratios = architecture->formats[static_cast<std::size_t>(i)];
      if (chip.peak(type).si() > 0.0 && type != MathType::fp32) {
        INFO(chip.id << " " << base::name(type));
        REQUIRE(!ratios.empty());
        CHECK(chip.peak(type) / hardware::peak_of_16_bits(chip) ==
              Approx(ratios[*kind]).epsilon(0.04));
        ++checked;
      }
    }
  }
  CHECK(checked >= 100);
}

TEST_CASE("A peak that SMs and clock do not make is told, with what they make", "[laws]") {
  const auto note = [](const std::string& changes, const std::string& chip = "h100_sxm") {
    base::Problems problems;
    base::Node document = base::parse_document(
        "scenario", "system: {base: hgx_h100, chip: {base: " + chip + changes + "}}");
    sim::load_references(document, problems);
    problems.throw_if_any();
    return hardware::peak_note(*document.find_path("system.chip"));
  };
  CHECK(note("").empty());
  CHECK(note(", compute.sms: 160, compute.clock: 2 GHz").empty());
  const std::string told =
      note(", compute.sms: 160, compute.clock: 2 GHz, tensor.bf16: 3000 TFLOPS");
  CHECK_THAT(told, ContainsSubstring("9375 FLOP of an SM and clock"));
  CHECK_THAT(told, ContainsSubstring("NVIDIA Hopper has 4096"));
  CHECK_THAT(told, ContainsSubstring("make 1311 TFLOPS"));
  CHECK_THAT(note(", tensor.bf16: 700 TFLOPS, tensor.fp16: 700 TFLOPS"),
             ContainsSubstring("make 989"));
  // As far from them as the chip that it was, whose notes say why.
  CHECK(note("", "h100_pcie").empty());
  CHECK(note(", compute.sms: 120", "h100_pcie").empty());
  CHECK_FALSE(note(", compute.sms: 120, tensor.bf16: 2000 TFLOPS", "h100_pcie").empty());
}

TEST_CASE("A narrower format is multiplied no slower, and at most four times as fast", "[laws]") {
  for (const hardware::Chip& chip : chips()) {
    INFO(chip.id);
    for (const auto& [wide, narrow] : {std::pair{MathType::tf32, MathType::bf16},
                                       {MathType::bf16, MathType::fp8},
                                       {MathType::fp8, MathType::fp4}}) {
      if (chip.peak(wide).si() > 0.0 && chip.peak(narrow).si() > 0.0) {
        CHECK(chip.peak(narrow) >= chip.peak(wide));
        CHECK(chip.peak(narrow) <= 4.5 * chip.peak(wide));
      }
    }
    if (chip.peak(MathType::bf16).si() > 0.0 && chip.peak(MathType::fp16).si() > 0.0) {
      CHECK(chip.peak(MathType::bf16) == chip.peak(MathType::fp16));
    }
  }
}

void check_range(double value, double least, double most) {
  CHECK(value >= least);
  CHECK(value <= most);
}

// A bit taken for a byte or giga for tera falls out of these ranges for most chips.
TEST_CASE("Every figure of a chip is of the size its unit belongs to", "[laws]") {
  for (const hardware::Chip& chip : chips()) {
    INFO(chip.id);
    for (const base::FlopsPerSecond peak : chip.tensor) {
      CHECK((peak.si() == 0.0 || (peak.si() >= 5e12 && peak.si() <= 5e16)));
    }
    check_range(chip.bandwidth.si(), 250e9, 30e12);
    check_range(chip.capacity.si(), 10e9, 500e9);
    // Seconds to read the whole memory once.
    check_range(chip.capacity / chip.bandwidth / base::second, 0.008, 0.1);
    if (chip.nvlink) {
      check_range(chip.nvlink->si(), 50e9, 2e12);
    }
    if (chip.links) {
      check_range(chip.links->bandwidth.si(), 100e9, 2e12);
    }
    if (chip.pcie) {
      check_range(chip.pcie->si(), 10e9, 130e9);
    }
    if (chip.cpu_link) {
      check_range(chip.cpu_link->si(), 100e9, 1e12);
    }
    if (chip.clock_used()) {
      check_range(chip.clock_used()->si(), 1e9, 3e9);
    }
    if (chip.l2_capacity_used()) {
      check_range(chip.l2_capacity_used()->si(), 4e6, 256e6);
    }
    if (chip.tdp) {
      check_range(chip.tdp->si(), 50.0, 2500.0);
    }
  }
}

TEST_CASE("Every level of a system's fabric is slower and further than the one below", "[laws]") {
  for (const auto& p : platforms()) {
    INFO(p.system.id);
    CHECK(p.system.scale_up.bandwidth < p.system.chip.bandwidth);
    if (const auto& out = p.system.scale_out) {
      // A NIC is reached through the host port.
      const auto port = p.system.chip.pcie.value_or(out->bandwidth);
      CHECK(base::min(out->bandwidth, port) <= p.system.scale_up.bandwidth);
      CHECK(out->latency > p.system.scale_up.latency);
      check_range(out->bandwidth.si(), 5e9, 500e9);
    }
  }
}

}  // namespace
}  // namespace roofcast::laws::laws_chips
