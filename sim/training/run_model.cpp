// SPDX-License-Identifier: Apache-2.0
#include "sim/training/run_model.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <queue>

#include "base/units/square_seconds.hpp"

namespace roofcast::sim {
namespace {

using base::Hertz;
using base::Seconds;

constexpr int kRounds = 60;
constexpr double kSpread95 = 1.6448536269514722;  // standard normal

// A level of checkpoints: failures that recover from it.
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
  // Mean square of what a failure costs: its downtime, and what is computed again at the pace `all`.
  base::SquareSeconds square_of_cost() const {
    const Seconds again = 0.5 * (cycle + stall) + save;
    const base::SquareSeconds spread = (cycle + stall) * (cycle + stall) / 12.0;
    const double pace = all();
    return second_down + 2.0 * pace * again * mean_down + pace * pace * (again * again + spread);
  }
};

Level level_of(const RunModel& run, double share, Seconds read) {
  Level level;
  for (const RunModel::Failures& f : run.failures) {
    level.rate = level.rate + share * f.rate;
  }
  if (!(level.rate > Hertz{})) {
    return level;
  }
  // A downtime D is cut short by a failure after X < R, and another follows: D = min(X, R) + [X < R]·D'.
  level.passes = 0.0;
  double cut = 0.0;  // E[λX; X < R] = E[(λ min(X, R))²]/2
  for (const RunModel::Failures& f : run.failures) {
    const double down = level.rate * (f.down + read);
    const double weight = share * f.rate / level.rate * std::exp(-down);
    level.passes += weight;
    cut += weight * (std::expm1(down) - down);
  }
  const Seconds unit = 1.0 / level.rate;
  level.mean_down = (1.0 - level.passes) / level.passes * unit;
  level.second_down = 2.0 * cut / level.passes * (unit * (unit + level.mean_down));
  return level;
}

Level memory_level(const RunModel& run) {
  Level level = level_of(run, run.memory_recovers, {});
  level.cycle = run.memory_interval;
  level.stall = run.memory_stall;
  return level;
}

// `below`: time for a unit of useful time on the level of memory.
Level storage_level(const RunModel& run, double below, Seconds interval) {
  Level level = level_of(run, 1.0 - run.memory_recovers, run.read);
  level.cycle = below * interval;
  level.stall = run.stall;
  level.save = run.save;
  return level;
}

double time_below(const RunModel& run) {
  return run.memory_recovers > 0.0 ? memory_level(run).all() : 1.0;
}

double blocked(const RunModel& run) {
  Hertz hosts;
  for (const RunModel::Failures& f : run.failures) {
    hosts = hosts + (f.takes_host ? 1.0 : 0.0) * f.rate;
  }
  return run.spares ? erlang_b(*run.spares + 1, hosts * run.repair) : 0.0;
}

}  // namespace

Hertz RunModel::rate() const {
  Hertz all;
  for (const Failures& f : failures) {
    all = all + f.rate;
  }
  return all;
}

double erlang_b(std::int64_t servers, double load) {
  double blocking = 1.0;
  for (std::int64_t n = 1; n <= servers && blocking > 0.0; ++n) {
    blocking = load * blocking / (static_cast<double>(n) + load * blocking);
  }
  return blocking;
}

// λτ' = 1 − e^(−λ(τ'+c)) for the cycle τ' = τ · time_below, by Newton's method from Young's interval.
Seconds best_interval(const RunModel& run) {
  const double below = time_below(run);
  const Hertz rate = (1.0 - run.memory_recovers) * run.rate();
  const Seconds least = base::max(run.save - run.stall, 1e-3 * base::second);
  if (!(rate > Hertz{})) {
    return base::max(least, run.work);
  }
  const double stall = rate * run.stall;
  double x = std::min(1.0, std::sqrt(2.0 * stall));
  for (int i = 0; i < kRounds; ++i) {
    const double decay = std::exp(-(x + stall));
    const double change = (x - 1.0 + decay) / std::max(1.0 - decay, 1e-12);
    x = std::clamp(x - change, 0.5 * x, 1.0);
  }
  return base::min(run.work, base::max(least, x / rate / below));
}

