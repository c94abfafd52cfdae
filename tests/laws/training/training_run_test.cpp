// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <vector>

#include "base/statistics/random.hpp"
#include "sim/training/drawn_run.hpp"
#include "tests/catch.hpp"

namespace roofcast::laws::laws_training_training_run {
namespace {

using base::second;
using base::Seconds;
using sim::RunModel;

RunModel plain(double between, double down, double stall, double interval, double work) {
  RunModel m;
  m.failures = {{1.0 / between * base::hertz, down * second, true}};
  m.stall = stall * second;
  m.interval = interval * second;
  m.work = work * second;
  return m;
}

// Between 20 minutes and 3 days between failures, some fifty failures in a run.
RunModel random_run(base::Random& random) {
  const auto between = [&](double least, double most) {
    return least * std::pow(most / least, random.uniform());
  };
  RunModel m;
  const double mtbf = between(1200.0, 250'000.0);
  const auto kinds = random.integer(1, 4);
  for (std::int64_t i = 0; i < kinds; ++i) {
    m.failures.push_back({1.0 / (mtbf * static_cast<double>(kinds)) * base::hertz,
                          between(0.002, 0.2) * mtbf * second, random.uniform() < 0.5});
  }
  m.stall = between(1e-4, 0.01) * mtbf * second;
  m.save = random.uniform() < 0.5 ? Seconds{} : between(1.0, 10.0) * m.stall;
  m.read = random.uniform() < 0.5 ? Seconds{} : between(1e-3, 0.02) * mtbf * second;
  m.work = 50.0 * mtbf * second;
  if (random.uniform() < 0.4) {
    RunModel::Tier& memory = m.tiers.emplace_back();
    memory.recovers = random.uniform(0.3, 0.95);
    memory.interval = between(0.005, 0.03) * mtbf * second;
    memory.stall = between(1e-3, 0.02) * memory.interval;
  }
  m.interval = random.uniform() < 0.5 ? best_interval(m)
                                      : base::max(m.save, between(0.01, 0.3) * mtbf * second);
  for (RunModel::Tier& tier : m.tiers) {
    tier.interval = base::min(tier.interval, m.interval);
  }
  if (random.uniform() < 0.4) {
    m.repair = between(0.2, 3.0) * mtbf * second;
    m.spares = random.integer(0, 6);
  }
  if (random.uniform() < 0.3) {
    m.maintenance_every = 10.0 * mtbf * second;
    m.maintenance_time = 0.2 * mtbf * second;
  }
  m.start_up = random.uniform(0.0, 0.5) * mtbf * second;
  return m;
}

constexpr int kDraws = 1000;

// The mean time of drawn runs, each of which `take` is given.
template <class Take>
Seconds drawn_mean(const RunModel& m, base::Random& draws, int count, Take take) {
  Seconds mean;
  for (int draw = 0; draw < count; ++draw) {
    const sim::RunOutcome drawn = sim::draw(m, draws);
    mean += drawn.time / static_cast<double>(count);
    take(drawn);
  }
  return mean;
}

}  // namespace

TEST_CASE("A drawn training run takes as long as the closed form says", "[laws]") {
  base::Random random(1, "runs");
  int all_beyond = 0;
  constexpr int kRuns = 200;
  for (int i = 0; i < kRuns; ++i) {
    const RunModel m = random_run(random);
    const sim::RunForecast closed = forecast(m);
    double interruptions = 0.0;
    int beyond = 0;
    base::Random draws(static_cast<std::uint64_t>(i), "draws");
    const Seconds mean = drawn_mean(m, draws, kDraws, [&](const sim::RunOutcome& drawn) {
      interruptions += drawn.interruptions / kDraws;
      beyond += drawn.time > 1.002 * closed.p95 ? 1 : 0;
    });
    INFO(i << " of " << kRuns << ": " << closed.mean.time.si() << " s, drawn " << mean.si()
           << " s; " << m.tiers.size() << " tiers below storage, which " << m.needs_storage()
           << " need, spares " << m.spares.value_or(-1) << ", beyond p95 " << beyond);
    // The draws leave a standard error of at most 0.5 %, where the spares of a short run are often all in repair, and mostly
    // below 0.1 %.
    CHECK(std::abs(mean / closed.mean.time - 1.0) < 0.01);
    CHECK(std::abs(interruptions / closed.mean.interruptions - 1.0) < 0.03);
    CHECK(beyond <= kDraws / 6);
    all_beyond += beyond;
  }
  CHECK(all_beyond / static_cast<double>(kRuns * kDraws) == Approx(0.05).margin(0.015));
}

TEST_CASE(
    "A drawn run that is not much longer than a repair waits for spares as the closed form says",
    "[laws]") {
  base::Random random(10, "long repairs");
  for (int i = 0; i < 60; ++i) {
    RunModel m = random_run(random);
    m.failures.front().takes_host = true;
    m.repair = 0.1 * std::pow(30.0, random.uniform()) * m.work;
    m.spares = random.integer(0, 60);
    const sim::RunForecast closed = forecast(m);
    double waits = 0.0;
    base::Random draws(static_cast<std::uint64_t>(i), "draws of long repairs");
    const Seconds mean = drawn_mean(m, draws, kDraws, [&](const sim::RunOutcome& drawn) {
      waits += drawn.shares.spares * drawn.time / closed.mean.time / kDraws;
    });
    INFO(i << ": " << closed.mean.time.si() << " s, drawn " << mean.si() << " s; spares "
           << *m.spares << ", waits " << closed.mean.shares.spares << ", drawn " << waits);
    // Waits of a few runs that are as long as the rest leave a standard error of up to 2 %.
    CHECK(std::abs(mean / closed.mean.time - 1.0) < 0.06);
  }
}

// Copies in memory and on disks, of which storage leaves a fifth of the failures at least.
RunModel random_run_of_three_tiers(base::Random& random) {
  RunModel m = random_run(random);
  const Seconds between = 1.0 / m.rate();
  m.tiers.clear();
  RunModel::Tier& memory = m.tiers.emplace_back();
  memory.recovers = random.uniform(0.3, 0.6);
  memory.interval = random.uniform(0.003, 0.02) * between;
  memory.stall = random.uniform(0.001, 0.02) * memory.interval;
  RunModel::Tier& disk = m.tiers.emplace_back();
  disk.recovers = random.uniform(0.05, 0.2);
  disk.interval = random.uniform(2.0, 5.0) * memory.interval;
  disk.stall = random.uniform(0.001, 0.02) * disk.interval;
  disk.save = random.uniform(0.0, 0.5) * disk.interval;
  disk.read = random.uniform(0.0, 0.01) * between;
  if (random.uniform() < 0.5) {
    for (std::size_t tier = 0; tier < m.tiers.size(); ++tier) {
      m.tiers[tier].interval = best_interval(m, tier);
    }
    m.interval = best_interval(m);
  }
  m.interval = base::max(m.interval, 2.0 * disk.interval);
  return m;
}

TEST_CASE("A drawn run with checkpoints in three tiers takes as long as the closed form says",
          "[laws]") {
  base::Random random(6, "three tiers");
  constexpr int kRuns = 200;
  for (int i = 0; i < kRuns; ++i) {
    const RunModel m = random_run_of_three_tiers(random);
    const sim::RunForecast closed = forecast(m);
    double lost = 0.0;
    double down = 0.0;
    base::Random draws(static_cast<std::uint64_t>(i), "draws of three tiers");
    const Seconds mean = drawn_mean(m, draws, kDraws, [&](const sim::RunOutcome& drawn) {
      lost += drawn.shares.lost / kDraws;
      down += drawn.shares.down / kDraws;
    });
    INFO(i << ": " << closed.mean.time.si() << " s, drawn " << mean.si() << " s; storage needed by "
           << m.needs_storage() << ", lost " << closed.mean.shares.lost << ", drawn " << lost
           << ", down " << closed.mean.shares.down << ", drawn " << down);
    CHECK(std::abs(mean / closed.mean.time - 1.0) < 0.01);
    CHECK(std::abs(lost - closed.mean.shares.lost) < 0.01);
    CHECK(std::abs(down - closed.mean.shares.down) < 0.01);
  }
}

TEST_CASE("No other interval of a tier is better than the best one", "[laws]") {
  base::Random random(7, "intervals of tiers");
  for (int i = 0; i < 100; ++i) {
    RunModel m = random_run_of_three_tiers(random);
    for (std::size_t tier = 0; tier < m.tiers.size(); ++tier) {
      m.tiers[tier].interval = best_interval(m, tier);
    }
    m.interval = best_interval(m);
    const Seconds best = forecast(m).mean.time;
    for (std::size_t tier = 0; tier < m.tiers.size(); ++tier) {
      for (const double factor : {0.5, 0.9, 1.1, 2.0}) {
        RunModel other = m;
        RunModel::Tier& changed = other.tiers[tier];
        changed.interval = base::max(changed.save - changed.stall, factor * changed.interval);
        other.interval = best_interval(other);
        CHECK(best <= forecast(other).mean.time * (1.0 + 1e-9));
      }
    }
  }
}

TEST_CASE("A tier that no failure goes on from costs its stalls only", "[laws]") {
  RunModel m = plain(20'000.0, 400.0, 30.0, 900.0, 1e6);
  const Seconds without = forecast(m).mean.time;
  m.tiers.push_back({"memory", 0.0, 300.0 * second, 3.0 * second, {}, {}});
  CHECK(forecast(m).mean.time > without);
  CHECK(forecast(m).mean.time < 1.02 * without);
  m.tiers[0].recovers = 0.8;
  CHECK(forecast(m).mean.time < without);
}

TEST_CASE("A drawn run that shrinks without a spare takes as long as the closed form says",
          "[laws]") {
  base::Random random(5, "shrinking");
  constexpr int kFewDraws = 200;
  int far = 0;
  for (int i = 0; i < 50; ++i) {
    RunModel m = random_run(random);
    const Seconds between = 1.0 / m.rate();
    m.failures.front().takes_host = true;
    m.repair = random.uniform(0.3, 3.0) * between;
    m.spares = random.integer(0, 3);
    m.replicas = random.integer(8, 64);
    m.hosts_of_replica = std::pow(2.0, static_cast<double>(random.integer(-2, 3)));
    const sim::RunForecast closed = forecast(m);
    double shrunk = 0.0;
    double interruptions = 0.0;
    base::Random draws(static_cast<std::uint64_t>(i), "draws of shrinking");
    const Seconds mean = drawn_mean(m, draws, kFewDraws, [&](const sim::RunOutcome& drawn) {
      shrunk += drawn.shares.spares / kFewDraws;
      interruptions += drawn.interruptions / kFewDraws;
    });
    INFO(i << ": " << closed.mean.time.si() << " s, drawn " << mean.si() << " s; spares "
           << *m.spares << ", replicas " << m.replicas << " of " << m.hosts_of_replica
           << " hosts; share " << closed.mean.shares.spares << ", drawn " << shrunk);
    if (closed.mean.shares.spares > 1.0 / 3.0) {
      continue;  // such a job waits for hosts rather than that it runs
    }
    CHECK(std::abs(mean / closed.mean.time - 1.0) < 0.035);
    CHECK(std::abs(interruptions / closed.mean.interruptions - 1.0) < 0.05);
    // Drawn, downtimes are no longer with fewer replicas.
    CHECK(std::abs(shrunk - closed.mean.shares.spares) < 0.035);
    far += std::abs(mean / closed.mean.time - 1.0) > 0.01 ? 1 : 0;
    RunModel waiting = m;
    waiting.replicas = 0;
    CHECK(closed.mean.time <= forecast(waiting).mean.time);
  }
  CHECK(far <= 5);
}

TEST_CASE("Without a save and with one downtime, a run takes what Daly's formula says", "[laws]") {
  for (const double between : {3600.0, 20'000.0, 300'000.0}) {
    const double down = 400.0;
    const double stall = 30.0;
    const double interval = 900.0;
    const double work = 1e6;
    const double daly = between * std::exp(down / between) *
                        std::expm1((interval + stall) / between) * work / interval;
    CHECK(forecast(plain(between, down, stall, interval, work)).mean.time.si() ==
          Approx(daly).epsilon(1e-9));
  }
}

TEST_CASE(
    "The best interval of checkpoints is Young's where failures are rare, and no other is better",
    "[laws]") {
  RunModel m = plain(1e6, 600.0, 10.0, 1.0, 1e8);
  CHECK(best_interval(m).si() == Approx(std::sqrt(2.0 * 10.0 * 1e6)).epsilon(0.002));
  // The availability optimum of arXiv 2410.18124, stall included, where repairs are short.
  CHECK(best_interval(m).si() + 10.0 ==
        Approx(10.0 + std::sqrt(2.0 * (1e6 + 600.0) * 10.0 + 100.0)).epsilon(0.002));
  base::Random random(2, "intervals");
  for (int i = 0; i < 100; ++i) {
    m = random_run(random);
    m.interval = best_interval(m);
    const Seconds best = forecast(m).mean.time;
    const Seconds least = m.save - m.stall;
    for (const double factor : {0.5, 0.9, 1.1, 2.0}) {
      RunModel other = m;
      other.interval = base::max(least, factor * m.interval);
      CHECK(best <= forecast(other).mean.time * (1.0 + 1e-9));
    }
  }
}

// changlan.org/posts/optimal-checkpointing: 6,000 s between failures, 600 s of recovery, a stall of 10 s and steps of 15 s
// make 24 steps by √(2 (M + R) c), the availability optimum without its c². In this process failures during a downtime
// make the best interval independent of R: it is Daly's.
TEST_CASE("A published example's 24 steps between checkpoints are those of best availability",
          "[laws]") {
  RunModel m = plain(6000.0, 600.0, 10.0, 24.0 * 15.0, 1e7);
  const sim::TextbookIntervals textbook = textbook_intervals(m);
  CHECK(std::round(textbook.availability.si() / 15.0) == 24.0);
  CHECK(textbook.availability.si() == Approx(std::sqrt(2.0 * 6600.0 * 10.0 + 100.0)));
  CHECK(textbook.young.si() == Approx(std::sqrt(120'000.0)));
  CHECK(textbook.daly.si() == Approx(339.776).epsilon(1e-5));
  CHECK(best_interval(m).si() == Approx(textbook.daly.si()).epsilon(0.005));
  const Seconds published = forecast(m).mean.time;
  m.interval = best_interval(m);
  CHECK(published / forecast(m).mean.time < 1.0001);
}

TEST_CASE("Drawn runs get as much done in a given time as the closed form says", "[laws]") {
  base::Random random(8, "runs of given days");
  int all_short = 0;
  constexpr int kRuns = 50;
  for (int i = 0; i < kRuns; ++i) {
    const RunModel m = random_run(random);
    const Seconds time = forecast(m).mean.time;
    const sim::WorkWithin closed = work_within(m, time);
    CHECK(closed.mean / m.work == Approx(1.0).epsilon(1e-9));
    CHECK(closed.p5 < closed.p50);
    Seconds mean;
    int behind = 0;
    base::Random draws(static_cast<std::uint64_t>(i), "draws of given days");
    for (int draw = 0; draw < kDraws; ++draw) {
      const sim::RunOutcome drawn = sim::draw_within(m, time, draws);
      CHECK(drawn.time / time == Approx(1.0).epsilon(1e-9));
      const Seconds work = drawn.shares.useful * drawn.time;
      mean += work / static_cast<double>(kDraws);
      behind += work < 0.998 * closed.p5 ? 1 : 0;
    }
    INFO(i << ": " << closed.mean.si() << " s of work, drawn " << mean.si() << " s; behind p5 "
           << behind);
    CHECK(std::abs(mean / closed.mean - 1.0) < 0.01);
    CHECK(behind <= kDraws / 6);
    all_short += behind;
  }
  CHECK(all_short / static_cast<double>(kRuns * kDraws) == Approx(0.05).margin(0.02));
}

TEST_CASE("Half of all runs take no less time than their work", "[laws]") {
  base::Random random(9, "short runs");
  for (int i = 0; i < 100; ++i) {
    RunModel m = random_run(random);
    for (const double share : {1e-4, 0.01, 1.0}) {
      RunModel shorter = m;
      shorter.work = share * m.work;
      CHECK(forecast(shorter).p50 >= shorter.start_up + shorter.work);
    }
  }
}

TEST_CASE("The shares of a run's time add up to one, closed and drawn", "[laws]") {
  base::Random random(3, "shares");
  for (int i = 0; i < 50; ++i) {
    const RunModel m = random_run(random);
    for (const sim::RunOutcome& f :
         {forecast(m).mean, sim::draw(m, random), sim::draw_within(m, 0.5 * m.work, random)}) {
      const sim::RunShares& s = f.shares;
      CHECK(s.useful + s.stalls + s.lost + s.down + s.spares + s.maintenance + s.start_up ==
            Approx(1.0).epsilon(1e-9));
      for (const double share : {s.useful, s.stalls, s.lost, s.down, s.spares, s.maintenance}) {
        CHECK(share >= -1e-9);
      }
    }
  }
}

TEST_CASE("More of what helps a run makes it no longer", "[laws]") {
  base::Random random(4, "better");
  for (int i = 0; i < 200; ++i) {
    const RunModel m = random_run(random);
    std::vector<RunModel> better(5, m);
    better[0].failures[0].rate = 0.5 * m.failures[0].rate;
    better[1].failures[0].down = 0.5 * m.failures[0].down;
    better[2].stall = 0.5 * m.stall;
    better[3].spares = m.spares ? std::optional(*m.spares + 1) : m.spares;
    better[4].read = 0.5 * m.read;
    for (const RunModel& each : better) {
      CHECK(forecast(each).mean.time <= forecast(m).mean.time * (1.0 + 1e-9));
    }
  }
}

}  // namespace roofcast::laws::laws_training_training_run
