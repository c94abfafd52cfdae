// SPDX-License-Identifier: Apache-2.0
#include "hardware/die.hpp"

#include "hardware/chip.hpp"
#include "sim/scenario/knob.hpp"
#include "sim/scenario/references.hpp"
#include "sim/scenario/section_readers.hpp"
#include "tests/catch.hpp"

namespace roofcast::unit_hardware_die {
namespace {

using base::MathType;
using Catch::Matchers::ContainsSubstring;

std::string text(const std::string& architecture, const std::string& die) {
  return "name: A die\nvendor: nobody\narchitecture: " + architecture + "\ndie: {" + die +
         ", source: this test}\n"
         "hbm: {type: HBM3e, capacity: 144 GB, bandwidth: 4.8 TB/s, source: this test}\n"
         "l2: {capacity: 60 MiB, source: this test}\npower: {tdp: 800 W, source: this test}\n";
}

hardware::Chip read(const base::Node& document) {
  base::Problems problems;
  base::Fields fields(document, "", problems);
  hardware::Chip chip;
  hardware::read(fields, chip);
  fields.end();
  problems.throw_if_any();
  return chip;
}

hardware::Chip chip(const std::string& architecture, const std::string& die) {
  const base::Node document = base::parse_document("die.yaml", text(architecture, die));
  REQUIRE(hardware::is_die(document));
  return read(hardware::from_die(document));
}

std::string refusal(const std::string& architecture, const std::string& die) {
  try {
    chip(architecture, die);
  } catch (const base::InputError& error) {
    return error.what();
  }
  return {};
}

}  // namespace

TEST_CASE("Peaks of a die are its SMs times its clock times what an SM does in a clock", "[unit]") {
  const hardware::Chip c = chip("hopper", "sms: 100, clock: 2 GHz");
  CHECK(c.peak(MathType::bf16).si() == Approx(100 * 2e9 * 4096));
  CHECK(c.peak(MathType::fp16) == c.peak(MathType::bf16));
  CHECK(c.peak(MathType::fp8).si() == Approx(2.0 * 100 * 2e9 * 4096));
  CHECK(c.peak(MathType::fp4).si() == 0.0);
  CHECK(c.peak(MathType::fp32).si() == Approx(100 * 2e9 * 256));
  CHECK(*c.sms == 100);
  CHECK_FALSE(c.measured.exponential_rate);
  CHECK_FALSE(c.measured.l2_bandwidth);
  CHECK_FALSE(c.shared_memory_per_sm);
}

TEST_CASE("Rates of a die that are stated hold in place of its architecture's", "[unit]") {
  const hardware::Chip c =
      chip("hopper",
           "sms: 100, clock: 2 GHz, flop_per_sm_clock: 8192, vector_flop_per_sm_clock: 512, "
           "exponentials_per_sm_clock: 32, l2_bytes_per_sm_clock: 64, shared_memory: 320 KiB, "
           "registers: 512 KiB, tensor_instruction: wgmma");
  CHECK(c.peak(MathType::bf16).si() == Approx(100 * 2e9 * 8192));
  CHECK(c.peak(MathType::fp8).si() == Approx(100 * 2e9 * 16384));
  CHECK(c.peak(MathType::fp32).si() == Approx(100 * 2e9 * 512));
  CHECK(c.measured.exponential_rate->si() == Approx(100 * 2e9 * 32));
  CHECK(c.measured.l2_bandwidth->si() == Approx(100 * 2e9 * 64));
  CHECK(c.shared_memory_per_sm->si() == 320.0 * 1024.0);
  CHECK(c.registers_per_sm->si() == 512.0 * 1024.0);
  CHECK(c.tensor_instruction == "wgmma");
}

TEST_CASE("A die of Hopper with the SMs and clock of an H100 has the peaks of its datasheet",
          "[unit]") {
  const hardware::Chip c = chip("hopper", "sms: 132, clock: 1830 MHz");
  CHECK(c.peak(MathType::bf16).si() == Approx(989e12).epsilon(1e-3));
  CHECK(c.peak(MathType::fp8).si() == Approx(1979e12).epsilon(1e-3));
  CHECK(c.peak(MathType::tf32).si() == Approx(494.5e12).epsilon(1e-3));
}

TEST_CASE("Formats of a die are those of its kind of the architecture", "[unit]") {
  const auto ratio = [](const char* architecture, const char* width, MathType type) {
    const hardware::Chip c =
        chip(architecture, std::string("sms: 100, clock: 2 GHz, flop_per_sm_clock: ") + width);
    return c.peak(type) / c.peak(MathType::bf16);
  };
  // GeForce parts add up FP32 at half rate, integers do not.
  CHECK(ratio("ada", "1024", MathType::int8) == Approx(2.0));
  CHECK(ratio("ada", "512", MathType::int8) == Approx(4.0));
  CHECK(ratio("blackwell", "8192", MathType::fp4) == Approx(4.0));
  CHECK(ratio("blackwell", "512", MathType::fp4) == Approx(8.0));
}

TEST_CASE("The source of a figure that follows from a die says whose each factor is", "[unit]") {
  const auto source = [](const std::string& die, const char* group) {
    const base::Node whole =
        hardware::from_die(base::parse_document("die.yaml", text("hopper", die)));
    return whole.find(group)->find("source")->text;
  };
  CHECK_THAT(
      source("sms: 100, clock: 2 GHz", "tensor"),
      ContainsSubstring("4096 FLOP of one in a clock: hardware/architectures, NVIDIA Hopper"));
  CHECK_THAT(
      source("sms: 100, clock: 2 GHz, flop_per_sm_clock: 5000", "tensor"),
      ContainsSubstring("5000 FLOP of one in a clock: this test; other formats by the ratios "
                        "of NVIDIA Hopper"));
  CHECK_THAT(source("sms: 100, clock: 2 GHz", "vector"),
             ContainsSubstring("256 FLOP of one in a clock: hardware/architectures"));
}

TEST_CASE("What a die lacks is told, with what its architecture has", "[unit]") {
  CHECK_THAT(refusal("ampere", "sms: 100, clock: 2 GHz"),
             ContainsSubstring("die.flop_per_sm_clock: is needed: dies of NVIDIA Ampere have 2048, "
                               "1024"));
  CHECK_THAT(refusal("tpu", "sms: 100, clock: 2 GHz"),
             ContainsSubstring("that of the architecture is not known"));
  CHECK_THAT(refusal("hoper", "sms: 100, clock: 2 GHz"),
             ContainsSubstring("architecture: no architecture is called \"hoper\"; did you mean "
                               "\"hopper\"?"));
  CHECK_THAT(refusal("hopper", "sms: 100"), ContainsSubstring("die.clock"));
  CHECK_THAT(refusal("hopper", "sms: 100, clock: 2 GHz, cores: 5"),
             ContainsSubstring("unknown key \"cores\""));
  const hardware::Chip alone = chip("tpu", "sms: 10, clock: 1 GHz, flop_per_sm_clock: 100");
  CHECK(alone.peak(MathType::bf16).si() == Approx(10 * 1e9 * 100));
  CHECK(alone.peak(MathType::fp32).si() == 0.0);
}

TEST_CASE("The knobs of a chip from a die are those of any chip", "[unit]") {
  base::Problems problems;
  base::Node document = base::parse_document(
      "scenario",
      "system:\n  name: one\n  chips: 1\n  scale_up: {link: pcie, domain: 1, "
      "in_network_reduction: false, source: none}\n  latency: {scale_up: 1 us, source: none}\n"
      "  chip:\n    pcie: {generation: 5, bandwidth_per_direction: 63 GB/s, source: none}\n"
      "    name: A die\n    vendor: nobody\n    architecture: hopper\n"
      "    die: {sms: 100, clock: 2 GHz, source: none}\n"
      "    hbm: {type: HBM, capacity: 144 GB, bandwidth: 4.8 TB/s, source: none}\n"
      "    l2: {capacity: 60 MiB, source: none}\n    power: {tdp: 800 W, source: none}\n");
  sim::load_references(document, problems);
  sim::set_knob(document, {"--set", "system.chip.compute.sms=x2", {}}, problems);
  sim::set_knob(document, {"--set", "system.chip.tensor.fp8=x1.5", {}}, problems);
  problems.throw_if_any();
  // A key of the die names the knob that it was read into.
  base::Problems told;
  base::Node other = document;
  sim::set_knob(other, {"--set", "system.chip.die.shared_memory=x2", {}}, told);
  sim::set_knob(other, {"--set", "system.chip.die.sms=100", {}}, told);
  CHECK_THAT(told.text(), ContainsSubstring("set system.chip.shared_memory.per_sm"));
  CHECK_THAT(told.text(), ContainsSubstring("set system.chip.compute.sms"));
  const sim::Platform p = sim::read_platform(document, problems);
  problems.throw_if_any();
  CHECK(p.system.chip.peak(MathType::bf16).si() == Approx(200 * 2e9 * 4096));
  CHECK(p.system.chip.peak(MathType::fp8).si() == Approx(3.0 * 200 * 2e9 * 4096));
}

}  // namespace roofcast::unit_hardware_die
