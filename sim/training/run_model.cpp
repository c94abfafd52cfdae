// SPDX-License-Identifier: Apache-2.0
#include "sim/training/run_model.hpp"

#include <algorithm>
#include <cmath>

#include "base/integers.hpp"
#include "base/queueing/erlang.hpp"
#include "base/units/square_seconds.hpp"

namespace roofcast::sim {
namespace {

using base::Hertz;
using base::Seconds;

constexpr int kRounds = 60;
constexpr double kExact = 1e-12;
constexpr double kSpread95 = 1.6448536269514722;  // standard normal

// A level of checkpoints: failures that recover from it. Symbols are those of the header.
//
//   symbol          meaning                                                                  unit
//   rate            λ of these failures                                                      1/s
//   passes          q, of the failures that start the downtime again: these and the nearer   –
//   mean_down       E[D], the downtime of a failure with the failures during it; its mean    s, s²
//                   square is second_down
//   cycle, stall    τ; c                                                                     s
//   save            s                                                                        s
//   uptime          (e^(λ(τ+c)) − 1)·e^(λs)/(λτ)                                             –
//   downtime        uptime · λ E[D]; both together, all(), are 1/v                           –
//   again           useful time that a failure loses, on average half a cycle and the save   s
struct Level {
  Hertz rate;
  double passes = 1;  // q of the header
  Seconds mean_down;  // of one failure, failures during it included
  base::SquareSeconds second_down;
  Seconds cycle;  // useful time of a cycle of checkpoints, as long as it takes on the level below
  Seconds stall;
  Seconds save;

  // Running time for a unit of time of the level below.
  double uptime() const {
    if (!(rate > Hertz{})) {
      return 1.0 + stall / cycle;
    }
    return std::expm1(rate * (cycle + stall)) * std::exp(rate * save) / (rate * cycle);
  }
  double downtime() const { return uptime() * (rate * mean_down); }
  double all() const { return uptime() + downtime(); }
  // Time for a unit of time in which nothing is computed, such as a stall of a farther tier.
  double idle() const { return 1.0 + rate * (mean_down + 0.5 * (cycle + stall) + save); }
  // Mean square of what a failure costs: its downtime, and what is computed again at the pace `all`.
  base::SquareSeconds square_of_cost() const {
    const Seconds again = 0.5 * (cycle + stall) + save;
    const base::SquareSeconds spread = (cycle + stall) * (cycle + stall) / 12.0;
    const double pace = all();
    return second_down + 2.0 * pace * again * mean_down + pace * pace * (again * again + spread);
  }
};

// The nearer tiers together.
struct Nearer {
  double share = 0.0;  // of the failures that go on from them
  double time = 1.0;   // for a unit of useful time
  double idle = 1.0;   // for a unit of a stall

