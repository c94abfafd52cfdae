// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <variant>

#include "sim/estimate.hpp"
#include "sim/result/training_step.hpp"
#include "sim/scenario/sections.hpp"
#include "sim/training/training.hpp"
#include "tests/catch.hpp"

namespace roofcast::sim::laws_training_training {
namespace {

struct Run {
  const char* model;
  const char* deployment;
};
const Run kRuns[] = {
    {"llama-3.1-8b", "tensor_parallel: 2, sequence_parallel: true, data_parallel: 8"},
    {"llama-3.1-70b",
     "tensor_parallel: 8, sequence_parallel: true, pipeline_parallel: 4, data_parallel: 2"},
    {"qwen3-30b-a3b", "expert_parallel: 8, data_parallel: 16"},
    {"nemotron-3-nano-30b-a3b",
     "tensor_parallel: 2, sequence_parallel: true, context_parallel: 2, expert_parallel: 4, "
     "data_parallel: 8"},
};

Scenario scenario_of(const Run& run, const std::string& training, const std::string& system,
                     const std::string& precision) {
  return read_scenario(base::parse_document(
      "test", "system: " + system + "\nmodel: " + run.model + "\nprecision: " + precision +
                  "\ndeployment: {" + run.deployment +
                  "}\ntraining: {sequence_length: 4096, gradients: bf16, trainer: megatron, " +
                  training + "}\n"));
}

TrainingStep step(const Run& run, const std::string& training,
                  const std::string& system = "h100_cluster_128") {
  const Scenario s = scenario_of(run, training, system, "bf16");
  Workspace workspace;
  const ServingEstimate e = estimate(view(s), workspace);
  INFO(run.model << ": " << reason(e));
  REQUIRE(e.fits());
  return e.workflow->training;
}

}  // namespace

TEST_CASE("No training step is faster than its FLOP at the peak", "[laws]") {
  for (const Run& run : kRuns) {
    const TrainingStep t = step(run, "global_batch: 64, recompute: full");
    CHECK(t.utilisation > 0.0);
    CHECK(t.utilisation < 1.0);
  }
}

TEST_CASE("Experts train on H200 no slower than on H100, in each precision", "[laws]") {
  for (const Run& run : {kRuns[2], kRuns[3]}) {
    for (const char* precision : {"bf16", "fp8", "fp8_block"}) {
      const auto time = [&](const std::string& system) {
        const Scenario s = scenario_of(run, "global_batch: 64, recompute: full", system, precision);
        return training_step(view(s), micro_batches(view(s))).time;
      };
      INFO(run.model << ", " << precision);
      CHECK(time("{base: h100_cluster_128, chip: h200_sxm}") <= time("h100_cluster_128"));
    }
  }
}

TEST_CASE("More HBM bandwidth never makes experts train slower", "[laws]") {
  base::Seconds before = base::Seconds::infinity();
  for (const char* factor : {"x1", "x1.1", "x1.2", "x1.4", "x1.7", "x2"}) {
    const Scenario s = scenario_of(
        kRuns[2], "global_batch: 64, recompute: full",
        "{base: h100_cluster_128, chip: {base: h100_sxm, hbm.bandwidth: " + std::string(factor) +
            "}}",
        "fp8_block");
    const base::Seconds time = training_step(view(s), micro_batches(view(s))).time;
    INFO(factor);
    CHECK(time <= before);
    before = time;
  }
}

TEST_CASE("Attention in FP8 is refused where the chip has none, as the precision is", "[laws]") {
  const Scenario s = scenario_of(kRuns[0], "global_batch: 64, recompute: full, attention: fp8",
                                 "a100_cluster_128", "bf16");
  Workspace workspace;
  const ServingEstimate e = estimate(view(s), workspace);
  CHECK(std::holds_alternative<infeasible::NumberFormat>(e.infeasible));
}

TEST_CASE("A larger batch takes longer and wastes less of the pipeline", "[laws]") {
  for (const Run& run : kRuns) {
    const TrainingStep small = step(run, "global_batch: 64, recompute: full");
    const TrainingStep large = step(run, "global_batch: 256, recompute: full");
    CHECK(large.time > small.time);
    CHECK(large.bubble / large.time <= small.bubble / small.time);
    CHECK(large.utilisation >= small.utilisation);
  }
}

TEST_CASE("What is computed again costs time and saves memory, and is no model FLOP", "[laws]") {
  for (const Run& run : kRuns) {
    const std::string system =
        "{base: h100_cluster_128, chip: {base: h100_sxm, hbm.capacity: 1000 GiB}}";
    const TrainingStep none = step(run, "global_batch: 64, recompute: none", system);
    const TrainingStep attention = step(run, "global_batch: 64, recompute: attention", system);
    const TrainingStep full = step(run, "global_batch: 64, recompute: full", system);
    CHECK(none.time < attention.time);
    CHECK(attention.time < full.time);
    CHECK(full.footprint.activations < attention.footprint.activations);
    CHECK(attention.footprint.activations < none.footprint.activations);
    CHECK(full.model_flop == none.model_flop);
  }
}

TEST_CASE("More modules computed again never keep more", "[laws]") {
  constexpr const char* kSystem =
      "{base: h100_cluster_128, chip: {base: h100_sxm, hbm.capacity: 1000 GiB}}";
  for (const Run& run : kRuns) {
    std::string modules;
    TrainingStep before = step(run, "global_batch: 64", kSystem);
    for (const std::string_view module : workloads::kModuleNames) {
      modules += std::string(modules.empty() ? "" : ", ") + std::string(module);
      const TrainingStep t = step(run, "global_batch: 64, recompute: [" + modules + "]", kSystem);
      INFO(run.model << ": " << modules);
      CHECK(t.footprint.activations <= before.footprint.activations);
      CHECK(t.time >= before.time);
      before = t;
    }
    const TrainingStep full = step(run, "global_batch: 64, recompute: full", kSystem);
    CHECK(full.footprint.activations <= before.footprint.activations);
    CHECK(full.time >= before.time);
  }
}

TEST_CASE("The format of a KV cache changes nothing in training", "[laws]") {
  for (const Run& run : kRuns) {
    const auto with = [&](const std::string& precision) {
      Scenario s = scenario_of(run, "global_batch: 64, recompute: full", "h100_cluster_128",
                               "{base: bf16, kv_cache: " + precision + "}");
      Workspace workspace;
      const ServingEstimate e = estimate(view(s), workspace);
      REQUIRE(e.fits());
      return std::pair{e.workflow->training.time, e.memory};
    };
    CHECK(with("fp8") == with("bf16"));
  }
}

TEST_CASE("Weights in fewer bits than activations are refused in training", "[laws]") {
  for (const char* precision : {"w4a16", "mxfp4_experts_fp8"}) {
    const Scenario s = scenario_of(kRuns[2], "global_batch: 64", "b200_cluster_128", precision);
    Workspace workspace;
    const ServingEstimate e = estimate(view(s), workspace);
    CHECK(reason_kind(e.infeasible) == infeasible::TrainingFormat::kind);
  }
}

TEST_CASE("Fewer bits of what tensor parallelism gathers make its exchanges no longer", "[laws]") {
  const auto exchanges = [](const char* precision) {
    const Scenario s =
        scenario_of(kRuns[1], "global_batch: 64, overlap: false", "b200_cluster_128", precision);
    base::Seconds gathered;
    base::Seconds scattered;
    for (const PassLines& pass : training_passes(view(s), micro_batches(view(s))).passes) {
      for (const OperatorLine& line : pass.operators) {
        if (const auto* op = std::get_if<workloads::Collective>(&line.call.op)) {
          (op->kind == workloads::CollectiveKind::all_gather       ? gathered
           : op->kind == workloads::CollectiveKind::reduce_scatter ? scattered
                                                                   : gathered) += line.time;
        }
      }
    }
    return std::pair{gathered, scattered};
  };
  const auto bf16 = exchanges("bf16");
  const auto fp8 = exchanges("fp8");
  const auto nvfp4 = exchanges("nvfp4");
  CHECK(fp8.first < 0.8 * bf16.first);
  CHECK(nvfp4.first < fp8.first);
  // What is added up travels in 16 bits.
  CHECK(fp8.second / bf16.second == Approx(1.0).epsilon(0.2));
  CHECK(nvfp4.second / bf16.second == Approx(1.0).epsilon(0.2));
}

TEST_CASE("Exchanges behind compute never make a step longer", "[laws]") {
  for (const Run& run : kRuns) {
    CHECK(step(run, "global_batch: 64, recompute: full").time <=
          step(run, "global_batch: 64, recompute: full, overlap: false").time);
    CHECK(step(run, "global_batch: 64, recompute: full, tensor_overlap: true").time <=
          step(run, "global_batch: 64, recompute: full").time);
  }
}

}  // namespace roofcast::sim::laws_training_training
