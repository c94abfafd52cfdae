// SPDX-License-Identifier: Apache-2.0
#include "models/power.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "models/smooth_maximum.hpp"

namespace roofcast::models {
namespace {

constexpr int kMostSteps = 60;  // to the pace that the limit allows: some eight are enough
constexpr double kNone = 1e-13;
constexpr double kBeyond = 1.001;  // the limit, at the slowest pace
constexpr double kSlowest = 1e9;

// With the symbols of the header, at a pace e.
struct Running {
  base::Seconds time;
  double idle_of = 1.0;  // g
  base::Joules energy;
};

// S of one run of an operator.
base::Seconds smooth_time(const Cost& cost) { return cost.time - cost.launch - cost.fill; }

double fourth_root(double t) { return std::sqrt(std::sqrt(t)); }

// What draws least at a pace: fewer SMs leak less, and need a higher voltage.
Running running_at(const Activity& a, const PowerRates& rates, double pace) {
  Running r;
  // What goes with the clock and the square of the voltage, at the full voltage.
  const auto dynamic = [&] { return a.flop + pace * (rates.active - rates.idle) * r.time; };
  r.time = slowed(a, pace, std::min(1.0, pace * rates.spare), rates);
  if (rates.spare > 1.0) {
    const double most = std::min(rates.spare, 1.0 / pace);
    const double x = rates.voltage_exponent;
    const double least_drawn =
        dynamic().si() > 0.0
            ? std::pow(rates.leakage * r.time / (x * std::pow(pace, x) * dynamic()),
                       1.0 / (1.0 + x))
            : most;
    r.idle_of = std::clamp(std::max(least_drawn, rates.voltage_floor / pace), 1.0, most);
    r.time = slowed(a, pace, pace * r.idle_of, rates);
  }
  r.energy =
      rates.voltage(pace * r.idle_of) * dynamic() + a.bytes + rates.idle_of(r.idle_of) * r.time;
  return r;
}

// Where the power is the limit. Regula falsi over 1/e, in which the time is nearly linear; the value of an end that stays
// is halved (Illinois; M. Dowell and P. Jarratt, BIT 11, 1971).
double pace_at_limit(const Activity& a, const PowerRates& rates) {
  struct End {
    double slowness = 1.0;
    double beyond = 0.0;  // of the limit
  };
  const auto at = [&](double slowness) {
    const Running r = running_at(a, rates, 1.0 / slowness);
    return End{slowness, r.energy / (rates.limit * r.time) - 1.0};
  };
  End fast = at(1.0);
  End slow = at(2.0);
  while (slow.beyond > 0.0 && slow.slowness < kSlowest) {
    fast = slow;
    slow = at(2.0 * slow.slowness);
  }
  End next = slow;
  bool was_above = false;
  for (int i = 0; i < kMostSteps && std::abs(next.beyond) > kNone; ++i) {
    const double share = fast.beyond / (fast.beyond - slow.beyond);
    next = at(fast.slowness + share * (slow.slowness - fast.slowness));
    const bool above = next.beyond > 0.0;
    if (i > 0 && above == was_above) {
      (above ? slow : fast).beyond *= 0.5;
    }
    (above ? fast : slow) = next;
    was_above = above;
  }
  return 1.0 / next.slowness;
}

}  // namespace

base::Seconds clocked_time(const Cost& cost, const Machine& machine) {
  const base::Seconds clocked = cost.compute - cost.waiting;
  return base::min(smooth_time(cost),
                   base::Seconds::from_si(smooth_maximum(clocked.si(), cost.l2.si(), 0.0,
                                                         machine.calibration.overlap_exponent)));
}

base::Seconds product_time(const Cost& cost, base::MathType math, const Machine& machine) {
  const base::FlopsPerSecond rate = machine.tensor_rate(math);
  const base::Seconds smooth = smooth_time(cost);
  if (!(rate.si() > 0.0) || !(smooth.si() > 0.0)) {
    return {};
  }
  const base::Seconds most = base::min(smooth, cost.flop / rate);
  return (most / smooth) * most;
}

Draw draw_of(const Cost& cost, base::MathType math, double count, const Machine& machine) {
  const PowerRates& rates = machine.power;
  Draw draw{.flop = count * (cost.flop * rates.flop[static_cast<std::size_t>(math)]),
            .bytes = count * (cost.dram_bytes * rates.dram + cost.message_bytes * rates.link)};
  const double p = machine.calibration.overlap_exponent;
  const base::Seconds smooth = base::min(
      smooth_time(cost),
      base::Seconds::from_si(smooth_maximum(cost.compute.si(), cost.dram.si(), cost.l2.si(), p)));
  if (!(smooth.si() > 0.0)) {
    return draw;
  }
  const base::Seconds clocked = clocked_time(cost, machine);
  if (!(clocked.si() > 0.0)) {
    draw.bound[kMemoryAlone] = count * base::min(smooth, cost.dram);
    return draw;
  }
  // A latency adds to what the clock sets beside it, as far as neither the memory nor the L2 hides it.
  const double exposed = std::min(1.0, cost.compute / smooth);
  const double of_compute = std::min(1.0, (cost.compute - cost.waiting) / clocked);
  const base::Seconds sharing =
      base::max(clocked, smooth - exposed * of_compute * of_compute * cost.waiting);
  const double at = static_cast<double>(kClockAlone) * (clocked / sharing);  // of r
  const auto below = std::min(static_cast<std::size_t>(at), kClockAlone - 1);
  const double above = at - static_cast<double>(below);
  draw.below = below;
  draw.bound[below] = (count * (1.0 - above)) * sharing;
  draw.bound[below + 1] = (count * above) * sharing;
  const double l2 = std::min(1.0, fourth_power(cost.l2 / clocked));
  draw.l2[below] = l2 * draw.bound[below];
  draw.l2[below + 1] = l2 * draw.bound[below + 1];
  return draw;
}

base::Seconds slowed(const Activity& activity, double pace, double clock, const PowerRates& rates) {
  base::Seconds time = activity.running;
  if (pace == 1.0 && clock == 1.0) {
    return time;
  }
  const double of_pace = fourth_power(1.0 / pace);
  const double of_clock = fourth_power(1.0 / clock);
  const double of_memory = std::max(1.0, fourth_power(rates.memory_pace / clock));
  for (std::size_t i = 0; i < kClockShares; ++i) {
    if (activity.bound[i].si() > 0.0) {
      const double l2 = activity.l2[i] / activity.bound[i];
      const double r = fourth_power(static_cast<double>(i) / static_cast<double>(kClockAlone));
      const double longer =
          fourth_root(r * ((1.0 - l2) * of_pace + l2 * of_clock) + (1.0 - r) * of_memory);
      time += (longer - 1.0) * activity.bound[i];
    }
  }
  return time;
}

Drawn drawn(const Activity& activity, const PowerRates& rates) {
  Drawn out;
  out.time = activity.running + activity.gaps;
  if (!rates.known()) {
    out.energy = base::Joules::from_si(std::numeric_limits<double>::quiet_NaN());
    return out;
  }
  Running running = running_at(activity, rates, 1.0);  // all SMs: none is spare at the full pace
  if (running.energy > rates.limit * running.time) {
    out.pace = pace_at_limit(activity, rates);
    running = running_at(activity, rates, out.pace);
    if (running.energy > kBeyond * rates.limit * running.time) {
      running.time = running.energy / rates.limit;  // idle power and bytes alone: they wait
    }
    running.energy = rates.limit * running.time;
    out.clock = out.pace * running.idle_of;
  }
  out.time = running.time + activity.gaps;
  out.energy = running.energy + rates.rest() * activity.gaps;
  return out;
}

}  // namespace roofcast::models