RunForecast forecast(const RunModel& run) {
  const double below = time_below(run);
  const Level storage = storage_level(run, below, run.interval);
  const double waits = 1.0 / (1.0 - blocked(run));
  const double planned =
      run.maintenance_every > Seconds{} ? 1.0 + run.maintenance_time / run.maintenance_every : 1.0;
  const double paced =
      below * storage.all();  // time for useful time, but for spares and maintenance
  RunForecast f;
  f.time = run.start_up + paced * waits * planned * run.work;
  const Seconds failing = paced * run.work;
  f.interruptions = run.rate() * failing;

  base::SquareSeconds variance;
  variance =
      variance + (storage.uptime() * below * run.work) * (storage.rate * storage.square_of_cost());
  double memory_up = 1.0;
  double memory_stalls = 0.0;
  if (run.memory_recovers > 0.0) {
    const Level memory = memory_level(run);
    memory_up = memory.uptime();
    memory_stalls = memory.stall / memory.cycle;
    variance =
        variance + (memory_up * storage.uptime() * storage.all() * storage.all() * run.work) *
                       (memory.rate * memory.square_of_cost());
  }
  variance = (waits * planned) * (waits * planned) * variance;
  if (run.spares) {  // a wait ends with the first of spares + 1 repairs
    const Seconds waited = paced * (waits - 1.0) * planned * run.work;
    variance = variance + 2.0 * (run.repair / static_cast<double>(*run.spares + 1)) * waited;
  }
  const double cv = base::sqrt(variance) / f.time;
  const double sigma = std::sqrt(std::log1p(cv * cv));
  f.p50 = f.time * std::exp(-0.5 * sigma * sigma);
  f.p95 = f.p50 * std::exp(kSpread95 * sigma);

  const double share = run.work / f.time;  // of the run, a unit of useful time
  f.shares.useful = share;
  f.shares.stalls = share * (memory_stalls + run.stall / run.interval);
  f.shares.down = share * (storage.uptime() * (below - memory_up) + below * storage.downtime());
  f.shares.lost = share * paced - f.shares.useful - f.shares.stalls - f.shares.down;
  f.shares.spares = share * paced * (waits - 1.0);
  f.shares.maintenance = share * paced * waits * (planned - 1.0);
  f.shares.start_up = run.start_up / f.time;
  return f;
}

namespace {

// A run that is drawn: failures one by one, and what they cost.
class DrawnRun {
 public:
  DrawnRun(const RunModel& run, base::Random& random)
      : run_(run), random_(random), pace_(pace_of(run)) {
    std::vector<double> rates;
    for (const RunModel::Failures& f : run.failures) {
      rates.push_back(f.rate.si());
    }
    if (run.rate() > Hertz{}) {
      cause_.emplace(rates);
    }
  }

  RunForecast run() {
    while (!works_for(until_failure())) {
      fails();
    }
    RunForecast f;
    const Seconds planned = run_.maintenance_every > Seconds{}
                                ? now_ / run_.maintenance_every * run_.maintenance_time
                                : Seconds{};
    f.time = f.p50 = f.p95 = run_.start_up + now_ + planned;
    f.interruptions = static_cast<double>(failures_);
    f.shares = {.useful = run_.work / f.time,
                .stalls = stalled_ / f.time,
                .lost = (now_ - run_.work - stalled_ - down_ - waited_) / f.time,
                .down = down_ / f.time,
                .spares = waited_ / f.time,
                .maintenance = planned / f.time,
                .start_up = run_.start_up / f.time};
    return f;
  }

 private:
  static double pace_of(const RunModel& run) {
    return run.memory_recovers > 0.0 ? 1.0 + run.memory_stall / run.memory_interval : 1.0;
  }
  Seconds until_failure() {
    return cause_ ? random_.exponential(1.0 / run_.rate().si()) * base::second
                  : Seconds::infinity();
  }

