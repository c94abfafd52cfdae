// SPDX-License-Identifier: Apache-2.0
#include "sim/training/training_run.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "base/document/notes.hpp"
#include "sim/estimate.hpp"
#include "sim/result/metrics.hpp"
#include "sim/scenario/sections.hpp"
#include "tests/catch.hpp"

namespace roofcast::sim::unit_sim_training_training_run {
namespace {

ServingEstimate estimated(const std::string& run, const std::string& length = "10000",
                          const std::string& more = "",
                          const std::string& system = "h100_cluster_128") {
  const Scenario s = read_scenario(base::parse_document(
      "test", "system: " + system +
                  "\nmodel: llama-3.1-8b\nprecision: bf16\ndeployment: {data_parallel: "
                  "16}\ntraining: {sequence_length: 2048, global_batch: 128, trainer: "
                  "megatron}\nrun: {checkpoint: {write: 100 GB/s}, " +
                  (length.find(':') == std::string::npos ? "steps: " : "") + length + ", " + run +
                  "}\n" + more));
  Workspace workspace;
  return estimate(view(s), workspace);
}

}  // namespace

TEST_CASE("A run that failures never let go on is infeasible and says so", "[unit]") {
  const ServingEstimate e = estimated(
      "failures: {per_thousand_gpu_days: {gpu: 1000, source: an absurd rate}}, restart: {time: 2 "
      "d}");
  CHECK_FALSE(e.fits());
  CHECK(reason(e).find("the run takes longer than") != std::string::npos);
}

TEST_CASE("The reason of an endless run is what takes most of the time that is lost", "[unit]") {
  const std::string failing = "failures: llama3_h100, restart: {time: 5 min}, ";
  const std::string evaluates =
      reason(estimated(failing + "evaluation: {every_steps: 1, time: 10 d}"));
  CHECK(evaluates.find("most of it evaluation; see run.evaluation") != std::string::npos);
  CHECK(evaluates.find("failures") == std::string::npos);
  CHECK(reason(estimated(failing + "stragglers: 10", "1e9")).find("most of it stragglers") !=
        std::string::npos);
  CHECK(reason(estimated("failures: none, restart: {time: 5 min}", "1e12"))
            .find("most of it steps") != std::string::npos);
}

TEST_CASE("A run without failures has no time between them, and every other metric", "[unit]") {
  const ServingEstimate e = estimated("failures: none, restart: {time: 5 min}");
  REQUIRE(e.fits());
  for (const Metric& metric : metrics()) {
    if (metric.of_run) {
      INFO(metric.name);
      const bool of_failures =
          metric.name == "between_failures_s" || metric.name == "checkpoint_young_s" ||
          metric.name == "checkpoint_daly_s" || metric.name == "checkpoint_availability_s";
      CHECK(std::isfinite(metric.value(e)) ==
            (!of_failures && !metric.of_prices && metric.needs[0].empty()));
    }
  }
  CHECK(e.workflow->run->mean.interruptions == 0.0);
}

TEST_CASE("The CO2 of a run is that of its GPUs and hosts, through the site and the grid",
          "[unit]") {
  const std::string run =
      "failures: llama3_h100, restart: {time: 5 min}, spare_hosts: 1, repair: 1 d";
  CHECK(std::isnan(find_metric("run_co2_t")->value(estimated(run))));
  const ServingEstimate unknown = estimated(run, "10000", "prices: us_colocation\n");
  REQUIRE(unknown.fits());
  CHECK(std::isnan(find_metric("run_co2_t")->value(unknown)));  // power of the cluster's hosts
  const ServingEstimate e =
      estimated(run, "10000", "prices: us_colocation\n",
                "{base: h100_cluster_128, host_power: {per_gpu: 500 W, source: a question}}");
  REQUIRE(e.fits());
  const TrainingRunEstimate& r = *e.workflow->run;
  const double kilowatt_hours = (r.energy.si() + 500.0 * r.gpu_hours * 3600.0) / 3.6e6 * 1.54;
  CHECK(find_metric("run_co2_t")->value(e) == Approx(kilowatt_hours * 366.0 / 1e6));
}

TEST_CASE("A run of so many days trains the tokens whose run takes those days", "[unit]") {
  const std::string failing =
      "failures: {per_thousand_gpu_days: {gpu: 50, source: a poor cluster}}, restart: {time: 20 "
      "min}, start_up: 1 h, maintenance: {every: 2 d, time: 1 h}";
  const auto run = [&](const std::string& length) {
    const ServingEstimate e = estimated(failing, length);
    REQUIRE(e.fits());
    return *e.workflow->run;
  };
  const TrainingRunEstimate days = run("days: 10");
  CHECK(days.mean.time.si() == Approx(864'000.0).epsilon(1e-9));
  CHECK(days.p95 == days.mean.time);
  CHECK(days.tokens_p5 < days.tokens_p50);
  CHECK(days.gpu_hours == Approx(16.0 * 240.0));
  const double step_tokens = 128.0 * 2048.0;
  const auto steps = [&](double tokens) { return std::to_string(tokens / step_tokens); };
  CHECK(run("steps: " + steps(days.tokens)).mean.time.si() == Approx(864'000.0).epsilon(1e-6));
  CHECK(run("steps: " + steps(days.tokens_p50)).p50.si() == Approx(864'000.0).epsilon(1e-6));
  CHECK(run("steps: " + steps(days.tokens_p5)).p95.si() == Approx(864'000.0).epsilon(1e-6));
  const TrainingRunEstimate tokens = run("tokens: 1e9");
  CHECK(tokens.tokens == std::ceil(1e9 / step_tokens) * step_tokens);
  CHECK(std::isnan(tokens.tokens_p5));
  CHECK(tokens.p95 > tokens.p50);
}

TEST_CASE("A run whose days hold no step is infeasible and says so", "[unit]") {
  const ServingEstimate e = estimated("failures: none, restart: {time: 0 s}", "days: 0.001", "",
                                      "{base: h100_cluster_128, chip.tensor.bf16: x0.001}");
  CHECK_FALSE(e.fits());
  CHECK(reason(e).find("not one step of") != std::string::npos);
}

TEST_CASE("A run that tells no failures has those of Llama 3 and says so", "[unit]") {
  base::take_notes();
  const ServingEstimate silent = estimated("restart: {time: 5 min}");
  const auto notes = base::take_notes();
  CHECK(std::any_of(notes.begin(), notes.end(), [](const std::string& note) {
    return note.find("llama3_h100") != std::string::npos &&
           note.find("arXiv 2407.21783") != std::string::npos;
  }));
  const ServingEstimate told = estimated("failures: llama3_h100, restart: {time: 5 min}");
  CHECK(base::take_notes().empty());
  REQUIRE(silent.fits());
  CHECK(silent.workflow->run->between == told.workflow->run->between);
  CHECK(silent.workflow->run->mean.time == told.workflow->run->mean.time);
}

TEST_CASE("What a spare host saves is the run without it less the run with it", "[unit]") {
  const auto run = [](int spares) {
    const ServingEstimate e = estimated(
        "failures: {per_thousand_gpu_days: {gpu: 100, source: a poor cluster}}, restart: {time: 5 "
        "min}, repair: 3 d, spare_hosts: " +
        std::to_string(spares));
    REQUIRE(e.fits());
    return *e.workflow->run;
  };
  const TrainingRunEstimate none = run(0);
  const TrainingRunEstimate one = run(1);
  CHECK(none.spare->time.si() == Approx((none.mean.time - one.mean.time).si()));
  CHECK(none.spare->usd == Approx(none.usd - one.usd));
  CHECK(none.spare->time > one.spare->time);  // each further one saves less
  CHECK(run(9).spare->usd < 0.0);             // and in the end costs more than it saves
  CHECK_FALSE(
      estimated("failures: llama3_h100, restart: {time: 5 min}").workflow->run->spare.has_value());
}

TEST_CASE("The stops of a run are its interruptions and its maintenance", "[unit]") {
  const ServingEstimate e = estimated(
      "failures: llama3_h100, restart: {time: 5 min}, maintenance: {every: 23 h, time: 1 h}",
      "days: 30");
  REQUIRE(e.fits());
  CHECK(find_metric("stops")->value(e) == Approx(e.workflow->run->mean.interruptions + 30.0));
}

TEST_CASE("Evaluations take their time once in so many steps", "[unit]") {
  const ServingEstimate without = estimated("failures: none, restart: {time: 5 min}");
  const ServingEstimate with = estimated(
      "failures: none, restart: {time: 5 min}, evaluation: {every_steps: 100, time: 30 s}");
  REQUIRE(with.fits());
  const RunOutcome& mean = with.workflow->run->mean;
  // 10,000 steps, 100 evaluations
  CHECK(mean.shares.evaluation * mean.time.si() == Approx(3000.0));
  CHECK(mean.time.si() == Approx(without.workflow->run->mean.time.si() + 3000.0).epsilon(2e-3));
  CHECK(mean.shares.useful * mean.time.si() == Approx(with.workflow->run->ideal.si()));
}

TEST_CASE("A run that shrinks takes less time than one that waits for a host", "[unit]") {
  const std::string failing =
      "failures: {per_thousand_gpu_days: {gpu: 100, source: a poor cluster}}, restart: {time: 5 "
      "min}, repair: 12 h, spare_hosts: 0, shrinks: ";
  const ServingEstimate waiting = estimated(failing + "false");
  const ServingEstimate shrinking = estimated(failing + "true");
  REQUIRE(waiting.fits());
  REQUIRE(shrinking.fits());
  CHECK(shrinking.workflow->run->mean.time < waiting.workflow->run->mean.time);
  // 16 GPUs on two hosts: without a host half of the replicas go on. At the start no host is in repair.
  const double load = 16.0 * 100.0 / (1000.0 * 86400.0) * 43200.0;
  const double nothing_left = 0.5 * load * load / (1.0 + load + 0.5 * load * load);
  const double steady = nothing_left + (1.0 - nothing_left) * 0.5 * load / (1.0 + load);
  const double share = shrinking.workflow->run->mean.shares.spares;
  CHECK(share > 0.0);
  CHECK(share < steady);
}

TEST_CASE("A run that shrinks goes on with whole groups of replicas that share experts", "[unit]") {
  RunModel m;
  m.spares = 1;
  m.replicas = 16;
  m.hosts_of_replica = 0.5;
  m.replicas_together = 4;
  CHECK(m.replicas_left(1) == 1.0);
  CHECK(m.replicas_left(2) == 0.75);
  CHECK(m.replicas_left(3) == 0.75);
  CHECK(m.replicas_left(4) == 0.5);
  CHECK(m.replicas_left(9) == 0.0);
}

TEST_CASE("A checkpoint has what is trained, and a restart reads the rest too", "[unit]") {
  const auto model = [](const std::string& name, const std::string& training) {
    const Scenario s = read_scenario(base::parse_document(
        "test", "system: {base: h100_cluster_128, chips: 2048}\nmodel: " + name +
                    "\nprecision: bf16\ndeployment: {data_parallel: 16}\ntraining: "
                    "{sequence_length: 2048, global_batch: 128, trainer: megatron" +
                    training +
                    "}\nrun: {steps: 100, failures: none, restart: {time: 5 min}, checkpoint: "
                    "{interval: 1 h, write: 1 GB/s}}\n"));
    return run_model(view(s), base::second, 1e6, 16);
  };
  constexpr double kAdam = 2.0 + 4.0 + 2.0 * 4.0;
  const double adapters = 32.0 * 16 * (4096 + 6144);
  const RunModel whole = model("llama-3.1-8b", "");
  const RunModel lora = model("llama-3.1-8b", ", lora: {rank: 16, layers: [qkv]}");
  CHECK(lora.save.si() == Approx(kAdam * adapters / 1e9));
  CHECK(lora.read.si() == Approx(lora.save.si() + whole.save.si() / kAdam * 2.0));
  CHECK(whole.read == whole.save);
  // Its module for further tokens has 11.5 of 671 billion parameters.
  CHECK(model("deepseek-v3", ", mtp: 1").save > 1.01 * model("deepseek-v3", "").save);
}

TEST_CASE("An interval shorter than a write takes is longer, and a note says so", "[unit]") {
  base::take_notes();
  const Scenario s = read_scenario(base::parse_document(
      "test",
      "system: h100_cluster_128\nmodel: llama-3.1-8b\nprecision: bf16\ndeployment: {data_parallel: "
      "16}\ntraining: {sequence_length: 2048, global_batch: 128, trainer: megatron}\nrun: {steps: "
      "10000, failures: llama3_h100, restart: {time: 5 min}, checkpoint: {interval: 1 min, write: "
      "500 MB/s}}\n"));
  Workspace workspace;
  REQUIRE(estimate(view(s), workspace).fits());
  const auto notes = base::take_notes();
  CHECK(std::any_of(notes.begin(), notes.end(), [](const std::string& note) {
    return note.find("is shorter than a write takes") != std::string::npos;
  }));
}

TEST_CASE("Faster storage never makes a run longer, and a disk that stalls more is left out",
          "[unit]") {
  const auto run_with = [](const char* write, const char* disk) {
    const Scenario s = read_scenario(base::parse_document(
        "test",
        "system: h100_cluster_128\nmodel: llama-3.1-8b\nprecision: bf16\ndeployment: "
        "{data_parallel: 16}\ntraining: {sequence_length: 2048, global_batch: 128, "
        "trainer: megatron}\nrun: {steps: 1000000, failures: {per_thousand_gpu_days: "
        "{gpu: 20, source: a poor cluster}}, restart: {time: 10 min}, checkpoint: "
        "{asynchronous: false, write: " +
            std::string(write) + ", disk: " + disk + "}}\n"));
    Workspace workspace;
    const ServingEstimate e = estimate(view(s), workspace);
    REQUIRE(e.fits());
    return *e.workflow->run;
  };
  const char* slow = "{recovers: 0.1, write: 20 MB/s}";
  base::Seconds last = base::Seconds::infinity();
  for (const char* write : {"1 GB/s", "10 GB/s", "100 GB/s", "1 TB/s", "10 TB/s"}) {
    const TrainingRunEstimate run = run_with(write, slow);
    INFO(write << ": " << run.mean.time.si() << " s");
    CHECK(run.mean.time <= last);
    CHECK(run.interval == run.best_interval);
    last = run.mean.time;
  }
  CHECK(run_with("10 TB/s", slow).tiers.empty());
  CHECK(run_with("1 GB/s", "{recovers: 0.9, write: 2 GB/s}").tiers.size() == 1);
  CHECK(run_with("10 TB/s", "{recovers: 0.1, write: 20 MB/s, interval: 1 h}").tiers.size() == 1);
}

TEST_CASE("No percentile of a run that shrinks is below its work, however long repairs take",
          "[unit]") {
  for (const char* repair : {"1 h", "12 h", "30 d", "1000 d"}) {
    const ServingEstimate e = estimated(
        "failures: {per_thousand_gpu_days: {gpu: 20, source: a poor cluster}}, restart: {time: 5 "
        "min}, spare_hosts: 0, shrinks: true, repair: " +
        std::string(repair));
    INFO(repair);
    REQUIRE(e.fits());
    const TrainingRunEstimate& run = *e.workflow->run;
    CHECK(run.p50 >= run.ideal);
    CHECK(run.p50 <= run.p95);
    CHECK(run.mean.time < run.p95);
  }
}

}  // namespace roofcast::sim::unit_sim_training_training_run
