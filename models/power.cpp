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

// C²/S of a term that takes `alone`.
base::Seconds counted(base::Seconds alone, const Cost& cost) {
  const base::Seconds smooth = smooth_time(cost);
  const base::Seconds most = base::min(smooth, alone);
  return smooth.si() > 0.0 ? (most / smooth) * most : base::Seconds{};
}

// What draws least at a pace: fewer SMs leak less, and need a higher voltage.
Running running_at(const Activity& a, const PowerRates& rates, double pace) {
  Running r;
  r.time = slowed(a.running, a.compute, a.memory, pace, rates);
  // What goes with the clock and the square of the voltage, at the full voltage.
  const base::Joules dynamic = a.flop + pace * (rates.active - rates.idle) * r.time;
  if (rates.spare > 1.0) {
    const double most = std::min(rates.spare, 1.0 / pace);
    const double x = rates.voltage_exponent;
    const double least_drawn =
        dynamic.si() > 0.0
            ? std::pow(rates.leakage * r.time / (x * std::pow(pace, x) * dynamic), 1.0 / (1.0 + x))
            : most;
    r.idle_of = std::clamp(std::max(least_drawn, rates.voltage_floor / pace), 1.0, most);
  }
  r.energy =
      rates.voltage(pace * r.idle_of) * dynamic + a.bytes + rates.idle_of(r.idle_of) * r.time;
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
  return counted(base::Seconds::from_si(smooth_maximum(clocked.si(), cost.l2.si(), 0.0,
                                                       machine.calibration.overlap_exponent)),
                 cost);
}

base::Seconds product_time(const Cost& cost, base::MathType math, const Machine& machine) {
  const base::FlopsPerSecond rate = machine.tensor_rate(math);
  return rate.si() > 0.0 ? counted(cost.flop / rate, cost) : base::Seconds{};
}

Draw draw_of(const Cost& cost, base::MathType math, double count, const Machine& machine) {
  const PowerRates& rates = machine.power;
  const base::Seconds smooth = smooth_time(cost);
  const base::Seconds memory =
      smooth.si() > 0.0 ? std::min(1.0, cost.dram / smooth) * cost.dram : base::Seconds{};
  return {count * clocked_time(cost, machine), count * memory,
          count * (cost.flop * rates.flop[static_cast<std::size_t>(math)]),
          count * (cost.dram_bytes * rates.dram + cost.message_bytes * rates.link)};
}

base::Seconds slowed(base::Seconds running, base::Seconds compute, base::Seconds memory,
                     double pace, const PowerRates& rates) {
  return running + (1.0 / pace - 1.0) * compute +
         std::max(0.0, rates.memory_pace / pace - 1.0) * memory;
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
