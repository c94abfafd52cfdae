// SPDX-License-Identifier: Apache-2.0
//
// A system seen by the operator models: the rates a kernel can reach, datasheet × efficiency.
//
// Everything is derived once per system, so that timing an operator reads plain numbers.
#pragma once

#include <array>
#include <cstdint>

#include "base/units/quantity.hpp"
#include "hardware/system.hpp"
#include "models/uncertainty.hpp"

namespace roofcast::models {

// What running costs; all zero where the chip's TDP is not known. models/power.hpp has the formula.
struct PowerRates {
  base::Watts limit;                                         // most that the chip draws for long
  base::Watts active;                                        // while a kernel runs
  base::Watts idle;                                          // between kernels
  std::array<base::JoulesPerFlop, base::kMathTypes> flop{};  // at full clocks
  base::JoulesPerByte dram;
  base::JoulesPerByte link;
  bool known() const { return limit.si() > 0.0; }
};

// Tells machines apart. Each has one of its own, a copy too, and none is given out twice.
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
  std::array<base::FlopsPerSecond, base::kMathTypes> peak{};    // datasheet
  std::array<base::FlopsPerSecond, base::kMathTypes> tensor{};  // a large GEMM's
  base::FlopsPerSecond exponential;                             // exp() per second
  base::BytesPerSecond dram;                                    // a streaming kernel's
  base::BytesPerSecond l2;
  base::Bytes l2_capacity;
  base::Seconds dram_latency;
  hardware::Calibration calibration;
  hardware::FabricLevel scale_up;  // bandwidth already × efficiency
  // Zero bandwidth when there is none; else what a rank has towards its own position in the other
  // domains. Off its rail it has `off_rail` of that.
  hardware::FabricLevel scale_out;
  std::int64_t scale_up_domain = 1;
  PowerRates power;
  Uncertainty uncertainty;

  // The multiplier of attention over a cache format: caches are widened to bf16 where the chip lacks
  // theirs, to fp16 where it lacks bf16.
  base::MathType attention_math(base::NumberFormat cache) const;
  bool supports(base::MathType type) const {
    return peak[static_cast<std::size_t>(type)].si() > 0.0;
  }
  base::FlopsPerSecond tensor_rate(base::MathType type) const {
    return tensor[static_cast<std::size_t>(type)];
  }
  // DRAM rate while `active` SMs have loads under way: Little's law caps it at bytes in flight over
  // latency.
  base::BytesPerSecond dram_rate(double active) const;
};

Machine machine_of(const hardware::System& system);

}  // namespace roofcast::models
