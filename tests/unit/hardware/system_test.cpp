// SPDX-License-Identifier: Apache-2.0
#include "hardware/system.hpp"

#include "models/machine.hpp"
#include "sim/scenario/knob.hpp"
#include "sim/scenario/references.hpp"
#include "sim/scenario/section_readers.hpp"
#include "tests/catch.hpp"
#include "tests/laws/catalog.hpp"

namespace roofcast::unit_hardware_system {

using Catch::Matchers::ContainsSubstring;

namespace {

struct Loaded {
  sim::Platform platform;
  std::string problems;
};
Loaded load(const std::string& id, const std::vector<std::string>& changes = {}) {
  base::Problems problems;
  base::Node document = base::parse_document("test", "system: " + id);
  for (const std::string& change : changes) {
    sim::set_knob(document, {"--set", change, {}}, problems);
  }
  sim::load_references(document, problems);
  Loaded loaded{sim::read_platform(document, problems), {}};
  loaded.problems = problems.text();
  return loaded;
}

}  // namespace

TEST_CASE("A chip reaches its host over the link of its module, else over PCIe", "[unit]") {
  const hardware::Chip module = load("gb200_nvl72").platform.system.chip;
  REQUIRE(module.cpu_link.has_value());
  CHECK(module.host_link() == module.cpu_link);
  CHECK(*module.host_link() > *module.pcie);
  const hardware::Chip card = load("hgx_h200").platform.system.chip;
  CHECK(card.host_link() == card.pcie);
}

TEST_CASE("Every catalogued system is complete and coherent", "[unit]") {
  for (const auto& p : laws::platforms()) {
    INFO(p.system.id);
    const auto& s = p.system;
    CHECK(s.chips >= s.scale_up_domain);
    CHECK((s.chips == s.scale_up_domain || s.scale_out.has_value()));
    CHECK(s.chip.usable_capacity() <= s.chip.capacity);
    CHECK(p.machine.supports(p.machine.attention_math(base::NumberFormat::bf16)));
    CHECK(s.oversubscription >= 1.0);
    CHECK(s.scale_up.mesh_peers <= static_cast<double>(s.scale_up_domain - 1));
    CHECK(s.chip.peak(base::MathType::fp8) >= base::FlopsPerSecond{});
    // A switch adds only where ranks have ports into it.
    CHECK((!s.scale_up.in_network_reduction || s.scale_up.peer_access));
    if (s.price) {
      CHECK(s.price->per_gpu.si() > 0.0);
    }
  }
}

TEST_CASE("No rate of a machine exceeds the datasheet's", "[unit]") {
  for (const auto& p : laws::platforms()) {
    INFO(p.system.id);
    for (std::size_t i = 0; i < p.machine.peak.size(); ++i) {
      CHECK(p.machine.tensor[i] <= p.system.chip.tensor[i]);
    }
    CHECK(p.machine.dram <= p.system.chip.bandwidth);
    CHECK(p.machine.scale_up.bandwidth <= p.system.scale_up.bandwidth);
    CHECK(p.machine.l2.si() > 0.0);
    CHECK(p.machine.exponential.si() > 0.0);
    CHECK(p.machine.dram_latency.si() > 0.0);
  }
}

TEST_CASE("A kernel's L2 is at least as fast as its memory", "[unit]") {
  for (const auto& p : laws::platforms()) {
    INFO(p.system.id);
    CHECK(p.machine.l2 >= p.machine.dram);
  }
}

// NVLink 4: 900 GB/s both ways. H100: 7.99 TB/s measured from the L2, 351 ns to the memory,
// 16 exponentials a clock on 132 SMs at 1830 MHz.
TEST_CASE("A machine is the datasheet times the calibration's efficiencies", "[unit]") {
  const auto& p = laws::platform("hgx_h100");
  const auto& c = p.system.calibration;
  CHECK(p.system.scale_up.bandwidth.si() == 450e9);
  CHECK(p.machine.scale_up.bandwidth.si() == Approx(450e9 * c.link_efficiency));
  CHECK(p.machine.dram.si() == Approx(3.35e12 * c.dram_efficiency));
  CHECK(p.machine.l2.si() == Approx(7.99e12 * c.l2_efficiency));
  CHECK(p.machine.dram_latency.si() == Approx(351e-9));
  CHECK(p.machine.exponential.si() == Approx(132.0 * 1830e6 * c.exponentials_per_sm_clock));
  CHECK(p.machine.tensor_rate(base::MathType::bf16).si() ==
        Approx(989e12 * c.tensor_efficiency[static_cast<std::size_t>(base::MathType::bf16)]));
  CHECK(p.machine.supports(base::MathType::fp8));
  CHECK_FALSE(p.machine.supports(base::MathType::fp4));
}

TEST_CASE("Bytes in flight over latency cap the memory rate of few processors", "[unit]") {
  models::Machine m;
  m.sms = 100;
  m.dram = base::BytesPerSecond::from_si(1e12);
  m.dram_latency = 500.0 * base::nanosecond;
  m.calibration.in_flight_bytes_per_sm = 40000.0;
  CHECK(m.dram_rate(1.0).si() == Approx(8e10));
  CHECK(m.dram_rate(12.5).si() == Approx(1e12));
  CHECK(m.dram_rate(1000.0).si() == Approx(1e12));
}

TEST_CASE("A system that contradicts itself is refused", "[unit]") {
  CHECK(load("hgx_h100").problems.empty());
  CHECK_THAT(load("hgx_h100", {"system.scale_up.domain=16"}).problems,
             ContainsSubstring("larger than the system's "));
  CHECK_THAT(load("l40s_pcie_x8", {"system.scale_up.link=nvlink"}).problems,
             ContainsSubstring("no NVLink port"));
  CHECK_THAT(load("hgx_h100", {"system.scale_out=null", "system.chips=16"}).problems,
             ContainsSubstring("more chips than one scale-up domain"));
  CHECK_THAT(load("hgx_h100", {"system.chip.hbm.bandwidth=-1 TB/s"}).problems,
             ContainsSubstring("hbm.bandwidth"));
}

TEST_CASE("A rack's limit caps each GPU at its share of what the hosts leave", "[unit]") {
  const auto cap = [](const std::vector<std::string>& changes) {
    return load("hgx_h100", changes).platform.system.chip.cap_used()->si();
  };
  const double host = load("hgx_h100").platform.system.host_power->si();
  CHECK(cap({"system.rack_power=16 kW", "system.hosts_per_rack=2"}) == Approx(1000.0 - host));
  CHECK(cap({"system.rack_power=24 kW"}) == Approx(750.0 - host));  // of four hosts
  CHECK(cap({"system.rack_power=1 MW"}) == Approx(700.0));
  CHECK(cap({"system.rack_power=24 kW", "system.chip.power.cap=150 W"}) == Approx(150.0));
  CHECK(cap({"system.rack_power=1 kW"}) == Approx(1e-3));  // no scenario runs
  const auto of_domain = load(
      "gb200_nvl72", {"system.scale_up.domain=36", "system.chips=36", "system.rack_power=50 kW"});
  CHECK(of_domain.platform.system.chip.cap_used()->si() ==
        Approx(50e3 / 36.0 - of_domain.platform.system.host_power->si()));
  CHECK_THAT(load("hgx_h100", {"system.rack_power=40 kW", "system.host_power=null"}).problems,
             ContainsSubstring("needs host_power.per_gpu"));
}

TEST_CASE("A figure the datasheet leaves out stops a system, not its chip", "[unit]") {
  const auto problems = [](const std::string& key) {
    return load("hgx_h100", {"system.chip." + key + "=null"}).problems;
  };
  for (const std::string key : {"compute.sms", "compute.clock", "l2.capacity"}) {
    CHECK_THAT(problems(key), ContainsSubstring("system.chip." + key + ": is not known"));
    CHECK_THAT(problems(key), ContainsSubstring("{base: h100_sxm, " + key + ": ...}"));
  }
  CHECK(problems("tensor.bf16").empty());  // fp16 is enough
  CHECK(problems("pcie.bandwidth_per_direction").empty());
  CHECK(problems("vector.fp32").empty());
  CHECK_THAT(
      load("hgx_h100", {"system.chip.tensor.bf16=null", "system.chip.tensor.fp16=null"}).problems,
      ContainsSubstring("system.chip.tensor.bf16: is not known"));
  // Rates measured in its stead do not replace the clock, which kernels count their ends in.
  CHECK_THAT(load("hgx_h100", {"system.chip.compute.clock=null",
                               "system.chip.measured.exponential_rate=4 TFLOPS"})
                 .problems,
             ContainsSubstring("system.chip.compute.clock: is not known"));
  CHECK_THAT(load("hgx_h100", {"system.chip=tpu_v5e"}).problems,
             ContainsSubstring("{base: tpu_v5e, compute.sms: ...}"));
}

TEST_CASE("An assumption is used only where the datasheet is silent, and named", "[unit]") {
  const auto announced = load("vr200_nvl72").platform;
  CHECK(announced.system.provenance() == hardware::Provenance::assumed);
  CHECK_FALSE(announced.system.chip.clock.has_value());
  CHECK(announced.system.chip.clock_used()->si() == 2267e6);
  const auto published =
      load("vr200_nvl72", {"system.chip.compute.clock=2.5 GHz", "system.chip.l2.capacity=200 MiB"})
          .platform;
  CHECK(published.system.provenance() == hardware::Provenance::transferred);
  CHECK(published.machine.l2.si() == Approx(announced.machine.l2.si() * 2500.0 / 2267.0));
  CHECK(published.machine.l2_capacity.si() == 200.0 * 1024 * 1024);
}

TEST_CASE("More than two chips behind one host share what passes through it", "[unit]") {
  const auto& level = load("l40s_pcie_x8").platform.system.scale_up;
  CHECK(level.among(2).bandwidth == level.bandwidth);
  CHECK(level.among(4).bandwidth.si() == Approx(19e9 / 4));
  CHECK(level.among(8).bandwidth.si() == Approx(19e9 / 8));
  CHECK_THAT(load("hgx_h100", {"system.scale_up.shared_bandwidth=19 GB/s"}).problems,
             ContainsSubstring("link: pcie only"));
}

// MI300X: seven links of 64 GB/s.
TEST_CASE("A group in a full mesh has the links to its members", "[unit]") {
  const auto& level = load("mi300x_x8").platform.system.scale_up;
  CHECK(level.bandwidth.si() == 448e9);
  CHECK(level.among(8).bandwidth.si() == Approx(448e9));
  CHECK(level.among(4).bandwidth.si() == Approx(3 * 64e9));
  CHECK(level.among(2).bandwidth.si() == Approx(64e9));
  // Four chips of seven links have two to each other and one that stays free.
  const auto four = load("mi300x_x8", {"system.scale_up.domain=4", "system.chips=4"}).platform;
  CHECK(four.system.scale_up.bandwidth.si() == Approx(6 * 64e9));
  CHECK(four.system.scale_up.among(2).bandwidth.si() == Approx(2 * 64e9));
  // A switch gives any peer the whole port.
  const auto& port = load("hgx_h100").platform.system.scale_up;
  CHECK(port.among(2).bandwidth == port.bandwidth);
}

// 400 Gb/s of NIC = 50 GB/s, a spine of a quarter.
TEST_CASE("An oversubscribed spine divides what crosses it", "[unit]") {
  const double nic = laws::platform("h100_cluster_128").machine.scale_out.bandwidth.si();
  const auto& blocking = laws::platform("h100_cluster_128_blocking").machine.scale_out;
  CHECK(blocking.bandwidth.si() == Approx(nic / 4.0));
  CHECK(blocking.off_rail == 1.0);
  const auto& rail = laws::platform("h100_cluster_128_rail").machine.scale_out;
  CHECK(rail.bandwidth.si() == Approx(nic));
  CHECK(rail.off_rail == 0.25);
}

TEST_CASE("A knob of the chip reaches the machine", "[unit]") {
  const auto twice = load("hgx_h100", {"system.chip.hbm.bandwidth=x2"});
  CHECK(twice.problems.empty());
  CHECK(twice.platform.system.chip.bandwidth.si() == 6.7e12);
  CHECK(twice.platform.machine.dram.si() ==
        Approx(2.0 * laws::platform("hgx_h100").machine.dram.si()));
}

}  // namespace roofcast::unit_hardware_system