  void add(const RunModel::Tier& tier, const Level& level) {
    share += tier.recovers;
    time *= level.all();
    idle *= level.idle();
  }
};

// `share` of the failures go on from this level. `reach`: from this one and the nearer ones; all of those start its downtime
// again.
Level level_of(const RunModel& run, double share, double reach, Seconds read) {
  Level level;
  Hertz again;
  for (const RunModel::Failures& f : run.failures) {
    level.rate += share * f.rate;
    again += reach * f.rate;
  }
  if (!(level.rate > Hertz{})) {
    return level;
  }
  // A downtime D is cut short by a failure after X < R, and another follows: D = min(X, R) + [X < R]·D'.
  level.passes = 0.0;
  double cut = 0.0;  // E[λX; X < R] = E[(λ min(X, R))²]/2
  for (const RunModel::Failures& f : run.failures) {
    const double down = again * (f.down + read);
    const double weight = share * f.rate / level.rate * std::exp(-down);
    level.passes += weight;
    cut += weight * (std::expm1(down) - down);
  }
  const Seconds unit = 1.0 / again;
  level.mean_down = (1.0 - level.passes) / level.passes * unit;
  level.second_down = 2.0 * cut / level.passes * (unit * (unit + level.mean_down));
  return level;
}

// Storage as the last of the tiers.
RunModel::Tier storage_of(const RunModel& run) {
  return {"storage", run.needs_storage(), run.interval, run.stall, run.save, run.read};
}

Level level_of(const RunModel& run, const RunModel::Tier& tier, const Nearer& nearer) {
  Level level = level_of(run, tier.recovers, nearer.share + tier.recovers, tier.read);
  level.cycle = nearer.time * tier.interval;
  level.stall = nearer.idle * tier.stall;
  level.save = tier.save;
  return level;
}

Nearer nearer_than(const RunModel& run, std::size_t tier) {
  Nearer nearer;
  for (std::size_t i = 0; i < tier; ++i) {
    nearer.add(run.tiers[i], level_of(run, run.tiers[i], nearer));
  }
  return nearer;
}

// λτ' = 1 − e^(−λ(τ'+c')) for the cycle and the stall as long as nearer tiers make them, by Newton's method from Young's
// interval. No shorter than a save.
Seconds best_cycle(const RunModel& run, const RunModel::Tier& tier, const Nearer& nearer) {
  const Hertz rate = tier.recovers * run.rate();
  const Seconds least = base::max(tier.save - tier.stall, 1e-3 * base::second);
  if (!(rate > Hertz{})) {
    return base::max(least, run.work);
  }
  const double stall = rate * nearer.idle * tier.stall;
  double x = std::min(1.0, std::sqrt(2.0 * stall));
  for (int i = 0; i < kRounds; ++i) {
    const double decay = std::exp(-(x + stall));
    const double change = (x - 1.0 + decay) / std::max(1.0 - decay, 1e-12);
    x = std::clamp(x - change, 0.5 * x, 1.0);
    if (std::abs(change) <= kExact * x) {
      break;
    }
  }
  return base::min(run.work, base::max(least, x / rate / nearer.time));
}

// Progress of a job by its hosts in repair, relative to one with all hosts, which takes the time `useful`: mean and variance.
//
//   symbol           meaning                                                                 unit
//   load             a, mean number of hosts in repair                                       –
//   chance           P(n hosts in repair)                                                    –
//   less             1 − pace with n hosts in repair; `slower` and `squares` are its         –
//                    moments
//   waiting          share of the time in which nothing computes                             –
//   waits            E of the same, for a unit of the rest: failures come in that alone      –
struct Pace {
  double mean = 1.0;
  double variance = 0.0;
  double waiting = 0.0;
};

Pace pace_with_spares(const RunModel& run, Seconds useful) {
  if (!run.spares) {
    return {};
  }
  Hertz hosts;
  for (const RunModel::Failures& f : run.failures) {
    hosts += (f.takes_host ? 1.0 : 0.0) * f.rate;
  }
  const double load = hosts * run.repair;
  if (run.replicas == 0) {
    if (!(load > 0.0)) {
      return {};
    }
    const double waits = load / static_cast<double>(*run.spares + 1) *
                         base::queueing::early_erlang_b(*run.spares, load, useful / run.repair);
    return {1.0 / (1.0 + waits), 0.0, waits / (1.0 + waits)};
  }
  // Hosts in repair while something computes: Poisson, cut where nothing is left. Then the job waits for a host.
  double all = 0.0;     // of the chances
  double slower = 0.0;  // moments of 1 − pace
  double squares = 0.0;
  std::int64_t n = 0;
  const auto most = static_cast<std::int64_t>(load + 12.0 * std::sqrt(load) + 30.0);
  for (; n <= most && run.replicas_left(n) > 0.0; ++n) {
    const auto in_repair = static_cast<double>(n);
    const double chance =
        std::exp((n > 0 ? in_repair * std::log(load) : 0.0) - load - std::lgamma(in_repair + 1.0));
    const double less = 1.0 - run.replicas_left(n);
    all += chance;
    slower += chance * less;
    squares += chance * less * less;
  }
  const double waiting = n > most ? 0.0 : base::queueing::erlang_b(n, load);
  slower = waiting + (1.0 - waiting) * slower / all;
  squares = waiting + (1.0 - waiting) * squares / all;
  const double repairs = useful / run.repair;  // no host is in repair at the start
  slower *= 1.0 + std::expm1(-repairs) / repairs;
  return {1.0 - slower, std::max(0.0, squares - slower * slower), waiting};
}

}  // namespace

Hertz RunModel::rate() const {
  Hertz all;
  for (const Failures& f : failures) {
    all += f.rate;
  }
  return all;
}

double RunModel::replicas_left(std::int64_t in_repair) const {
  const auto missing = static_cast<double>(in_repair - spares.value_or(in_repair));
  if (missing <= 0.0) {
    return 1.0;
  }
  const auto lost = static_cast<std::int64_t>(std::ceil(missing / hosts_of_replica));
  const std::int64_t left = std::max<std::int64_t>(0, replicas - lost);
  return base::as_double(left - left % replicas_together) / base::as_double(replicas);
}

double RunModel::needs_storage() const {
  double share = 1.0;
  for (const Tier& tier : tiers) {
    share -= tier.recovers;
  }
  return share > 1e-9 ? share : 0.0;
}

Seconds best_interval(const RunModel& run) {
  return best_cycle(run, storage_of(run), nearer_than(run, run.tiers.size()));
}

Seconds best_interval(const RunModel& run, std::size_t tier) {
  return best_cycle(run, run.tiers[tier], nearer_than(run, tier));
}

TextbookIntervals textbook_intervals(const RunModel& run) {
  const Hertz rate = run.needs_storage() * run.rate();
  if (!(rate > Hertz{})) {
    return {Seconds::infinity(), Seconds::infinity(), Seconds::infinity()};
  }
  const Seconds between = 1.0 / rate;
  const Seconds stall = run.stall;
  Seconds down = run.read;
  for (const RunModel::Failures& f : run.failures) {
    down += f.rate / run.rate() * f.down;
  }
  const double half = stall / (2.0 * between);
  const Seconds young = base::sqrt(2.0 * (stall * between));
  return {young, half < 1.0 ? (1.0 + std::sqrt(half) / 3.0 + half / 9.0) * young - stall : between,
          base::sqrt(2.0 * ((between + down) * stall) + stall * stall)};
}

WorkWithin work_within(const RunModel& run, Seconds time) {
  // Time is nearly proportional to work, so few rounds suffice.
  const auto done = [&](Seconds (*of)(const RunForecast&)) {
    RunModel m = run;
    m.work = time;
    for (int i = 0; i < kRounds; ++i) {
      const Seconds takes = of(forecast(m)) - run.start_up;
      if (!(takes < Seconds::infinity())) {
        return Seconds{};
      }
      const double factor = (time - run.start_up) / takes;
      m.work *= factor;
      if (std::abs(factor - 1.0) < kExact) {
        break;
      }
    }
    return m.work;
  };
  return {done([](const RunForecast& f) { return f.mean.time; }),
          done([](const RunForecast& f) { return f.p50; }),
          done([](const RunForecast& f) { return f.p95; })};
}

// Mean time, its variance, and from both the quantiles of a lognormal time. A factor is time for a unit of useful time.
//
//   symbol           meaning                                                                 unit
//   paced            1/(v₁·v₂·v), without spares and maintenance                             –
//   below            the same of the nearer tiers; `down` is the part that is downtime       –
//   up               uptime of a level and of those above it                                 –
//   above            1/v of those above it                                                   –
//   waits            1/(1 − B), or of a job that shrinks 1/mean pace                         –
//   planned          1 + maintenance/every                                                   –
//   seen             share of a long run's variance of the pace that a run of x repairs has  –
//   cv, sigma        of the time beyond its least; of its logarithm                          –
RunForecast forecast(const RunModel& run) {
  std::vector<Level> levels;
  Nearer nearer;
  double down = 0.0;
  double stalls = 0.0;
  const auto add = [&](const RunModel::Tier& tier) {
    levels.push_back(level_of(run, tier, nearer));
    const Level& level = levels.back();
    down = level.uptime() * down + nearer.time * level.downtime();
    stalls += tier.stall / tier.interval;
    nearer.add(tier, level);
  };
  for (const RunModel::Tier& tier : run.tiers) {
    add(tier);
  }
  add(storage_of(run));
  const double paced = nearer.time;  // time for useful time, but for spares and maintenance
  const double planned =
      run.maintenance_every > Seconds{} ? 1.0 + run.maintenance_time / run.maintenance_every : 1.0;
  const Pace pace = pace_with_spares(run, paced * run.work);
  const double waits = 1.0 / pace.mean;
  RunForecast f;
  RunOutcome& mean = f.mean;
  mean.time = run.start_up + paced * waits * planned * run.work;
  // A job that waits has no failures; one that has shrunk has.
  mean.interruptions = run.rate() * ((1.0 - pace.waiting) * waits * paced * run.work);

  base::SquareSeconds variance;
  double up = 1.0;
  double above = 1.0;
  double below = paced;
  for (auto level = levels.rbegin(); level != levels.rend(); ++level) {
    below /= level->all();
    up *= level->uptime();
    variance += (up * below * above * above * run.work) * (level->rate * level->square_of_cost());
    above *= level->all();
  }
  variance *= (waits * planned) * (waits * planned);
  if (run.replicas > 0 && run.repair > Seconds{}) {
    // The number of hosts in repair is forgotten in the time of a repair. None is there at the start, so a run that is
    // not much longer than a repair has `seen` only a part of that.
    const double x = mean.time / run.repair;
    const double seen = 1.0 - (2.0 - (2.0 + x) * std::exp(-x)) / x;
    variance += 2.0 * seen * pace.variance * waits * waits * (run.repair * mean.time);
  } else if (run.spares) {  // a wait ends with the first of spares + 1 repairs
    const Seconds waited = paced * (waits - 1.0) * planned * run.work;
    variance += 2.0 * (run.repair / static_cast<double>(*run.spares + 1)) * waited;
  }
  // No run is shorter than its work. The lognormal part of one that shrinks begins there; of the others it begins at zero, as
  // drawn runs say, and is cut.
  const Seconds shortest = run.start_up + run.work;
  const Seconds least = run.replicas > 0 ? shortest : Seconds{};
  const Seconds beyond = mean.time - least;
  const double cv = variance > base::SquareSeconds{} ? base::sqrt(variance) / beyond : 0.0;
  const double sigma = std::sqrt(std::log1p(cv * cv));
  const Seconds middle = beyond * std::exp(-0.5 * sigma * sigma);
  f.p50 = base::max(shortest, least + middle);
  f.p95 = base::max(shortest, least + middle * std::exp(kSpread95 * sigma));

  const double share = run.work / mean.time;  // of the run, a unit of useful time
  mean.shares.useful = share;
  mean.shares.stalls = share * stalls;
  mean.shares.down = share * down;
  mean.shares.lost = share * paced - mean.shares.useful - mean.shares.stalls - mean.shares.down;
  mean.shares.spares = share * paced * (waits - 1.0);
  mean.shares.maintenance = share * paced * waits * (planned - 1.0);
  mean.shares.start_up = run.start_up / mean.time;
  return f;
}

}  // namespace roofcast::sim
