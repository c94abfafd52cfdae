// SPDX-License-Identifier: Apache-2.0
#include "sim/training/training.hpp"

#include <cmath>
#include <string>

#include "models/training_footprint.hpp"
#include "models/work.hpp"
#include "sim/estimate.hpp"
#include "sim/result/training_step.hpp"
#include "sim/scenario/sections.hpp"
#include "tests/catch.hpp"
#include "workloads/architecture/parameters.hpp"
#include "workloads/graph/graph.hpp"
#include "workloads/graph/training_graph.hpp"

namespace roofcast::sim::unit_sim_training {
namespace {

Scenario scenario(const std::string& deployment, const std::string& training,
                  const std::string& model = "llama-3.1-8b") {
  return read_scenario(base::parse_document(
      "test", "system: h100_cluster_128\nmodel: " + model + "\nprecision: bf16\ndeployment: {" +
                  deployment + "}\ntraining: {sequence_length: 2048, trainer: megatron, " +
                  training + "}\n"));
}

ServingEstimate estimated(const Scenario& s) {
  Workspace workspace;
  return estimate(view(s), workspace);
}

TrainingStep step(const std::string& deployment, const std::string& training,
                  const std::string& model = "llama-3.1-8b") {
  const ServingEstimate e = estimated(scenario(deployment, training, model));
  INFO(reason(e));
  REQUIRE(e.fits());
  return e.workflow->training;
}

double flop(const workloads::Graph& graph) {
  double sum = 0.0;
  for (const workloads::Call& call : graph) {
    if (workloads::category(call.op) != "elementwise") {
      sum += call.count * models::work_of(call.op).flop.si();
    }
  }
  return sum;
}

workloads::Graph forward(const Scenario& s) {
  workloads::Batch batch;
  batch.prefill_sequences = 1;
  batch.prefill_tokens = 2048;
  batch.loss = true;
  workloads::Graph graph;
  workloads::build_graph(s.model, s.precision, s.deployment.mapping, {}, batch, graph);
  return graph;
}

}  // namespace

TEST_CASE("A backward pass takes two forward passes, and attention three", "[unit]") {
  const Scenario s = scenario("", "global_batch: 1");
  const workloads::Graph graph = forward(s);
  double attention = 0.0;
  for (const workloads::Call& call : graph) {
    if (std::holds_alternative<workloads::PrefillAttention>(call.op)) {
      attention += call.count * models::work_of(call.op).flop.si();
    }
  }
  const double once = flop(graph);
  const auto backward = [&](const std::string& recompute, double share = 1.0) {
    return flop(workloads::backward_graph(
        graph, scenario("", "global_batch: 1, recompute: " + recompute).training.recompute, share,
        4.0));
  };
  CHECK(std::abs(backward("none") / (2.0 * once + attention) - 1.0) < 1e-9);
  CHECK(std::abs(backward("attention") / (2.0 * once + 2.0 * attention) - 1.0) < 1e-9);
  const double head = 2.0 * 2048 * 4096 * 128256;
  CHECK(std::abs(backward("full") / (3.0 * once + attention - head) - 1.0) < 1e-9);
  CHECK(std::abs(backward("full", 0.25) / (0.75 * backward("none") + 0.25 * backward("full")) -
                 1.0) < 1e-9);
  const double mlp = 2.0 * 3.0 * 2048 * 4096 * 14336 * 32;
  CHECK(std::abs((backward("mlp") - backward("none")) / mlp - 1.0) < 1e-9);
}

// 6 FLOP a parameter and token, and 12 · layers · hidden · length / 2 of causal attention.
TEST_CASE("Model FLOP are six a parameter and token, and those of attention", "[unit]") {
  const TrainingStep t =
      step("data_parallel: 8", "global_batch: 64, micro_batch: 1, recompute: full");
  const double tokens = 64.0 * 2048;
  const double attention = 12.0 * 32 * 4096 * 2049.0 / 2.0;
  const double active = workloads::active_parameters(scenario("", "global_batch: 1").model);
  CHECK(t.tokens == tokens);
  CHECK(std::abs(t.model_flop / (tokens * (6.0 * active + attention)) - 1.0) < 1e-9);
}

TEST_CASE("Interleaving v chunks cuts the bubble v times", "[unit]") {
  const std::string deployment =
      "tensor_parallel: 2, pipeline_parallel: 4, sequence_parallel: true";
  const TrainingStep one = step(deployment, "global_batch: 16, overlap: false");
  const TrainingStep two = step(deployment, "global_batch: 16, overlap: false, virtual_stages: 2");
  const auto in_micro_batches = [](const TrainingStep& t) { return t.bubble / (t.passes / 16.0); };
  CHECK(std::abs(in_micro_batches(one) - 3.0) < 1e-9);
  CHECK(std::abs(in_micro_batches(two) - 1.5) < 1e-9);
  CHECK(two.sends / one.sends == Approx(2.0));
}

TEST_CASE("Adam's states are sixteen bytes a parameter, and shared where they are sharded",
          "[unit]") {
  const auto bytes = [](const char* sharding) {
    const models::TrainingFootprint f =
        step("tensor_parallel: 4, data_parallel: 4",
             std::string("global_batch: 4, gradients: bf16, sharding: ") + sharding)
            .footprint;
    return std::array{f.parameters.si(), f.gradients.si(), f.optimizer.si()};
  };
  const auto whole = bytes("none");
  CHECK(whole[1] == whole[0]);
  CHECK(whole[2] == 6.0 * whole[0]);
  CHECK(bytes("optimizer") == std::array{whole[0], whole[1], whole[2] / 4.0});
  CHECK(bytes("gradients") == std::array{whole[0], whole[1] / 4.0, whole[2] / 4.0});
  CHECK(bytes("parameters") == std::array{whole[0] / 4.0, whole[1] / 4.0, whole[2] / 4.0});
}

TEST_CASE("What a step cannot be made of has a reason", "[unit]") {
  const auto why = [](const std::string& deployment, const std::string& training) {
    return reason(estimated(scenario(deployment, training)));
  };
  CHECK(why("data_parallel: 3", "global_batch: 16") ==
        "a global batch of 16 is not a multiple of data_parallel x micro_batch, 3");
  CHECK(why("data_parallel: 256", "global_batch: 256") == "needs 256 GPUs, the system has 128");
  CHECK(
      why("", "global_batch: 64").starts_with("parameters, gradients, optimizer and activations"));
  CHECK(why("pipeline_parallel: 8", "global_batch: 8, virtual_stages: 5")
            .starts_with("pipeline_parallel x virtual_stages are 40 chunks, the model has 32 "
                         "layers: lower virtual_stages"));
  CHECK(why("pipeline_parallel: 2", "global_batch: 8, layout: 'Et*32L'") ==
        "pipeline_parallel x virtual_stages are 2 chunks, training.layout has 1");
  CHECK(why("pipeline_parallel: 2", "global_batch: 8, layout: 'Et*16|t*15L'") ==
        "training.layout has 31 layers, the model has 32");
}

}  // namespace roofcast::sim::unit_sim_training
