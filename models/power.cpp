// SPDX-License-Identifier: Apache-2.0
#include "models/power.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace roofcast::models {
namespace {

constexpr double kLeastClock = 0.5;

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

// The equation of the clock, square · clock² + linear · clock = constant:
//   room      W    limit − active
//   square    J    FLOP at full clocks
//   linear    J    energy of bytes − room · rest
//   constant  J    room · compute
Drawn drawn(const Activity& activity, const PowerRates& rates) {
  Drawn out;
  out.time = activity.running + activity.gaps;
  if (!rates.known()) {
    out.energy = base::Joules::from_si(std::numeric_limits<double>::quiet_NaN());
    return out;
  }
  base::Seconds running = activity.running;
  base::Joules energy = rates.active * running + activity.flop + activity.bytes;
  if (energy > rates.limit * running) {
    if (activity.compute.si() > 0.0 && activity.flop.si() > 0.0) {
      const base::Seconds rest = running - activity.compute;
      const base::Watts room = base::max(base::Watts{}, rates.limit - rates.active);
      const double square = activity.flop.si();
      const double linear = (activity.bytes - room * rest).si();
      const double constant = (room * activity.compute).si();
      const double root =
          (std::sqrt(linear * linear + 4.0 * square * constant) - linear) / (2.0 * square);
      out.clock = std::clamp(root, kLeastClock, 1.0);
      running = rest + activity.compute / out.clock;
    }
    energy = base::min(rates.limit * running,
                       rates.active * running + out.clock * activity.flop + activity.bytes);
  }
  out.time = running + activity.gaps;
  out.energy = energy + rates.idle * activity.gaps;
  return out;
}

}  // namespace roofcast::models
