// SPDX-License-Identifier: Apache-2.0
//
// Energy and power of what a chip runs, and how far its clocks fall where it would draw more than its cap.
//
//   running(e) = v(e·g) · D(e) + bytes + (idle − leak + leak/g) · T(e)   ≤ limit · T(e)
//   D(e)       = Σ flop(type) · FLOP + clocked · e · T(e)
//   T(e)       = rest + Σ shares of each kernel · (r⁴ · ((1 − λ)/e⁴ + λ/c⁴) + (1 − r⁴) · max(1, m/c)⁴)^(1/4)
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
//   c                     –       e·g: the L2 goes with the clock, and does not stop with the SMs
//   m                     –       memory_pace: clock below which the L2 passes on fewer bytes than the memory gives
//   flop(type)            J/FLOP  at the full clock
//   bytes                 J       of bytes to and from memory and other ranks, at J/B of the calibration
//   idle                  W       leakage, memory and links at rest: no clock saves it
//   leak                  W       the part of idle that SMs leak: half, assumed
//   clocked               W       what else a running kernel draws, whatever it does, at the full clock
//   D                     J       what goes with the clock and with the square of the voltage, at the full voltage
//   limit                 W       share `limit_share` of the cap
//   T                     s       kernels
//   r                     –       what the clock sets of a kernel, C/S: 0, 1/4, 1/2, 3/4 or 1
//   λ                     –       the L2's part of C: L2⁴/C⁴
//   shares                s       S of the kernels of each r, at the full clock: one between two r counts for both
//   rest                  s       launches, ends, latencies, and messages between ranks
//   gaps                  s       between kernels
//
// One kernel takes rest + S, S = smooth maximum of C and D (models/cost.hpp; its exponent is 4). C is that of its compute term
// without what waits for a latency, and of its L2 term: the L2 goes with the clock, a latency does not. D is what bytes from
// memory set. So a slow clock costs a kernel that memory bounds nothing, until the clock bounds it.
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

#include <array>

#include "models/cost.hpp"
#include "models/machine.hpp"

namespace roofcast::models {

// S of kernels by r: 0 are those that memory alone bounds, 1 those that the clock alone does.
inline constexpr std::size_t kClockShares = 5;
using ByClockShare = std::array<base::Seconds, kClockShares>;
inline constexpr std::size_t kMemoryAlone = 0;
inline constexpr std::size_t kClockAlone = kClockShares - 1;

// What all runs of an operator draw, whatever hides them.
struct Draw {
  std::size_t below = 0;  // only this r and the next one have any time
  ByClockShare bound{};   // of their time
  ByClockShare l2{};      // λ of it
  base::Joules flop;      // of FLOP, at full clocks
  base::Joules bytes;     // of bytes to memory and to other ranks
};
Draw draw_of(const Cost& cost, base::MathType math, double count, const Machine& machine);

// The operators that a chip ran one after another, at full clocks.
struct Activity {
  base::Seconds running;  // kernels
  base::Seconds gaps;     // between kernels
  base::Joules flop;      // of FLOP, at full clocks
  base::Joules bytes;     // of bytes to memory and to other ranks
  ByClockShare bound{};   // of `running`
  ByClockShare l2{};      // λ of it

  // Adds `count` runs that together lengthen the activity by `time`: less than their own time where they are
  // overlapped with others.
  void add(const Cost& cost, base::MathType math, double count, base::Seconds time,
           const Machine& machine) {
    add(draw_of(cost, math, count, machine), time);
  }
  // What the clock bounds counts first.
  void add(const Draw& draw, base::Seconds time) {
    running += time;
    for (const std::size_t r : {draw.below + 1, draw.below}) {
      const base::Seconds counted = base::min(time, draw.bound[r]);
      if (counted.si() > 0.0) {
        bound[r] += counted;
        l2[r] += (counted / draw.bound[r]) * draw.l2[r];
      }
      time -= counted;
    }
    flop += draw.flop;
    bytes += draw.bytes;
  }
  void add(const Activity& other) {
    running += other.running;
    gaps += other.gaps;
    for (std::size_t r = 0; r < kClockShares; ++r) {
      bound[r] += other.bound[r];
      l2[r] += other.l2[r];
    }
    flop += other.flop;
    bytes += other.bytes;
  }
};

// C of one run of an operator, at most S.
base::Seconds clocked_time(const Cost& cost, const Machine& machine);
// C²/S of its FLOP alone, at the rate of a large GEMM.
base::Seconds product_time(const Cost& cost, base::MathType math, const Machine& machine);

// T at a pace e and a clock c.
base::Seconds slowed(const Activity& activity, double pace, double clock, const PowerRates& rates);

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
