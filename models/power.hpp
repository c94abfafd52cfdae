// SPDX-License-Identifier: Apache-2.0
//
// Energy and power of what a chip runs, and how far its clocks fall where it would draw more than its cap.
//
//   running(e) = v(e·g) · D(e) + bytes + (idle − leak + leak/g) · T(e)   ≤ limit · T(e)
//   D(e)       = Σ flop(type) · FLOP + clocked · e · T(e)
//   T(e)       = rest + memory · max(1, m/e) + compute / e
//   v(c)       = max(c, f)^x
//   energy     = running(e) + idle · gaps
//   power      = energy / (T(e) + gaps)
//
//   e                     –       pace of the SMs, a share of that of all of them at the full clock; the highest up to 1
//                                 that the limit allows
//   g                     –       SMs of the chip for each one that runs, 1 ≤ g ≤ spare; they run at the clock c = e·g ≤ 1.
//                                 The one that draws least: (leak · T / (x · eˣ · D))^(1/(1 + x)), and no clock
//                                 below f
//   spare                 –       SMs of the chip for each one of its parent, 1 where it has no more
//   v                     –       square of the voltage, a share of that at the full clock (scaled to v(1) = 1)
//   f                     –       voltage_floor: share of the full clock below which the voltage stays
//   x                     –       voltage_exponent of the chip; 1 where nobody measured it
//   m                     –       memory_pace: pace below which the L2 passes on fewer bytes than the memory gives
//   flop(type)            J/FLOP  at the full clock
//   bytes                 J       of bytes to and from memory and other ranks, at J/B of the calibration
//   idle                  W       leakage, memory and links at rest: no clock saves it
//   leak                  W       the part of idle that SMs leak: half, assumed
//   clocked               W       what else a running kernel draws, whatever it does, at the full clock
//   D                     J       what goes with the clock and with the square of the voltage, at the full voltage
//   limit                 W       share `limit_share` of the cap
//   T                     s       kernels
//   compute               s       the part of T that the clock sets, at the full clock
//   memory                s       the part of T that bytes from memory set
//   rest                  s       the rest of it
//   gaps                  s       between kernels
//
// `compute` of one operator is C²/S. C is the smooth maximum of its compute term (models/cost.hpp) without what waits for a
// latency, and of its L2 term: the L2 goes with the clock, a latency does not. S is the smooth maximum of all its terms. So
// `compute` is nearly all of a large GEMM or a scan and little of a kernel that memory bounds. `memory` is M²/S with the time M
// of its bytes.
//
// Power falls with e in every term, so e is found by regula falsi over 1/e, in which the time is nearly linear. Below f a FLOP
// costs no less, and idle power lasts longer: the cap with the fewest joules is near the one that holds f. More of any term never takes less time. Valid for loads
// of some 10 ms and longer: shorter bursts end before the controller acts. The energy of bytes that stay in the L2 counts
// with the FLOP that use them.
//
// The energies are those of the chip that was measured, as shares of its TDP, and a matter of its process. A chip that
// was changed from it (hardware/chip_changes.hpp) with s times the SMs at k times the clock has
//
//   idle + (s − 1) · leak        clocked · s · k · v(k)        flop(type) · v(k)        v as above, at the clocks of the parent
//
// whatever its peaks, its TDP and its cap are. No chip of today stops single SMs to save power. But a wider die is sold
// with as many of them as its cap can feed, so those that the parent lacks may stop: spare = max(1, s). Without that, more
// SMs under the same cap would slow down what memory bounds, by their leakage.
//
// Measured (ai-dynamo/aiconfigurator@095f58a): large bf16 GEMMs held at the limit take 1.19 (H200), 1.15
// (B200) and 1.22 (GB200) times as long as in bursts. Memory-bound ones take 0.97 to 1.02 times as long.
// Voltages were measured on three chips: x = 2 and f = 0.78 of an A100, 0.85 and 0.67 of an A40 whose clocks were set in
// training (ml-energy/zeus@38cb3f9, power within 1 and 2 %), 0.4 and 0.3 of an RTX PRO 6000 at lower caps. The A100's say
// what the caps of an A100 PCIe do: 250, 225, 200 and 175 W of 300 W take 1.06, 1.21, 1.42 and 1.73 times as long (published
// 1.08, 1.22, 1.46 and 1.77). Of other chips f is 0.65 and x is 1: at one limit they trade against `flop`.
// Errors of power: calibrate/operators/power_rows.hpp.
#pragma once

#include "models/cost.hpp"
#include "models/machine.hpp"

namespace roofcast::models {

// What all runs of an operator draw, whatever hides them.
struct Draw {
  base::Seconds clocked;  // the part of their time that the clock sets
  base::Seconds memory;   // the part that bytes from memory set
  base::Joules flop;      // of FLOP, at full clocks
  base::Joules bytes;     // of bytes to memory and to other ranks
};
Draw draw_of(const Cost& cost, base::MathType math, double count, const Machine& machine);

// The operators that a chip ran one after another, at full clocks.
struct Activity {
  base::Seconds running;   // kernels
  base::Seconds compute;   // the part of `running` that the clock sets
  base::Seconds gaps;      // between kernels
  base::Joules flop;       // of FLOP, at full clocks
  base::Joules bytes;      // of bytes to memory and to other ranks
  base::Seconds memory{};  // the part of `running` that bytes from memory set

  // Adds `count` runs that together lengthen the activity by `time`: less than their own time where they are
  // overlapped with others.
  void add(const Cost& cost, base::MathType math, double count, base::Seconds time,
           const Machine& machine) {
    add(draw_of(cost, math, count, machine), time);
  }
  void add(const Draw& draw, base::Seconds time) {
    const base::Seconds clocked = base::min(time, draw.clocked);
    running += time;
    compute += clocked;
    memory += base::min(time - clocked, draw.memory);
    flop += draw.flop;
    bytes += draw.bytes;
  }
};

// C²/S above: the part of one run of an operator that the clock sets.
base::Seconds clocked_time(const Cost& cost, const Machine& machine);
// The same of its FLOP alone, at the rate of a large GEMM.
base::Seconds product_time(const Cost& cost, base::MathType math, const Machine& machine);

// T(e) of kernels that take `running` at the full clock, of which the clock sets `compute` and the memory `memory`.
base::Seconds slowed(base::Seconds running, base::Seconds compute, base::Seconds memory,
                     double pace, const PowerRates& rates);

struct Drawn {
  double clock = 1.0;   // share of the full clock: e·g
  double pace = 1.0;    // e: the clock, but for SMs that stand still
  base::Seconds time;   // with the gaps
  base::Joules energy;  // NaN where the TDP is not known
  base::Watts power() const { return energy / time; }
};

// The limit is above `idle_of(spare)`: the scenario was checked (sim/result/feasibility.hpp).
Drawn drawn(const Activity& activity, const PowerRates& rates);

}  // namespace roofcast::models
