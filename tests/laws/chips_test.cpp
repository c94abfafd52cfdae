// SPDX-License-Identifier: Apache-2.0
//
// Datasheets agree with themselves and with physics: peaks with units and clocks, formats with each
// other, and every figure with the range its unit belongs to.
#include <cmath>
#include <map>
#include <set>

#include "hardware/chip_distance.hpp"
#include "tests/catch.hpp"
#include "tests/laws/catalog.hpp"

namespace roofcast::laws::laws_chips {
namespace {

using base::MathType;

// Dense 16-bit FLOP of one SM or compute unit and clock, with FP32 accumulation (white papers of the
// architectures; GeForce parts run it at half rate). `exact`: the chip's clock is the one its peak is
// quoted at; others are quoted at a lower clock, or cut for export.
struct Width {
  double flop;
  bool exact;
};
const std::map<std::string, Width, std::less<>> kWidths = {{"v100_sxm_32gb", {1024, true}},
                                                           {"t4", {1024, true}},
                                                           {"a100_sxm", {2048, true}},
                                                           {"a100_sxm_40gb", {2048, true}},
                                                           {"a100_pcie_80gb", {2048, true}},
                                                           {"a10", {1024, true}},
                                                           {"a40", {1024, true}},
                                                           {"l4", {1024, true}},
                                                           {"l40s", {1024, true}},
                                                           {"rtx_4090", {512, true}},
                                                           {"rtx_5090", {512, true}},
                                                           {"rtx_pro_6000_server", {1024, true}},
                                                           {"h100_sxm", {4096, true}},
                                                           {"h200_sxm", {4096, true}},
                                                           {"gh200_96gb", {4096, true}},
                                                           {"gh200_141gb", {4096, true}},
                                                           {"h100_pcie", {4096, false}},
                                                           {"h100_nvl", {4096, false}},
                                                           {"h800_sxm", {4096, false}},
                                                           {"h20", {4096, false}},
                                                           {"b200_sxm", {8192, false}},
                                                           {"b300_sxm", {8192, false}},
                                                           {"gb200", {8192, false}},
                                                           {"gb300", {8192, false}},
                                                           {"rubin_r200", {8192, false}},
                                                           {"mi250x", {1024, true}},
                                                           {"mi300x", {2048, true}},
                                                           {"mi325x", {2048, true}},
                                                           {"mi355x", {4096, true}},
                                                           {"mi455x", {4096, true}}};

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

TEST_CASE("A dense 16-bit peak is units times width times clock, within 2 %", "[laws]") {
  std::size_t checked = 0;
  for (const hardware::Chip& chip : chips()) {
    if (!kWidths.contains(chip.id)) {
      continue;
    }
    INFO(chip.id);
    REQUIRE((chip.sms_used() && chip.clock_used()));
    const Width& width = kWidths.find(chip.id)->second;
    const double peak = base::max(chip.peak(MathType::bf16), chip.peak(MathType::fp16)).si();
    const double built =
        static_cast<double>(*chip.sms_used()) * width.flop * chip.clock_used()->si();
    CHECK(peak / built <= 1.02);
    if (width.exact) {
      CHECK(peak / built >= 0.98);
    }
    ++checked;
  }
  CHECK(checked == kWidths.size());
}

// The file says which clock the peak belongs to, or what was cut.
TEST_CASE("A peak that is not units times width times clock is explained", "[laws]") {
  for (const auto& [id, width] : kWidths) {
    if (width.exact) {
      continue;
    }
    INFO(id);
    const base::Node chip = base::load_entry(hardware::chip_catalog(), id);
    std::string words;
    if (const base::Node* notes = chip.find("notes")) {
      for (const base::Node& note : notes->items) {
        words += note.text;
      }
    }
    if (const base::Node* reason = chip.find_path("assumed.source")) {
      words += reason->text;
    }
    CHECK((words.find("MHz") != std::string::npos && words.find("peaks") != std::string::npos));
  }
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