  // The job runs for so long, unless the run ends before: true.
  bool works_for(Seconds life) {
    while (true) {
      life -= whole_cycles(life);
      const bool stalls = stall_ > Seconds{};
      const Seconds useful = base::min(run_.interval - in_cycle_, run_.work - done_);
      const Seconds milestone = stalls ? stall_ : pace_ * useful;
      const Seconds saves = saving_ ? saved_after_ : Seconds::infinity();
      const Seconds step = base::min(life, base::min(milestone, saves));
      now_ += step;
      life -= step;
      saved_after_ -= step;
      if (stalls) {
        stalled_ += step;
        stall_ -= step;
      } else {
        const Seconds work = step == milestone ? useful : step / pace_;
        stalled_ += step - work;
        done_ += work;
        in_cycle_ += work;
        since_restart_ += work;
      }
      if (step == saves) {
        saved_ = *saving_;
        saving_.reset();
      }
      if (done_ >= run_.work) {
        return true;
      }
      if (step == milestone) {
        reached(stalls);
      }
      if (!(life > Seconds{})) {
        return false;
      }
    }
  }

  // From the start of a cycle, passes as many whole ones as neither a failure nor the end disturbs.
  Seconds whole_cycles(Seconds life) {
    const Seconds stalled = run_.stall + (pace_ - 1.0) * run_.interval;
    const Seconds cycle = run_.interval + stalled;
    if (in_cycle_ > Seconds{} || stall_ > Seconds{} || run_.save > cycle) {
      return {};
    }
    const double n = std::floor(std::min(life / cycle, (run_.work - done_) / run_.interval)) - 1.0;
    if (n < 1.0) {
      return {};
    }
    now_ += n * cycle;
    stalled_ += n * stalled;
    done_ += n * run_.interval;
    since_restart_ += n * run_.interval;
    saved_ = done_ - run_.interval;
    saving_ = done_;
    saved_after_ = run_.save;
    return n * cycle;
  }

  // The end of a cycle's useful time, or of its stall.
  void reached(bool stalls) {
    if (!stalls && run_.stall > Seconds{}) {
      stall_ = run_.stall;
      return;
    }
    stall_ = {};
    in_cycle_ = {};
    saving_ = done_;
    saved_after_ = run_.save;
  }

  void fails() {
    bool storage = false;
    Seconds next;
    Seconds down;
    do {  // a failure during the downtime starts it again
      ++failures_;
      const RunModel::Failures& f = run_.failures[(*cause_)(random_)];
      storage = storage || random_.uniform() >= run_.memory_recovers;
      const Seconds waits = f.takes_host ? host_taken() : Seconds{};
      down = f.down + (storage ? run_.read : Seconds{});
      next = until_failure();
      const Seconds took = base::min(down, next);
      waited_ += waits;
      down_ += took;
      now_ += waits + took;
    } while (next < down);
    if (storage) {
      done_ = saved_;
      in_cycle_ = stall_ = {};
      saving_.reset();
    } else {
      const Seconds lost = std::fmod(since_restart_.si(), run_.memory_interval.si()) * base::second;
      done_ -= base::min(lost, done_ - saved_);
      in_cycle_ = base::max(Seconds{}, in_cycle_ - lost);
    }
    since_restart_ = {};
  }

  // One host goes to repair. The wait for another where no spare is left.
  Seconds host_taken() {
    if (!run_.spares) {
      return {};
    }
    while (!repaired_.empty() && repaired_.top() <= now_) {
      repaired_.pop();
    }
    repaired_.push(now_ + random_.exponential(run_.repair.si()) * base::second);
    if (static_cast<std::int64_t>(repaired_.size()) <= *run_.spares) {
      return {};
    }
    const Seconds back = repaired_.top();
    repaired_.pop();
    return back - now_;
  }

  const RunModel& run_;
  base::Random& random_;
  const double pace_;  // time for useful time, with copies in memory
  std::optional<base::Discrete> cause_;
  Seconds now_;
  Seconds done_;                   // useful time
  Seconds saved_;                  // of it, in storage
  Seconds in_cycle_;               // of it, since the last stall
  Seconds since_restart_;          // of it
  Seconds stall_;                  // what is left of a stall
  std::optional<Seconds> saving_;  // useful time that a save under way holds
  Seconds saved_after_;            // until it can be used
  Seconds stalled_;
  Seconds down_;
  Seconds waited_;
  std::int64_t failures_ = 0;
  std::priority_queue<Seconds, std::vector<Seconds>, std::greater<>> repaired_;
};

}  // namespace

RunForecast draw(const RunModel& run, base::Random& random) { return DrawnRun(run, random).run(); }

}  // namespace roofcast::sim
