// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <string>

#include "sim/cluster/blast_radius.hpp"
#include "sim/cluster/scaling.hpp"
#include "sim/result/metrics.hpp"
#include "sim/result/training_step.hpp"
#include "tests/catch.hpp"

namespace roofcast::sim::unit_sim_cluster_cluster {
namespace {

base::Node job(const std::string& more = "", const std::string& training = "") {
  return base::parse_document(
      "test",
      "system: {base: h100_cluster_128, chips: 2048}\nmodel: llama-3.1-8b\nprecision: bf16\n"
      "deployment: {tensor_parallel: 2, data_parallel: 64}\n"
      "training: {sequence_length: 4096, global_batch: 256, trainer: megatron" +
          training + "}\n" + more);
}

const std::string kRun =
    "run: {steps: 10000, failures: llama3_h100, restart: {time: 5 min}, detection: 1 min, "
    "spare_hosts: 3, repair: 1 d, checkpoint: {interval: 10 min, write: 100 GB/s}}\n";

}  // namespace

TEST_CASE("Weak scaling keeps the work of a rank, strong scaling the global batch", "[unit]") {
  // With optimizer states sharded, more ranks would update fewer parameters each: a step may become faster.
  const base::Node document = job(kRun, ", sharding: none");
  for (const Scaling scaling : {Scaling::weak, Scaling::strong}) {
    const auto steps = scaled_steps(document, {128, 256, 512}, scaling);
    REQUIRE(steps.size() == 3);
    for (const ScaledStep& s : steps) {
      REQUIRE(s.estimate.fits());
      CHECK(s.estimate.gpus == s.gpus);
      const double tokens = 256.0 * 4096.0;
      CHECK(s.estimate.workflow->training.tokens ==
            (scaling == Scaling::weak ? tokens * static_cast<double>(s.gpus) / 128.0 : tokens));
      CHECK(s.efficiency <= 1.0);
      CHECK(s.run_efficiency < s.efficiency);
      CHECK(s.exposed >= 0.0);
    }
    CHECK(steps[0].efficiency == 1.0);
    CHECK(steps[2].efficiency < steps[1].efficiency);
    CHECK(steps[2].estimate.workflow->run->between.si() ==
          Approx(0.25 * steps[0].estimate.workflow->run->between.si()));
  }
}

TEST_CASE("Exchanges of sharded parameters lose more on more GPUs, layer by layer", "[unit]") {
  const auto of = [](const char* sharding) {
    const auto steps = scaled_steps(job("", std::string(", overlap: false, sharding: ") + sharding),
                                    {128, 2048}, Scaling::weak);
    return steps[1].estimate.workflow->training.exchange -
           steps[0].estimate.workflow->training.exchange;
  };
  // 32 layers have 32 times the hops of one exchange, three times a step.
  CHECK(of("parameters") > 10.0 * of("optimizer"));
  CHECK(of("optimizer").si() > 0.0);
}

TEST_CASE("A count that data-parallel ranks cannot make is refused", "[unit]") {
  CHECK_THROWS_AS(scaled_steps(job(), {129}, Scaling::weak), base::InputError);
  CHECK_THROWS_AS(scaled_steps(job(), {1}, Scaling::weak), base::InputError);
  // A count that does not divide the batch has a reason instead.
  const auto steps = scaled_steps(job(), {128, 1024}, Scaling::strong);
  CHECK(steps[0].estimate.fits());
  CHECK_FALSE(reason(steps[1].estimate).empty());
  CHECK(std::isnan(steps[1].efficiency));
}

TEST_CASE("The default counts double to 131,072 GPUs", "[unit]") {
  const auto counts = doubled_gpus(job());
  CHECK(counts.front() == 128);
  CHECK(counts.back() == 131072);
  CHECK(counts.size() == 11);
}

TEST_CASE("A part that fails takes out its GPUs, their hosts and their replicas", "[unit]") {
  const BlastRadius result = blast_radius(job(kRun), 64);
  REQUIRE(result.estimate.fits());
  REQUIRE(result.parts.size() == 4);
  const FailedPart& host = result.parts[0];
  CHECK(host.gpus == 8);
  CHECK(host.hosts == 1);
  CHECK(host.replicas == 4);  // of 2 GPUs
  CHECK(host.rest == Approx(60.0 / 64.0));
  const TrainingRunEstimate& run = *result.estimate.workflow->run;
  const double write = run.checkpoint.si() / 100e9;
  // Detection, restart, the read, half an interval, and the write that was not finished.
  CHECK(host.lost.si() == Approx(360.0 + write + 0.5 * run.interval.si() + write).epsilon(0.01));
  CHECK(host.gpu_hours == Approx(128.0 * host.lost.si() / 3600.0));
  const FailedPart& rack = result.parts[1];
  CHECK(rack.gpus == 32);  // four hosts where the system does not tell
  CHECK(rack.lost == host.lost);
  const FailedPart& leaf = result.parts[2];
  CHECK(leaf.gpus == 32);
  CHECK(leaf.hosts == 4);
  CHECK(leaf.replicas == 16);
  const FailedPart& spine = result.parts[3];
  CHECK_FALSE(spine.stops);
  CHECK(spine.gpus == 0);
  CHECK(spine.rest <= 1.0);
  CHECK(spine.rest > 0.9);
}

TEST_CASE("A leaf of a rail takes a GPU of each host, a rack all of its GPUs", "[unit]") {
  base::Node rails = job(kRun);
  rails["system"]["scale_out.rail_optimised"] = base::scalar_node("true", {});
  const BlastRadius rail = blast_radius(rails, 16);
  CHECK(rail.parts[2].gpus == 8);
  CHECK(rail.parts[2].hosts == 8);
  base::Node racks = job(kRun);
  racks["system"]["base"] = base::scalar_node("gb200_nvl72_x8", {});
  const BlastRadius rack = blast_radius(racks, 64);
  REQUIRE(rack.parts.size() == 4);
  CHECK(rack.parts[1].gpus == 72);
  CHECK(rack.parts[1].hosts == 9);
}

TEST_CASE("A rack of hosts takes as many as the system says", "[unit]") {
  base::Node racks = job(kRun);
  racks["system"]["hosts_per_rack"] = base::scalar_node("2", {});
  const BlastRadius two = blast_radius(racks, 64);
  CHECK(two.hosts_of_rack == 2);
  CHECK(two.parts[1].part == "rack");
  CHECK(two.parts[1].gpus == 16);
  CHECK(two.parts[1].replicas == 8);
  racks["system"]["hosts_per_rack"] = base::scalar_node("1", {});
  CHECK(blast_radius(racks, 64).parts.size() == 3);  // a rack is a host
}

TEST_CASE("A rack takes one replica where the stages of a replica are in it, and many otherwise",
          "[unit]") {
  const auto replicas = [](const std::string& order) {
    const BlastRadius rack = blast_radius(
        base::parse_document(
            "test",
            "system: {base: gb200_nvl72_x8, chips: 1024}\nmodel: llama-3.1-70b\nprecision: bf16\n"
            "deployment: {tensor_parallel: 4, pipeline_parallel: 16, data_parallel: 16}\n"
            "training: {sequence_length: 4096, global_batch: 256, trainer: megatron, rank_order: " +
                order + "}\n" + kRun),
        64);
    REQUIRE(rack.parts.size() == 4);
    return rack.parts[1].replicas;
  };
  // Replicas of 64 GPUs in racks of 72: the first rack has one and an eighth.
  CHECK(replicas("tp-cp-pp-dp") == 2);
  CHECK(replicas("tp-cp-dp-pp") == 16);
}

TEST_CASE("Replicas that share experts go on in whole groups", "[unit]") {
  const BlastRadius result = blast_radius(
      base::parse_document(
          "test",
          "system: h100_cluster_128\nmodel: qwen3-30b-a3b\nprecision: bf16\ndeployment: "
          "{tensor_parallel: 2, expert_parallel: 32, data_parallel: 64}\ntraining: "
          "{sequence_length: 4096, global_batch: 256, recompute: full, trainer: megatron}\n" +
              kRun),
      64);
  INFO(reason(result.estimate));
  REQUIRE(result.estimate.fits());
  // A host has 4 replicas, of the 16 that hold the experts once: 3 of 4 such groups are left.
  CHECK(result.parts[0].replicas == 4);
  CHECK(result.parts[0].rest == 0.75);
}

TEST_CASE("Copies in memory save what one host loses, not what a leaf switch does", "[unit]") {
  const BlastRadius without = blast_radius(job(kRun), 64);
  base::Node document = job(kRun);
  document["run"]["checkpoint"]["memory"]["interval"] = base::scalar_node("30 s", {});
  document["run"]["checkpoint"]["memory"]["recovers"] = base::scalar_node("0.9", {});
  const BlastRadius with = blast_radius(document, 64);
  CHECK(with.parts[0].lost < without.parts[0].lost);
  CHECK(with.parts[2].lost == without.parts[2].lost);
}

TEST_CASE("A blast radius needs a run", "[unit]") {
  CHECK_THROWS_AS(blast_radius(job(), 64), base::InputError);
}

}  // namespace roofcast::sim::unit_sim_cluster_cluster
