// SPDX-License-Identifier: Apache-2.0
#include "sim/training/exchange.hpp"

#include <string>

#include "sim/estimate.hpp"
#include "sim/result/training_step.hpp"
#include "sim/scenario/sections.hpp"
#include "sim/training/training.hpp"
#include "tests/catch.hpp"

namespace roofcast::sim::unit_sim_training_exchange {
namespace {

// 405 billion parameters on 640 GPUs in racks of 72: a replica has 64 of them.
Scenario of(const std::string& order, const std::string& deployment,
            const std::string& model = "llama-3.1-405b") {
  return read_scenario(base::parse_document(
      "test", "system: {base: gb200_nvl72_x8, chips: 640}\nmodel: " + model +
                  "\nprecision: bf16\ndeployment: {" + deployment +
                  "}\ntraining: {sequence_length: 8192, global_batch: 160, gradients: bf16, "
                  "trainer: megatron, rank_order: " +
                  order + "}\n"));
}

const std::string kReplicas =
    "tensor_parallel: 4, pipeline_parallel: 8, context_parallel: 2, data_parallel: 10, "
    "sequence_parallel: true";

Exchange exchanged(const Scenario& s) {
  const models::RankParameters rank =
      models::rank_parameters(s.model, s.deployment.mapping, s.precision, s.training);
  return exchange_of(view(s), s.deployment.mapping, rank, 16.0);
}

}  // namespace

TEST_CASE("Gradients of replicas that fill a domain leave it on the NICs of two ranks", "[unit]") {
  const Scenario s = of("tp-cp-pp-dp", kReplicas);
  const double bytes =
      2.0 * models::rank_parameters(s.model, s.deployment.mapping, s.precision, s.training).dense;
  // 20 ranks, two of them in a domain, 50 GB/s each: 19/20 of the bytes leave it.
  const base::Seconds least = 19.0 / 20.0 * bytes / (2.0 * 50e9) * base::second;
  const Exchange pipeline_first = exchanged(s);
  const Exchange data_first = exchanged(of("tp-cp-dp-pp", kReplicas));
  CHECK(pipeline_first.reduced >= least);
  CHECK(pipeline_first.gathered >= least);
  CHECK(pipeline_first.reduced < 2.0 * least);
  // 18 ranks of a domain share 18 NICs.
  CHECK(data_first.reduced < 0.3 * least);
}

TEST_CASE("Quantised parameters travel in their own format, gradients in theirs", "[unit]") {
  const auto exchange = [](bool quantised) {
    Scenario s = of("tp-cp-pp-dp", kReplicas);
    s.precision.attention = s.precision.attention_output =
        s.precision.mlp = {base::NumberFormat::fp8, base::NumberFormat::fp8};
    s.training.quantised_parameters = quantised;
    return exchanged(s);
  };
  CHECK(exchange(true).reduced == exchange(false).reduced);
  CHECK(exchange(true).gathered < 0.6 * exchange(false).gathered);
  CHECK(exchange(true).gathered > 0.45 * exchange(false).gathered);
}

TEST_CASE("Stages in one domain send activations inside it", "[unit]") {
  const auto sent = [](const char* order) {
    const Scenario s = of(order, kReplicas);
    return send_time(view(s), micro_batches(view(s)));
  };
  CHECK(sent("tp-cp-pp-dp") < 0.5 * sent("tp-cp-dp-pp"));
}

TEST_CASE("Gradients of a chunk travel beside the passes of the chunks that follow", "[unit]") {
  const auto exposed = [](std::int64_t chunks) {
    Scenario s = of("tp-cp-pp-dp", kReplicas);
    s.training.sequence_length = 1024;
    s.training.virtual_stages = chunks;
    return training_step(view(s), micro_batches(view(s))).gradients;
  };
  CHECK(exposed(8) < 0.9 * exposed(2));
  CHECK(exposed(2) < 0.9 * exposed(1));
  // Parameters are gathered as before.
  CHECK(exposed(8) > 0.5 * exposed(1));
}

TEST_CASE("Without pipeline stages both orders of ranks are one", "[unit]") {
  const auto time = [](const char* order) {
    const Scenario s = of(order, "tensor_parallel: 8, data_parallel: 32", "llama-3.1-70b");
    return training_step(view(s), micro_batches(view(s))).time;
  };
  CHECK(time("tp-cp-pp-dp") == time("tp-cp-dp-pp"));
}

TEST_CASE("Replicas larger than a domain leave their context-parallel ranks beside each other",
          "[unit]") {
  // 32 ranks of a replica in hosts of 8: the two of context parallelism stay in a host, as in the other order.
  const auto reduced = [](const char* order) {
    const Scenario s = read_scenario(base::parse_document(
        "test",
        std::string("system: {base: h100_cluster_128, chips: 512}\nmodel: llama-3.1-70b\n"
                    "precision: bf16\ndeployment: {tensor_parallel: 4, pipeline_parallel: 4, "
                    "context_parallel: 2, data_parallel: 16, sequence_parallel: true}\n"
                    "training: {sequence_length: 8192, global_batch: 64, trainer: megatron, "
                    "rank_order: ") +
            order + "}\n"));
    return exchanged(s).reduced;
  };
  CHECK(reduced("tp-cp-pp-dp") == reduced("tp-cp-dp-pp"));
}

TEST_CASE("Stages come before replicas only where experts have as many replicas as attention",
          "[unit]") {
  const auto why = [](const std::string& deployment) {
    const Scenario s = of("tp-cp-pp-dp", deployment, "mixtral-8x7b");
    Workspace workspace;
    return reason(estimate(view(s), workspace));
  };
  CHECK(why("tensor_parallel: 4, pipeline_parallel: 2, data_parallel: 8, expert_parallel: 8")
            .find("tp-cp-pp-dp takes as many replicas of the experts") != std::string::npos);
  CHECK(why("tensor_parallel: 4, pipeline_parallel: 2, data_parallel: 8, expert_parallel: 4")
            .empty());
}

}  // namespace roofcast::sim::unit_sim_training_exchange
