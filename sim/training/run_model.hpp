// SPDX-License-Identifier: Apache-2.0
//
// A training run that failures interrupt: how long it takes, in closed form. sim/training/drawn_run.hpp draws it.
//
// Failures are a Poisson process. Each one stops all ranks. After a downtime R the job goes on from its newest checkpoint
// that is complete. A failure during a downtime starts it again. A cycle of checkpoints is τ of useful time and a stall c.
// A checkpoint is complete s after its stall.
//
//   progress   v = λ τ q e^(−λs) / (e^(λ(τ+c)) − 1)         useful time per time, q = E[e^(−λR)]
//   best τ     Where v is largest: λτ = 1 − e^(−λ(τ+c)). For λ(τ+c) ≪ 1 it is Young's √(2c/λ); never below s − c.
//   tiers      Shares of the failures go on from copies in the memory of other hosts, and from the hosts' own disks. Between
//              the others, such failures slow progress by a factor v₁ of the same form, so that a cycle of the tier above
//              takes τ/v₁ + c', one of storage τ/(v₁·v₂) + c'. A stall is longer by what such failures cost in it:
//              c' = c·(1 + λ₁·(E[D₁] + half a cycle)), and they start a downtime of a farther tier again. So the
//              best τ of each tier is found on its own.
//   spares     A failure that finds all S spares in repair waits for the first of S + 1 repairs. Of the time in which the
//              job does not wait, spares are all in repair for the share P, of a loss system that starts empty
//              (base/queueing/erlang.hpp), a = failures of hosts · repair. So waits are the share B of the time,
//              B/(1 − B) = a P/(S + 1); of a long run, B(S+1, a) of Erlang.
//   shrinks    Without a spare, the job goes on with the replicas whose hosts are left: time is divided by
//              E[1 − ⌈(n − S)⁺/h⌉/d], with n hosts in repair, Poisson of mean a, none at the start. Hosts that come back
//              join without a stop. With nothing left the job waits, as above. Where replicas share experts, whole groups
//              of those that do are left.
//   in all     time = start-up + useful · (1 + stragglers) / (v · (1 − B) · every/(every + maintenance))
//   within     The work done in a given time: that of which the mean, the median or the 95 % quantile of the time is as long.
//   variance   (time/failures) · Σ rate · E[(R + lost/v)²]; quantiles are those of a lognormal time
//
//   symbol     meaning                                                                         unit
//   λ          failures of the job: rate of a GPU times GPUs                                   1/s
//   R          detection + restart + reading the checkpoint                                    s
//   τ, c       useful time between checkpoints; time that ranks stand still for one            s
//   s          from the end of the stall until the checkpoint can be used                      s
//   B          share of the time in which the job waits for a host                             –
//   h, d       hosts of a replica; replicas                                                    –
//
// With s = 0 and one R, v is Daly's (Future Generation Computer Systems 22, 2006). Repairs are
// exponential; in a long run their distribution does not matter. Errors: checkpoints of a slow disk that a failure cuts off; drawn
// runs differ by less than 1 % (tests/laws).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/units/quantity.hpp"
#include "sim/result/training_step.hpp"

namespace roofcast::sim {

struct RunModel {
  struct Failures {
    base::Hertz rate;    // of the job
    base::Seconds down;  // R, without the read of a checkpoint
    bool takes_host = false;
  };
  // Checkpoints nearer than storage.
  struct Tier {
    const char* place = "";
    double recovers = 0;     // share of the failures that go on from it
    base::Seconds interval;  // useful time, as `interval` of storage
    base::Seconds stall;
    base::Seconds save;
    base::Seconds read;
  };
  std::vector<Failures> failures;
  base::Seconds work;  // useful time of the run, stragglers included
  base::Seconds interval;
  base::Seconds stall;
  base::Seconds save;
  base::Seconds read;       // of a checkpoint from storage
  std::vector<Tier> tiers;  // the nearest first
  std::optional<std::int64_t> spares;
  std::int64_t replicas = 0;  // of a job that shrinks without a spare; 0: it waits
  double hosts_of_replica = 1;
  std::int64_t replicas_together =
      1;  // that share experts: the job goes on with a multiple of these
  base::Seconds repair;
  base::Seconds maintenance_every;  // 0: never
  base::Seconds maintenance_time;
  base::Seconds start_up;

  base::Hertz rate() const;      // of all failures
  double needs_storage() const;  // share of them
  // Share of the replicas that compute while so many hosts are in repair.
  double replicas_left(std::int64_t in_repair) const;
};

struct RunForecast {
  RunOutcome mean;
  base::Seconds p50;  // of the time
  base::Seconds p95;
};

RunForecast forecast(const RunModel& run);

// The useful time that a run gets done within a time; nothing where it never gets on.
struct WorkWithin {
  base::Seconds mean;
  base::Seconds p50;  // half of the runs get so much done, or more
  base::Seconds p5;   // 19 of 20 runs do
};

WorkWithin work_within(const RunModel& run, base::Seconds time);

// The intervals with the most progress: of storage, and of one of the tiers, whose intervals below it are known.
base::Seconds best_interval(const RunModel& run);
base::Seconds best_interval(const RunModel& run, std::size_t tier);

// What textbooks give for the same: useful time between checkpoints in storage, of M = 1/rate of the failures that need it, a
// stall c and a downtime R. They know neither the write beside the steps nor the nearer tiers. Infinite without failures.
//
//   Young          √(2cM)                                              CACM 17, 1974
//   Daly           √(2cM) (1 + √(c/2M)/3 + c/18M) − c; M for c ≥ 2M     Future Generation Computer Systems 22, 2006
//   availability   √(2(M + R)c + c²)                                   arXiv 2410.18124, without the stall itself
struct TextbookIntervals {
  base::Seconds young;
  base::Seconds daly;
  base::Seconds availability;
};

TextbookIntervals textbook_intervals(const RunModel& run);

}  // namespace roofcast::sim
