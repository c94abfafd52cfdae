// SPDX-License-Identifier: Apache-2.0
#include "models/machine.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>

namespace roofcast::models {

namespace {

template <class T, class U>
double ratio(const std::optional<T>& figure, const std::optional<U>& of) {
  return figure && of ? static_cast<double>(*figure) / static_cast<double>(*of) : 1.0;
}

// The chip whose energies a chip has: that of its calibration, unless its own FLOP are known; else the one that it was. One
// without a TDP has none to leave to what is changed from it.
//
//   sms, clock  –  of the chip, to its
struct EnergyChip {
  double sms = 1.0;
  double clock = 1.0;
  base::Watts tdp;
  std::array<base::FlopsPerSecond, base::kMathTypes> tensor{};
};
EnergyChip energies_of(const hardware::Chip& chip, const hardware::Calibration& c) {
  const auto clock = [&](const base::Hertz& of) {
    return chip.clock_used() ? *chip.clock_used() / of : 1.0;
  };
  if (c.energies_of && !chip.flop_share()) {
    const hardware::EnergySource& from = *c.energies_of;
    return {ratio(chip.sms_used(), std::optional(from.sms)), clock(from.clock), from.tdp,
            from.tensor};
  }
  if (chip.parent && chip.parent->tdp) {
    return {ratio(chip.sms_used(), chip.parent->sms),
            chip.parent->clock ? clock(*chip.parent->clock) : 1.0, *chip.parent->tdp,
            chip.parent->tensor};
  }
  return {1.0, 1.0, *chip.tdp, chip.tensor};
}

// Share of idle power that SMs leak; the rest is of memory and links. Assumed: no figure of the parts was found.
constexpr double kLeaking = 0.5;

// With the symbols of models/power.hpp. A chip whose own bf16 share is known scales the shares of all types by `own`.
//
//   sms, clock       –       s and k, to the parent's
//   held             –       max(k, f)
//   voltage          –       v(k)
//   peak             FLOP/s  the parent's; of a type that it lacks, the chip's own as if it had the parent's die
PowerRates power_of(const hardware::Chip& chip, const hardware::Calibration& c) {
  PowerRates power;
  if (!chip.tdp) {
    return power;
  }
  const EnergyChip of = energies_of(chip, c);
  const double sms = of.sms;
  const double clock = of.clock;
  const double floor = chip.measured.voltage_floor.value_or(c.voltage_floor);
  const double held = std::max(clock, floor);
  const double voltage = std::pow(held, chip.measured.voltage_exponent);
  power.limit = c.limit_share * base::min(*chip.cap_used(), *chip.tdp);
  power.spare = std::max(1.0, sms);
  const base::Watts idle = c.idle_share * of.tdp;
  power.leakage = kLeaking * sms * idle;
  power.idle = (1.0 - kLeaking) * idle + power.leakage;
  power.active =
      power.idle + std::max(0.0, c.active_share - c.idle_share) * sms * clock * voltage * of.tdp;
  power.voltage_floor = floor / held;
  power.voltage_exponent = chip.measured.voltage_exponent;
  const double bf16 = c.flop_share[static_cast<std::size_t>(base::MathType::bf16)];
  const double own = chip.flop_share().value_or(bf16) / bf16;
  for (std::size_t i = 0; i < power.flop.size(); ++i) {
    if (chip.tensor[i].si() > 0.0) {
      const base::FlopsPerSecond peak =
          of.tensor[i].si() > 0.0 ? of.tensor[i] : chip.tensor[i] / (sms * clock);
      power.flop[i] = own * c.flop_share[i] * voltage * (of.tdp / peak);
    }
  }
  power.dram = c.dram_energy;
  if (chip.memory_energy) {
    power.dram += *chip.memory_energy - c.dram_device_energy;
  }
  power.link = c.link_energy;
  return power;
}

std::uint64_t next_identity() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

}  // namespace

double PowerRates::voltage(double clock) const {
  const double held = std::max(clock, voltage_floor);
  return voltage_exponent == 1.0 ? held : std::pow(held, voltage_exponent);
}

MachineIdentity::MachineIdentity() : number_(next_identity()) {}

MachineIdentity& MachineIdentity::operator=(const MachineIdentity&) {
  number_ = next_identity();
  return *this;
}

Machine machine_of(const hardware::System& system) {
  const hardware::Chip& chip = system.chip;
  const hardware::Calibration& c = system.calibration;
  Machine m;
  m.sms = static_cast<double>(chip.sms_used().value_or(0));
  m.measured_sms = chip.parent && chip.parent->sms ? static_cast<double>(*chip.parent->sms) : m.sms;
  m.l2_sms = chip.l2_slices ? m.measured_sms : m.sms;
  m.peak = chip.tensor;
  for (std::size_t i = 0; i < m.peak.size(); ++i) {
    m.tensor[i] = m.peak[i] * c.tensor_efficiency[i];
  }
  m.sparsity = chip.sparsity;
  m.clock = chip.clock_used().value_or(base::Hertz{});
  const auto per_sm_clock = [&](double amount) { return amount * (m.sms * m.clock.si()); };
  m.exponential = chip.measured.exponential_rate.value_or(base::FlopsPerSecond::from_si(
      chip.measured.relative_exponential_rate * per_sm_clock(c.exponentials_per_sm_clock)));
  m.l2 = c.l2_efficiency * chip.measured.l2_bandwidth.value_or(base::BytesPerSecond::from_si(
                               chip.l2_relative_slices * per_sm_clock(c.l2_bytes_per_sm_clock)));
  m.l2_capacity = chip.l2_capacity_used().value_or(base::Bytes{});
  m.dram = chip.bandwidth * c.dram_efficiency;
  if (m.l2.si() > 0.0 && m.l2 < m.dram) {
    m.dram = m.l2;
    m.dram_behind_l2 = true;
  }
  m.dram_latency = chip.measured.dram_latency.value_or(c.dram_latency);
  m.calibration = c;
  m.calibration.in_flight_bytes_per_sm *= relative_shared_memory(chip);
  m.tile_room = tile_room_of(chip);
  m.scale_up = system.scale_up;
  m.scale_up.bandwidth *= c.link_efficiency;
  if (system.scale_out) {
    m.scale_out = *system.scale_out;
    // A NIC sits behind the PCIe port of its chip, so the slower of both counts.
    const base::BytesPerSecond port =
        base::min(m.scale_out.bandwidth, chip.pcie.value_or(m.scale_out.bandwidth));
    const double spine = 1.0 / system.oversubscription;
    m.scale_out_by = spine < 1.0 && !system.rail_optimised ? "spine"
                     : port < system.scale_out->bandwidth  ? "PCIe port"
                                                           : "NIC";
    m.scale_out.bandwidth = port * c.nic_efficiency * (system.rail_optimised ? 1.0 : spine);
    m.scale_out.rails = system.rail_optimised;
    m.scale_out.off_rail = system.rail_optimised ? spine : 1.0;
  }
  m.scale_up_domain = system.scale_up_domain;
  for (int i = 0; i < base::kNumberFormats; ++i) {
    m.tile_rules[static_cast<std::size_t>(i)] =
        tile_rule(c.stack, chip.tensor_instruction, static_cast<base::NumberFormat>(i));
  }
  m.power = power_of(chip, c);
  m.power.memory_pace = m.l2.si() > 0.0 ? std::min(1.0, m.dram / m.l2) : 0.0;
  m.uncertainty = uncertainty_of(c);
  return m;
}

base::MathType Machine::attention_math(base::NumberFormat cache) const {
  const base::MathType math = base::facts(cache).math;
  if (math == base::MathType::fp8 && supports(math)) {
    return math;
  }
  return supports(base::MathType::bf16) ? base::MathType::bf16 : base::MathType::fp16;
}

base::BytesPerSecond Machine::dram_rate(double active) const {
  const base::Bytes in_flight =
      std::min(active, sms) * calibration.in_flight_bytes_per_sm * base::byte;
  return base::min(dram, in_flight / dram_latency);
}

}  // namespace roofcast::models
