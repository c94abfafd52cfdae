// SPDX-License-Identifier: Apache-2.0
//
// Energy and power of what a chip runs, and how far its clocks fall under sustained load.
//
//   running = Σ flop(type) · FLOP · clock + dram · bytes + link · bytes sent + active · T   ≤ limit · T
//   T       = rest + compute / clock
//   energy  = running + idle · gaps,        power = energy / (T + gaps)
//
// active, idle and limit are shares of the TDP; flop(type) = flop_share(type) · TDP / dense peak, what a
// FLOP takes at full clocks; dram and link are joules per byte (PowerRates, hardware/calibration.hpp).
// `compute` is the time that the clock sets, of one operator C²/S with C its FLOP at the rate of a large
// GEMM and S the smooth maximum of all its terms: nearly all of a large GEMM, little of what the memory
// bounds. The energy of a FLOP is as voltage², and that as the clock near the top. What would draw more than
// the limit at full clocks runs at the positive root of
//
//   Σ flop · FLOP · clock² + (energy of bytes − (limit − active) · rest) · clock = (limit − active) · compute
//
// but not below 0.5; what no clock saves is cut to the limit without slowing anything. More of any term never
// takes less time. Valid for loads of some 10 ms and longer: shorter bursts end before the controller
// acts. Bytes that stay in the L2 count with the FLOP they feed.
//
// Measured (ai-dynamo/aiconfigurator@095f58a): large bf16 GEMMs held at the limit take 1.19 (H200), 1.15
// (B200) and 1.22 (GB200) times as long as in bursts, memory-bound ones 0.97 to 1.02 times. Errors of power:
// calibrate/operators/power_rows.hpp.
#pragma once

#include "models/cost.hpp"
#include "models/machine.hpp"

namespace roofcast::models {

// What a chip ran, one operator after the other, at full clocks.
struct Activity {
  base::Seconds running;  // kernels
  base::Seconds compute;  // of it, what the clock sets
  base::Seconds gaps;     // between them
  base::Joules flop;      // at full clocks
  base::Joules bytes;

  // `count` runs that together take `time`, their own unless they hide behind others.
  void add(const Cost& cost, base::MathType math, double count, base::Seconds time,
           const Machine& machine);
};

// The time that the clock sets in one run of an operator.
base::Seconds clocked_time(const Cost& cost, base::MathType math, const Machine& machine);

struct Drawn {
  double clock = 1.0;   // of the full one
  base::Seconds time;   // gaps included
  base::Joules energy;  // NaN where the TDP is not known
  base::Watts power() const { return energy / time; }
};

Drawn drawn(const Activity& activity, const PowerRates& rates);

}  // namespace roofcast::models
