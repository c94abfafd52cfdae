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

namespace roofcast::sim {
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

TEST_CASE("A backward pass multiplies twice as much as the forward, attention two and a half times",
          "[unit]") {
  const Scenario s = scenario("", "global_batch: 1");
  const workloads::Graph graph = forward(s);
  double attention = 0.0;
  for (const workloads::Call& call : graph) {
    if (std::holds_alternative<workloads::PrefillAttention>(call.op)) {
      attention += call.count * models::work_of(call.op).flop.si();
    }
  }
  const double once = flop(graph);
  const auto backward = [&](workloads::Recompute recompute) {
    return flop(workloads::backward_graph(graph, recompute, 4.0));
  };
  using workloads::Recompute;
  CHECK(std::abs(backward(Recompute::none) / (2.0 * once + 0.5 * attention) - 1.0) < 1e-9);
  CHECK(std::abs(backward(Recompute::attention) / (2.0 * once + 1.5 * attention) - 1.0) < 1e-9);
  const double head = 2.0 * 2048 * 4096 * 128256;
  CHECK(std::abs(backward(Recompute::full) / (3.0 * once + 0.5 * attention - head) - 1.0) < 1e-9);
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

// arXiv 2205.05198: 34 bytes a token and hidden unit, of which 2 are dropout's masks; 10 and 24/t without sequence
// parallelism; 2 where all is computed again. Of arXiv 1910.02054, 16 bytes a parameter with 2 of the gradient.
TEST_CASE("A layer of GPT-3's shape keeps what was published of it", "[unit]") {
  const Scenario s = scenario("", "global_batch: 1", "gpt-3-175b");
  const workloads::LayerGroup& layer = s.model.layers.front();
  const auto kept = [&](std::int64_t tp, bool sequence, workloads::Recompute recompute) {
    workloads::Mapping mapping;
    mapping.tensor_parallel = tp;
    mapping.sequence_parallel = sequence;
    return models::kept_bytes(s.model, layer, mapping, recompute) /
           static_cast<double>(s.model.hidden);
  };
  using workloads::Recompute;
  CHECK(kept(1, false, Recompute::none) == 34.0 - 2.0);
  CHECK(kept(8, true, Recompute::none) == (34.0 - 2.0) / 8.0);
  CHECK(kept(8, false, Recompute::none) == 10.0 - 2.0 + 24.0 / 8.0);
  CHECK(kept(1, false, Recompute::full) == 2.0);
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
  CHECK(why("pipeline_parallel: 8", "global_batch: 8, virtual_stages: 5") ==
        "pipeline_parallel is more than the layers");
}

}  // namespace roofcast::sim
