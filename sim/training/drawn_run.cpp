// SPDX-License-Identifier: Apache-2.0
#include "sim/training/drawn_run.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <queue>

#include "base/cancellation.hpp"

namespace roofcast::sim {
namespace {

using base::Hertz;
using base::Seconds;

// A run that is drawn: failures one by one, and what they cost.
class DrawnRun {
 public:
  // `limit`: of the time without start-up and maintenance.
  DrawnRun(const RunModel& run, Seconds limit, base::Random& random)
      : run_(run), limit_(limit), random_(random), pace_(pace_of(run)), since_(run.tiers.size()) {
    std::vector<double> rates;
    for (const RunModel::Failures& f : run.failures) {
      rates.push_back(f.rate.si());
    }
    if (run.rate() > Hertz{}) {
      cause_.emplace(rates);
    }
  }

  RunOutcome run() {
    while (now_ < limit_) {
      base::throw_if_cancelled();
      const Seconds failure = until_failure();
      const Seconds left = limit_ - now_;
      if (works_for(base::min(failure, left)) || failure >= left) {
        break;
      }
      fails();
    }
    RunOutcome f;
    const Seconds work = limit_ < Seconds::infinity() ? done_ : run_.work;
    const Seconds planned = run_.maintenance_every > Seconds{}
                                ? now_ / run_.maintenance_every * run_.maintenance_time
                                : Seconds{};
    f.time = run_.start_up + now_ + planned;
    f.interruptions = static_cast<double>(failures_);
    f.shares = {.useful = work / f.time,
                .stalls = stalled_ / f.time,
                .lost = (now_ - work - stalled_ - down_ - waited_) / f.time,
                .down = down_ / f.time,
                .spares = waited_ / f.time,
                .maintenance = planned / f.time,
                .start_up = run_.start_up / f.time};
    return f;
  }

 private:
  static double pace_of(const RunModel& run) {
    double pace = 1.0;
    for (const RunModel::Tier& tier : run.tiers) {
      pace += tier.stall / tier.interval;
    }
    return pace;
  }
  Seconds until_failure() {
    return cause_ ? random_.exponential(1.0 / run_.rate().si()) * base::second
                  : Seconds::infinity();
  }

  // Hosts that are back from repair join the job.
  void take_back() {
    while (!repaired_.empty() && repaired_.top() <= now_) {
      repaired_.pop();
    }
  }
  std::int64_t in_repair() const { return static_cast<std::int64_t>(repaired_.size()); }
  // Of a job that shrinks: the share of its replicas that compute.
  double replicas_left() const { return run_.replicas > 0 ? run_.replicas_left(in_repair()) : 1.0; }

  // The job runs for so long, unless the run ends before: true.
  bool works_for(Seconds life) {
    while (true) {
      take_back();
      const double left = replicas_left();
      const Seconds joins = left < 1.0 ? repaired_.top() - now_ : Seconds::infinity();
      life -= left < 1.0 ? Seconds{} : whole_cycles(life);
      const bool stalls = stall_ > Seconds{};
      const Seconds useful = base::min(run_.interval - in_cycle_, run_.work - done_);
      const Seconds milestone = stalls ? stall_ : pace_ / left * useful;
      const Seconds saves = saving_ ? saved_after_ : Seconds::infinity();
      const Seconds step = base::min(base::min(life, joins), base::min(milestone, saves));
      now_ += step;
      life -= step;
      saved_after_ -= step;
      if (stalls) {
        stalled_ += step;
        stall_ -= step;
      } else {
        const Seconds work = step == milestone ? useful : step * left / pace_;
        stalled_ += (pace_ - 1.0) * work;
        waited_ += step - pace_ * work;
        done_ += work;
        in_cycle_ += work;
        worked(work);
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
    worked(n * run_.interval);
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

  void worked(Seconds work) {
    for (Seconds& since : since_) {
      since += work;
    }
  }

  // The nearest tier that has what a failure leaves; the number of tiers: storage.
  std::size_t drawn_tier() {
    double left = random_.uniform();
    std::size_t tier = 0;
    while (tier < run_.tiers.size() && left >= run_.tiers[tier].recovers) {
      left -= run_.tiers[tier++].recovers;
    }
    return tier;
  }

  // Useful time that is lost back to the newest copy in a tier that is complete. The nearer tiers take another one there.
  Seconds lost_to(std::size_t at) {
    const RunModel::Tier& tier = run_.tiers[at];
    Seconds lost = std::fmod(since_[at].si(), tier.interval.si()) * base::second;
    if (pace_ * lost < tier.save && since_[at] >= tier.interval) {
      lost += tier.interval;
    }
    lost = base::min(lost, done_ - saved_);
    for (std::size_t i = 0; i < since_.size(); ++i) {
      since_[i] = i <= at ? Seconds{} : base::max(Seconds{}, since_[i] - lost);
    }
    return lost;
  }

  void fails() {
    std::optional<std::size_t> farthest;
    Seconds next;
    Seconds down;
    do {  // a failure during the downtime starts it again
      ++failures_;
      const RunModel::Failures& f = run_.failures[(*cause_)(random_)];
      if (!farthest || *farthest < run_.tiers.size()) {
        farthest = std::max(farthest.value_or(0), drawn_tier());
      }
      const Seconds left = limit_ - now_;
      const Seconds waits = base::min(f.takes_host ? host_taken() : Seconds{}, left);
      down = f.down + (*farthest < run_.tiers.size() ? run_.tiers[*farthest].read : run_.read);
      next = until_failure();
      const Seconds took = base::min(base::min(down, next), left - waits);
      waited_ += waits;
      down_ += took;
      now_ += waits + took;
    } while (next < down && now_ < limit_);
    if (*farthest < run_.tiers.size()) {
      const Seconds lost = lost_to(*farthest);
      done_ -= lost;
      in_cycle_ = base::max(Seconds{}, in_cycle_ - lost);
      return;
    }
    done_ = saved_;
    in_cycle_ = stall_ = {};
    saving_.reset();
    since_.assign(since_.size(), Seconds{});
  }

  // One host goes to repair. The wait for another where no spare is left.
  Seconds host_taken() {
    if (!run_.spares) {
      return {};
    }
    take_back();
    repaired_.push(now_ + random_.exponential(run_.repair.si()) * base::second);
    const bool shrinks = run_.replicas > 0 && replicas_left() > 0.0;
    if (in_repair() <= *run_.spares || shrinks) {
      return {};
    }
    const Seconds back = repaired_.top();
    repaired_.pop();
    return back - now_;
  }

  const RunModel& run_;
  const Seconds limit_;
  base::Random& random_;
  const double pace_;  // time for useful time, with the stalls of the tiers
  std::optional<base::Discrete> cause_;
  Seconds now_;
  Seconds done_;                   // useful time
  Seconds saved_;                  // of it, in storage
  Seconds in_cycle_;               // of it, since the last stall
  std::vector<Seconds> since_;     // of it, since each tier's copies began
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

RunOutcome draw(const RunModel& run, base::Random& random) {
  return DrawnRun(run, Seconds::infinity(), random).run();
}

RunOutcome draw_within(const RunModel& run, Seconds time, base::Random& random) {
  const double planned =
      run.maintenance_every > Seconds{} ? 1.0 + run.maintenance_time / run.maintenance_every : 1.0;
  RunModel endless = run;
  endless.work = Seconds::infinity();
  return DrawnRun(endless, (time - run.start_up) / planned, random).run();
}

}  // namespace roofcast::sim
