// SPDX-License-Identifier: Apache-2.0
#include "hardware/nearest_calibration.hpp"

#include <cmath>
#include <map>

#include "base/csv/csv.hpp"
#include "hardware/chip.hpp"
#include "sim/scenario/knob.hpp"
#include "sim/scenario/references.hpp"
#include "sim/scenario/section_readers.hpp"
#include "tests/catch.hpp"

namespace roofcast::unit_hardware_nearest_calibration {

namespace {

base::Node nearest(const std::string& chip, const std::string& stack,
                   hardware::Unmeasured unmeasured = hardware::Unmeasured::nothing) {
  return hardware::nearest_calibration(base::load_entry(hardware::chip_catalog(), chip), stack,
                                       unmeasured);
}
std::string base_of(const base::Node& node) {
  const base::Node* base = node.find("base");
  return base == nullptr ? "" : base->text;
}

hardware::Calibration calibration_of(const std::vector<std::string>& settings) {
  base::Node document =
      base::parse_document("test.yaml", "system: hgx_h200\nserving: {stack: vllm}\n");
  base::Problems problems;
  for (const std::string& setting : settings) {
    sim::set_knob(document, {"--set", setting, {}}, problems);
  }
  sim::load_references(document, problems);
  const sim::Platform platform = sim::read_platform(document, problems);
  problems.throw_if_any();
  return platform.system.calibration;
}

}  // namespace

TEST_CASE("A measured chip takes its own calibration under its own stack", "[unit]") {
  CHECK(nearest("h200_sxm", "vllm").text == "h200_sxm.vllm");
  CHECK(nearest("b200_sxm", "trtllm").text == "b200_sxm.trtllm");
}

TEST_CASE("A chip that is written out is the one of the catalog that has its name", "[unit]") {
  for (const char* id : {"h100_sxm", "b300_sxm"}) {
    base::Node chip = base::load_entry(hardware::chip_catalog(), id);
    CHECK(hardware::known_chip(chip) == id);
    chip.reference.clear();
    CHECK(hardware::known_chip(chip) == id);
    chip["hbm"]["bandwidth"] = base::scalar_node("7 TB/s", chip.place);
    base::Node named = chip;
    named.reference = id;
    CHECK(base::to_yaml(hardware::nearest_calibration(chip, "trtllm")) ==
          base::to_yaml(hardware::nearest_calibration(named, "trtllm")));
    chip["name"] = base::scalar_node("mine", chip.place);
    std::erase_if(chip.entries, [](const base::Entry& entry) { return entry.key == "known_as"; });
    CHECK(hardware::known_chip(chip).empty());
    chip["parent"] = base::parse_document("parent", "name: " + named.find("name")->text);
    CHECK(hardware::known_chip(chip) == id);
  }
}

TEST_CASE("Under a stack nobody measured a chip takes its own parameters as transferred",
          "[unit]") {
  const base::Node node = nearest("h200_sxm", "sglang");
  CHECK(base_of(node) == "h200_sxm.vllm");
  CHECK(node.find("provenance")->text == "transferred");
  CHECK(node.find("corrections_share")->text == "1");  // they stay
}

TEST_CASE("A chip nobody measured takes the parameters of its nearest relative", "[unit]") {
  CHECK(base_of(nearest("h800_sxm", "vllm")) == "h100_sxm.vllm");
  CHECK(base_of(nearest("gb300", "trtllm")) == "gb200.trtllm");
  CHECK(base_of(nearest("l4", "vllm")) == "l40s.vllm");
  CHECK(base_of(nearest("rubin_r200", "vllm")).starts_with("gb200"));
}

TEST_CASE("The further a chip is, the less of the corrections it takes", "[unit]") {
  const auto share_of = [](const base::Node& node) {
    return base::parse_number(node.find("corrections_share")->text).value();
  };
  const auto share = [&](const char* chip) {
    const base::Node node = nearest(chip, "vllm");
    double all = share_of(node);
    for (const base::Node& relative : node.find("relatives")->items) {
      CHECK(share_of(relative) < share_of(node));
      all += share_of(relative);
    }
    return all;
  };
  CHECK(base_of(nearest("a10", "vllm")) == "l40s.vllm");
  CHECK(share("gh200_141gb") > 0.9);
  CHECK(share("gh200_141gb") > share("a10"));
  CHECK(share("a10") > share("t4"));
  CHECK(share("t4") > 0.0);
}

TEST_CASE("A chip stated in full has the joules of its architecture, whatever its TDP is",
          "[unit]") {
  const auto bf16 = static_cast<std::size_t>(base::MathType::bf16);
  const auto power_of = [](const std::string& name, const std::string& tdp) {
    base::Node chip = base::load_entry(hardware::chip_catalog(), "h100_sxm");
    chip.reference.clear();
    chip["name"] = base::scalar_node(name, chip.place);
    std::erase_if(chip.entries, [](const base::Entry& entry) { return entry.key == "known_as"; });
    chip["power"]["tdp"] = base::scalar_node(tdp, chip.place);
    base::Node document =
        base::parse_document("test.yaml", "system: {base: hgx_h100}\nserving: {stack: vllm}\n");
    document["system"]["chip"] = chip;
    base::Problems problems;
    sim::load_references(document, problems);
    const sim::Platform platform = sim::read_platform(document, problems);
    problems.throw_if_any();
    return platform.machine.power;
  };
  const models::PowerRates own = power_of("NVIDIA H100 SXM", "700 W");
  const models::PowerRates whole = power_of("Mine", "700 W");
  const models::PowerRates half = power_of("Mine", "350 W");
  CHECK(whole.flop[bf16].si() == Approx(own.flop[bf16].si()).epsilon(0.01));
  CHECK(whole.active.si() == Approx(own.active.si()).epsilon(0.01));
  CHECK(half.flop[bf16].si() == Approx(whole.flop[bf16].si()).epsilon(0.02));
  CHECK(half.active.si() == Approx(whole.active.si()).epsilon(0.02));
  CHECK(half.limit.si() == Approx(0.5 * whole.limit.si()));
}

TEST_CASE("Judged as if it had never been measured, a chip takes another's parameters", "[unit]") {
  using enum hardware::Unmeasured;
  CHECK(base_of(nearest("h200_sxm", "vllm", chip)) == "h100_sxm.vllm");
  CHECK(base_of(nearest("gb200", "trtllm", chip)) == "b200_sxm.trtllm");
  CHECK(base_of(nearest("b200_sxm", "vllm", architecture)) == "h200_sxm.vllm");
  CHECK(base_of(nearest("l40s", "vllm", architecture)).find("l40s") == std::string::npos);
}

TEST_CASE("Nothing of an architecture that counts as unmeasured is used", "[unit]") {
  const auto spread = [](hardware::Unmeasured unmeasured, std::string_view also) {
    const base::Node chip = base::load_entry(hardware::chip_catalog(), "b200_sxm");
    return hardware::transferred_errors(chip, "vllm", unmeasured, also).front().variance;
  };
  using enum hardware::Unmeasured;
  CHECK(spread(chip, "") < 0.2);  // GB200 is its twin
  CHECK(spread(architecture, "") > 2.0 * spread(chip, ""));
  CHECK(spread(architecture, "") == Approx(spread(chip, "blackwell")));
  CHECK(spread(architecture, "hopper") > spread(architecture, ""));
  const base::Node own = base::load_entry(hardware::chip_catalog(), "b200_sxm");
  CHECK(hardware::transferred_errors(own, "vllm", nothing).empty());
}

TEST_CASE(
    "An interval is no narrower where an architecture counts as unmeasured, and the same where "
    "nothing was measured",
    "[unit]") {
  using enum hardware::Unmeasured;
  const auto width = [](const std::string& chip, hardware::Unmeasured unmeasured) {
    std::map<std::string, double> widths;
    const base::Node found = nearest(chip, "vllm", unmeasured);
    for (const base::Node& e : found.find("errors")->items) {
      widths[e.find("kind")->text] = std::log(*base::parse_number(e.find("high")->text) /
                                              *base::parse_number(e.find("low")->text));
    }
    return widths;
  };
  // Nothing was measured of these that could be left out.
  CHECK(width("rubin_r200", architecture) == width("rubin_r200", nothing));
  for (const char* id : {"rubin_r200", "b300_sxm", "gb300", "gh200_141gb", "a40"}) {
    INFO(id);
    CHECK(width(id, chip) == width(id, nothing));
  }
  // Without Blackwell, the spread between architectures is that of the others.
  for (const char* id : {"b300_sxm", "gb300"}) {
    const auto known = width(id, nothing);
    const auto unknown = width(id, architecture);
    for (const char* kind : {"gemm", "attention_context", "attention_generation", "moe", "nccl"}) {
      INFO(id << " " << kind);
      CHECK(unknown.at(kind) > known.at(kind));
    }
  }
}

// launch.eager of the A100's, B200's and H200's hosts is 45, 21 and 21 us.
TEST_CASE("What a host takes is taken from like hosts, and its error is that of the next host",
          "[unit]") {
  const base::Node node = nearest("h200_sxm", "vllm", hardware::Unmeasured::architecture);
  const base::Node* errors = node.find("errors");
  REQUIRE(errors != nullptr);
  const base::Node& last = errors->items.back();
  CHECK(last.find("kind")->text == hardware::kHostLaunches);
  CHECK(*base::parse_number(last.find("low")->text) < 0.7);
  CHECK(*base::parse_number(last.find("high")->text) > 1.4);
  const auto eager = [](const std::string& chip) {
    const base::Node found = nearest(chip, "vllm", hardware::Unmeasured::architecture);
    const base::Node* factor = found.find("launch.eager");
    return factor == nullptr ? 1.0 : *base::parse_number(factor->text.substr(1));
  };
  CHECK(eager("b200_sxm") < 0.95 * eager("gb200"));  // both as factors of the H200's
}

TEST_CASE("A chip without any measured relative left takes the generic parameters", "[unit]") {
  CHECK(nearest("mi355x", "vllm", hardware::Unmeasured::architecture).text == "generic");
}

TEST_CASE("Chips of a vendor nobody measured take the generic parameters", "[unit]") {
  CHECK(nearest("mi300x", "vllm").text == "generic");
  CHECK(nearest("tpu_v5e", "vllm").text == "generic");
}

TEST_CASE("A system takes the calibration of its chip and stack, unless it names one", "[unit]") {
  CHECK(calibration_of({}).id == "h200_sxm.vllm");
  CHECK(calibration_of({}).provenance == hardware::Provenance::measured_corrected);
  CHECK(calibration_of({"serving.stack=trtllm"}).id == "h200_sxm.trtllm");
  CHECK(calibration_of({"system.calibration=generic"}).id == "generic");
}

TEST_CASE("A changed chip keeps its parent's parameters, transferred", "[unit]") {
  const hardware::Calibration changed = calibration_of({"system.chip.hbm.bandwidth=x2"});
  CHECK(changed.id == "h200_sxm.vllm");
  CHECK(changed.provenance == hardware::Provenance::transferred);
}

TEST_CASE("A system may be forecast as if its chip or architecture had never been measured",
          "[unit]") {
  CHECK(calibration_of({"system.as_if_unmeasured=chip"}).id == "h100_sxm.vllm");
  const hardware::Calibration unknown = calibration_of({"system.as_if_unmeasured=architecture"});
  CHECK(unknown.id.find("h100") == std::string::npos);
  CHECK(unknown.id.find("h200") == std::string::npos);
  CHECK(unknown.distance_share > 0.5);
  CHECK(unknown.distance.find("generation") != std::string::npos);
}

TEST_CASE("A knob of the calibration turns the one that the system takes", "[unit]") {
  const double before = calibration_of({}).decode_fill_clocks;
  const hardware::Calibration overridden =
      calibration_of({"system.calibration.attention.decode_fill_clocks=x2"});
  CHECK(overridden.id == "h200_sxm.vllm");
  CHECK(overridden.decode_fill_clocks == Approx(2.0 * before));
}

}  // namespace roofcast::unit_hardware_nearest_calibration
