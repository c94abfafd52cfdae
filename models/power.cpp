// SPDX-License-Identifier: Apache-2.0
#include "models/power.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace roofcast::models {
namespace {

constexpr int kHalvings = 60;  // of the clock: far below a double's last digit

// With the symbols of the header, at a clock c.
base::Joules running_energy(const Activity& a, const PowerRates& rates, double c,
                            base::Seconds time) {
  const double voltage = std::max(c, rates.voltage_floor);
  return voltage * a.flop + a.bytes + rates.idle * time + c * (rates.active - rates.idle) * time;
}

}  // namespace

// alone  s  C: the FLOP at the rate of a large GEMM
// smooth s  S: the smooth maximum of all terms
base::Seconds clocked_time(const Cost& cost, base::MathType math, const Machine& machine) {
  const base::FlopsPerSecond rate = machine.tensor_rate(math);
  const base::Seconds smooth = cost.time - cost.launch - cost.fill;
  if (!(cost.flop.si() > 0.0 && rate.si() > 0.0 && smooth.si() > 0.0)) {
    return {};
  }
  const base::Seconds alone = base::min(smooth, cost.flop / rate);
  return (alone / smooth) * alone;
}

Draw draw_of(const Cost& cost, base::MathType math, double count, const Machine& machine) {
  const PowerRates& rates = machine.power;
  return {count * clocked_time(cost, math, machine),
          count * (cost.flop * rates.flop[static_cast<std::size_t>(math)]),
          count * (cost.dram_bytes * rates.dram + cost.message_bytes * rates.link)};
}

base::Seconds slowed(base::Seconds running, base::Seconds compute, double clock,
                     const PowerRates& rates) {
  return std::max(1.0, rates.memory_clock / clock) * (running - compute) + compute / clock;
}

Drawn drawn(const Activity& activity, const PowerRates& rates) {
  Drawn out;
  out.time = activity.running + activity.gaps;
  if (!rates.known()) {
    out.energy = base::Joules::from_si(std::numeric_limits<double>::quiet_NaN());
    return out;
  }
  base::Seconds running = activity.running;
  base::Joules energy = running_energy(activity, rates, 1.0, running);
  if (energy > rates.limit * running) {
    double held = 0.0;  // a clock that the limit allows
    for (int i = 0; i < kHalvings; ++i) {
      const double clock = 0.5 * (held + out.clock);
      const base::Seconds time = slowed(activity.running, activity.compute, clock, rates);
      const bool within = running_energy(activity, rates, clock, time) <= rates.limit * time;
      (within ? held : out.clock) = clock;
    }
    running = slowed(activity.running, activity.compute, out.clock, rates);
    energy = rates.limit * running;
  }
  out.time = running + activity.gaps;
  out.energy = energy + rates.idle * activity.gaps;
  return out;
}

}  // namespace roofcast::models
