// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "base/document/notes.hpp"
#include "hardware/chip_changes.hpp"
#include "hardware/system.hpp"
#include "models/machine.hpp"
#include "sim/result/costs.hpp"
#include "sim/scenario/knob.hpp"
#include "sim/scenario/references.hpp"
#include "sim/scenario/sections.hpp"
#include "tests/catch.hpp"

namespace roofcast::unit_sim_die {

namespace {

constexpr auto kBf16 = base::MathType::bf16;

hardware::System system_of(const std::string& text, const std::vector<std::string>& set = {}) {
  base::Problems problems;
  base::Node document = base::parse_document("test", "system: " + text);
  for (const std::string& setting : set) {
    sim::set_knob(document, {"--set", setting, {}}, problems);
  }
  sim::load_references(document, problems);
  problems.throw_if_any();
  hardware::System system = sim::read_platform(document, problems).system;
  problems.throw_if_any();
  return system;
}

double bf16_of(const std::string& text, const std::vector<std::string>& set = {}) {
  return system_of(text, set).chip.peak(kBf16).si() / 989e12;
}

}  // namespace

TEST_CASE("SMs and clock carry the rates of a die along, and nothing else", "[unit]") {
  const hardware::Chip was = system_of("hgx_h200").chip;
  const hardware::Chip now =
      system_of("hgx_h200", {"system.chip.compute.sms=264", "system.chip.compute.clock=x1.1"}).chip;
  for (std::size_t i = 0; i < base::kMathTypes; ++i) {
    CHECK(now.tensor[i].si() == Approx(2.2 * was.tensor[i].si()));
  }
  CHECK(now.measured.l2_bandwidth->si() == Approx(2.2 * was.measured.l2_bandwidth->si()));
  CHECK(now.bandwidth == was.bandwidth);
  CHECK(now.l2_capacity == was.l2_capacity);
  CHECK(now.measured.dram_latency == was.measured.dram_latency);
  CHECK(now.shared_memory_per_sm == was.shared_memory_per_sm);
  const hardware::Chip gb300 = system_of("gb300_nvl72", {"system.chip.compute.sms=x0.5"}).chip;
  CHECK(gb300.measured.exponential_rate->si() ==
        Approx(0.5 * system_of("gb300_nvl72").chip.measured.exponential_rate->si()));
}

TEST_CASE("A figure that is set holds, whatever the die does beside it", "[unit]") {
  // In one derived chip the order does not matter, and a factor multiplies what the die makes.
  CHECK(bf16_of("{base: hgx_h200, chip: {base: h200_sxm, tensor.bf16: 1978 TFLOPS, compute.sms: "
                "264}}") == Approx(2.0));
  CHECK(bf16_of("{base: hgx_h200, chip: {base: h200_sxm, tensor: {bf16: x1.5}, compute: {sms: "
                "x2}}}") == Approx(3.0));
  CHECK(bf16_of("{base: hgx_h200, chip.tensor.bf16: 1978 TFLOPS, chip.compute.sms: x3}") ==
        Approx(2.0));
  // A chip derived from a derived chip turns what that one has.
  CHECK(bf16_of("{base: hgx_h200, chip: {base: h200_sxm, tensor.bf16: 1978 TFLOPS}}",
                {"system.chip.compute.sms=x2"}) == Approx(4.0));
  CHECK(sim::is_set_before("system.chip.compute.sms", "system.chip.tensor.bf16"));
  CHECK(sim::is_set_before("system.chip", "system.chip.compute.sms"));
  CHECK_FALSE(sim::is_set_before("system.chip.tensor.bf16", "system.chip.hbm.bandwidth"));
}

TEST_CASE("A factor of exponentials multiplies the rate that a chip has, measured or not",
          "[unit]") {
  const auto rate = [](const std::string& system, const std::vector<std::string>& set = {}) {
    return models::machine_of(system_of(system, set)).exponential.si();
  };
  const std::string twice = "system.chip.measured.exponential_rate=x2";
  for (const char* system : {"hgx_h200", "gb200_nvl72", "gb300_nvl72"}) {
    INFO(system);
    CHECK(rate(system, {twice}) == Approx(2.0 * rate(system)));
    CHECK(rate(system, {twice, twice}) == Approx(4.0 * rate(system)));
    CHECK(rate(system, {twice, "system.chip.compute.sms=x0.5"}) == Approx(rate(system)));
  }
  CHECK(rate("hgx_h200", {twice, "system.chip.measured.exponential_rate=4 TFLOPS"}) ==
        Approx(4e12));
}

TEST_CASE("The title of a cluster that has another number of GPUs says how many", "[unit]") {
  const std::string name = system_of("h100_cluster_128").name;
  CHECK(system_of("h100_cluster_128").title() == name);
  CHECK(system_of("h100_cluster_128", {"system.chips=16384"}).title() == name + ", as 16384 GPUs");
  CHECK(system_of("{base: h100_cluster_128, chips: 16384}").title() == name + ", as 16384 GPUs");
  CHECK(system_of("h100_cluster_128", {"system.chips=128"}).title() == name);
  CHECK(system_of("{base: h100_cluster_128, name: mine, chips: 256}").title() == "mine");
}

TEST_CASE("A figure that was null is learned, not changed", "[unit]") {
  const double peak = system_of("vr200_nvl72").chip.peak(kBf16).si();
  const auto with = [&](const char* setting) {
    return system_of("vr200_nvl72", {setting}).chip.peak(kBf16).si() / peak;
  };
  CHECK(with("system.chip.compute.clock=2.5 GHz") == Approx(1.0));
  CHECK(with("system.chip.assumed.clock=x1.1") == Approx(1.1));
}

TEST_CASE("A factor that makes a fraction of an SM is rounded and said", "[unit]") {
  base::take_notes();
  const hardware::Chip chip = system_of("hgx_h200", {"system.chip.compute.sms=x1.15"}).chip;
  CHECK(chip.sms == 152);
  CHECK(chip.peak(kBf16).si() == Approx(989e12 * 152.0 / 132.0));
  CHECK(base::take_notes() == std::vector<std::string>{"compute.sms: 151.8 is rounded to 152"});
  CHECK_THROWS_WITH(system_of("hgx_h200", {"system.chip.compute.sms=151.8"}),
                    Catch::Matchers::ContainsSubstring("a whole number is expected"));
}

TEST_CASE("A changed chip remembers the first one, a capped one is the same", "[unit]") {
  const hardware::Chip twice =
      system_of("hgx_h200", {"system.chip.hbm.bandwidth=x1.5", "system.chip.compute.sms=x2",
                             "system.chip.power.tdp=1 kW"})
          .chip;
  REQUIRE(twice.parent.has_value());
  CHECK(twice.parent->name == "NVIDIA H200 SXM");
  CHECK(twice.parent->sms == 132);
  CHECK(twice.parent->clock->si() == Approx(1830e6));
  CHECK(twice.parent->tdp->si() == 700.0);
  CHECK(twice.parent->tensor[static_cast<std::size_t>(kBf16)].si() == 989e12);
  for (const char* same :
       {"system.chip.power.cap=300 W", "system.chip.hbm.bandwidth=x1", "system.chip.name=mine"}) {
    CHECK_FALSE(system_of("hgx_h200", {same}).chip.parent.has_value());
  }
  CHECK(system_of("hgx_h200", {"system.chip.power.cap=300 W"}).calibration.id ==
        system_of("hgx_h200").calibration.id);
}

TEST_CASE("A factor of a cap that is not stated multiplies the TDP", "[unit]") {
  const hardware::Chip chip = system_of("hgx_h200", {"system.chip.power.cap=x0.9"}).chip;
  CHECK(chip.cap->si() == Approx(0.9 * chip.tdp->si()));
  CHECK(system_of("hgx_h200", {"system.chip.power.cap=500 W", "system.chip.power.cap=x0.9"})
            .chip.cap->si() == Approx(450.0));
}

TEST_CASE("The price of a system is told to be of the chip before, until it is given", "[unit]") {
  const std::string h200 = "NVIDIA H200 SXM";
  CHECK(system_of("hgx_h200").price_of.empty());
  const std::string name = system_of("hgx_h200").name;
  CHECK(system_of("hgx_h200").title() == name);
  const hardware::System faster = system_of("hgx_h200", {"system.chip.hbm.bandwidth=x1.5"});
  CHECK(faster.price_of == h200);
  CHECK(faster.title() == name + " with a changed NVIDIA H200 SXM");
  const hardware::System swapped = system_of("{base: hgx_h200, chip: b200_sxm}");
  CHECK(swapped.price_of == "h200_sxm");
  CHECK(swapped.title() == name + " with NVIDIA B200 SXM");
  CHECK(
      system_of("hgx_h200", {"system.price.per_gpu_hour=5 USD/h", "system.chip.hbm.bandwidth=x1.5"})
          .price_of.empty());
  CHECK(system_of("{base: hgx_h200, chip.hbm.bandwidth: x1.5, price.per_gpu_hour: x2}")
            .price_of.empty());
  CHECK(system_of("hgx_h200", {"system.chip.power.cap=300 W"}).price_of.empty());
}

}  // namespace roofcast::unit_sim_die
