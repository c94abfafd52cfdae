// SPDX-License-Identifier: Apache-2.0
//
// A system as the operator models see it: the rates that a kernel can reach, which are datasheet ×
// efficiency.
//
// Everything is derived once per system, so that timing an operator only reads numbers.
#pragma once

#include <array>
#include <cstdint>

#include "base/units/quantity.hpp"
#include "base/units/weight_storage.hpp"
#include "hardware/system.hpp"
#include "models/tile_room.hpp"
#include "models/tile_rule.hpp"
#include "models/uncertainty.hpp"

namespace roofcast::models {

// Power and energy of running. All are zero where the chip's TDP is not known. models/power.hpp has the formula.
struct PowerRates {
  base::Watts limit;    // the most that the chip draws for long
  base::Watts active;   // while a kernel runs, whatever it does, at the full clock
  base::Watts idle;     // between kernels, and at any clock
  base::Watts leakage;  // the part of it that goes with the SMs
  // Shares of the full clock.
  double voltage_floor = 0.0;     // below it the voltage stays
  double voltage_exponent = 1.0;  // of its square over the clock
  double memory_pace = 0.0;       // below it the L2 is slower than the memory
  double spare = 1.0;  // SMs for each one of the parent, at least 1: the rest may stand still
  std::array<base::JoulesPerFlop, base::kMathTypes> flop{};  // at full clocks, by type
  double voltage(double clock) const;                        // its square, v(c)
  base::JoulesPerByte dram;                                  // moved to or from device memory
  base::JoulesPerByte link;                                  // sent to other ranks
  bool known() const { return limit.si() > 0.0; }
  // Idle power where one SM of `still` runs: the others leak nothing.
  base::Watts idle_of(double still) const { return idle - leakage + leakage / still; }
  // What an idle chip draws: SMs that would draw more than the limit stand still.
  base::Watts rest() const { return base::min(idle, limit); }
};

// A number that no other machine has, so that cached costs are never taken for another machine. A copy gets its own.
class MachineIdentity {
 public:
  MachineIdentity();
  MachineIdentity(const MachineIdentity&) : MachineIdentity() {}
  MachineIdentity& operator=(const MachineIdentity&);
  ~MachineIdentity() = default;
  bool operator==(std::uint64_t number) const { return number_ == number; }
  std::uint64_t number() const { return number_; }  // never 0

 private:
  std::uint64_t number_;
};

struct Machine {
  MachineIdentity identity;
  double sms = 0;
  base::Hertz clock;                                            // of an SM
  std::array<base::FlopsPerSecond, base::kMathTypes> peak{};    // dense, from the datasheet
  std::array<base::FlopsPerSecond, base::kMathTypes> tensor{};  // what a large GEMM reaches
  double sparsity = 0;                                          // of the chip (hardware/chip.hpp)
  base::FlopsPerSecond exponential;                             // exp() of the whole chip
  base::BytesPerSecond dram;  // what a streaming kernel reaches: of the memory, or the L2 before it
  bool dram_behind_l2 = false;  // the L2 is the slower one
  base::BytesPerSecond l2;      // what a kernel reaches
  base::Bytes l2_capacity;
  base::Seconds dram_latency;
  // SMs of the chip that was measured, where this one was changed; else its own.
  double measured_sms = 0;
  // SMs that share the rate of the L2 as those of that chip do: fewer of them load no faster each, and more of them, where
  // the L2 did not grow with them, share the same.
  double l2_sms = 0;
  hardware::Calibration calibration;
  hardware::FabricLevel scale_up;  // its bandwidth includes the efficiency
  // The bandwidth from a rank to the same position in the other domains; zero when there is no scale-out network.
  // To other positions it is `off_rail` of that.
  hardware::FabricLevel scale_out;
  std::string_view scale_out_by = "NIC";  // what sets that bandwidth: "NIC", "PCIe port", "spine"
  std::int64_t scale_up_domain = 1;
  // By format of both operands of a GEMM.
  std::array<TileRule, base::kNumberFormats> tile_rules{};
  TileRoom tile_room;
  PowerRates power;
  Uncertainty uncertainty;

  // The type in which attention multiplies a cache of this format. A cache is widened to bf16 where the chip cannot
  // multiply its format, and to fp16 where the chip has no bf16 either.
  base::MathType attention_math(base::NumberFormat cache) const;
  bool supports(base::MathType type) const {
    return peak[static_cast<std::size_t>(type)].si() > 0.0;
  }
  base::FlopsPerSecond tensor_rate(base::MathType type) const {
    return tensor[static_cast<std::size_t>(type)];
  }
  // How many times as fast as with dense weights a large GEMM goes through all products. Vector units, which multiply fp32,
  // skip none.
  double speedup(base::WeightStorage storage, base::MathType type) const {
    const double measured = sparsity * calibration.gemm_sparse_efficiency;
    const bool skips = storage.sparse && type != base::MathType::fp32;
    return skips && measured > 1.0 ? measured : 1.0;
  }
  // The DRAM rate while `active` SMs load. Little's law caps it at bytes in flight over latency.
  base::BytesPerSecond dram_rate(double active) const;
};

Machine machine_of(const hardware::System& system);

}  // namespace roofcast::models
