// SPDX-License-Identifier: Apache-2.0
//
// Energy and power of what a chip runs, and how far its clocks fall under sustained load.
//
//   running = Σ flop(type) · FLOP · clock + dram · bytes + link · bytes sent + active · T   ≤ limit · T
//   T       = rest + compute / clock
//   energy  = running + idle · gaps
//   power   = energy / (T + gaps)
//
//   clock                 –       share of the full clock, 0.5 to 1
//   flop(type)            J/FLOP  flop_share(type) · TDP / dense peak: a FLOP at full clocks
//   dram, link            J/B     PowerRates; hardware/calibration.hpp has the sources
//   active, idle, limit   W       shares of the TDP
//   T                     s       kernels
//   compute               s       the part of T that the clock sets, at full clocks
//   rest                  s       the part that the clock does not change
//   gaps                  s       between kernels
//
// `compute` of one operator is C²/S. C is the time of its FLOP at the rate of a large GEMM, and S is the
// smooth maximum of all its terms. So `compute` is nearly all of a large GEMM and little of a kernel that
// memory bounds.
//
// The energy of a FLOP goes with voltage², and near the top voltage² goes with the clock. A load that would
// draw more than the limit at full clocks runs at the positive root of
//
//   Σ flop · FLOP · clock² + (energy of bytes − (limit − active) · rest) · clock = (limit − active) · compute
//
// but not below 0.5. Power that no lower clock can save is cut to the limit without a slowdown. More of any
// term never takes less time. Valid for loads of some 10 ms and longer: shorter bursts end before the
// controller acts. The energy of bytes that stay in the L2 counts with the FLOP that use them.
//
// Measured (ai-dynamo/aiconfigurator@095f58a): large bf16 GEMMs held at the limit take 1.19 (H200), 1.15
// (B200) and 1.22 (GB200) times as long as in bursts. Memory-bound ones take 0.97 to 1.02 times as long.
// Errors of power: calibrate/operators/power_rows.hpp.
#pragma once

#include "models/cost.hpp"
#include "models/machine.hpp"

namespace roofcast::models {

// What all runs of an operator draw, whatever hides them.
struct Draw {
  base::Seconds clocked;  // the part of their time that the clock sets
  base::Joules flop;      // of FLOP, at full clocks
  base::Joules bytes;     // of bytes to memory and to other ranks
};
Draw draw_of(const Cost& cost, base::MathType math, double count, const Machine& machine);

// The operators that a chip ran one after another, at full clocks.
struct Activity {
  base::Seconds running;  // kernels
  base::Seconds compute;  // the part of `running` that the clock sets
  base::Seconds gaps;     // between kernels
  base::Joules flop;      // of FLOP, at full clocks
  base::Joules bytes;     // of bytes to memory and to other ranks

  // Adds `count` runs that together lengthen the activity by `time`: less than their own time where they are
  // overlapped with others.
  void add(const Cost& cost, base::MathType math, double count, base::Seconds time,
           const Machine& machine) {
    add(draw_of(cost, math, count, machine), time);
  }
  void add(const Draw& draw, base::Seconds time) {
    running += time;
    compute += base::min(time, draw.clocked);
    flop += draw.flop;
    bytes += draw.bytes;
  }
};

// C²/S above: the part of one run of an operator that the clock sets.
base::Seconds clocked_time(const Cost& cost, base::MathType math, const Machine& machine);

struct Drawn {
  double clock = 1.0;   // share of the full clock
  base::Seconds time;   // with the gaps
  base::Joules energy;  // NaN where the TDP is not known
  base::Watts power() const { return energy / time; }
};

Drawn drawn(const Activity& activity, const PowerRates& rates);

}  // namespace roofcast::models
