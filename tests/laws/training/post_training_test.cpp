// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>

#include "sim/estimate.hpp"
#include "sim/result/training_step.hpp"
#include "sim/scenario/sections.hpp"
#include "tests/catch.hpp"

namespace roofcast::sim::laws_training_post_training {
namespace {

struct Question {
  std::string lengths = "{lognormal: {mean: 1500, cv: 0.5, max: 3900}}";
  std::string placement = "split";
  std::string speculative = "";
  std::string packing = "by size";
  int lag = 0;
  std::string precision = "bf16";
  int responses = 256;
};

const char* const kModels[] = {
    "model: qwen3-30b-a3b\ndeployment: {expert_parallel: 8, data_parallel: 16}\n",
    "model: llama-3.1-8b\ndeployment: {tensor_parallel: 2, sequence_parallel: true, "
    "pipeline_parallel: 2, data_parallel: 4}\n",
};

PostTrainingStep step(const char* model, const Question& q) {
  const Scenario s = read_scenario(base::parse_document(
      "test",
      "system: h100_cluster_128\nprecision: " + q.precision + "\n" + std::string(model) +
          "training: {global_batch: 128, sequence_length: 4096, recompute: full, gradients: "
          "bf16, trainer: nemo-rl}\nserving: {stack: vllm, memory_fraction: 0.8" +
          q.speculative + "}\nrl: {responses: " + std::to_string(q.responses) +
          ", samples: 8, prompt_tokens: 100, " + "response_tokens: " + q.lengths +
          ", packing: " + q.packing + ", placement: " + q.placement +
          ", rollout: {tensor_parallel: 2, replicas: 8}, off_policy_steps: " +
          std::to_string(q.lag) + ", logprob_passes: 2}\n"));
  Workspace workspace;
  const ServingEstimate e = estimate(view(s), workspace);
  INFO(reason(e));
  REQUIRE(e.fits());
  return *e.workflow->post_training;
}

}  // namespace

TEST_CASE("Off policy is never slower than on the same GPUs in turn, nor are more steps off",
          "[laws]") {
  for (const char* model : kModels) {
    const PostTrainingStep on = step(model, {});
    const PostTrainingStep one = step(model, {.lag = 1});
    const PostTrainingStep four = step(model, {.lag = 4});
    CHECK(one.time <= on.time);
    CHECK(four.time <= one.time);
    CHECK(four.rollout <= one.rollout);
    CHECK(one.time >= base::max(one.rollout, one.trained()));
    CHECK(one.trained() == on.trained());
  }
}

TEST_CASE("More steps off are never slower where the answers of few fill the KV cache", "[laws]") {
  base::Seconds before = base::Seconds::infinity();
  for (const int lag : {1, 2, 3, 4, 5, 6, 9, 12}) {
    const PostTrainingStep now =
        step(kModels[0], {.lengths = "{lognormal: {mean: 2500, cv: 0.6, max: 3900}}",
                          .lag = lag,
                          .responses = 2048});
    CHECK(now.rollout <= before);
    before = now.rollout;
  }
}

TEST_CASE("A rollout waits for its longest answer: stragglers at the same mean make it longer",
          "[laws]") {
  for (const char* model : kModels) {
    const PostTrainingStep even = step(model, {.lengths = "1500"});
    const PostTrainingStep some =
        step(model, {.lengths = "{lognormal: {mean: 1500, cv: 0.2, max: 3900}}"});
    const PostTrainingStep many =
        step(model, {.lengths = "{lognormal: {mean: 1500, cv: 0.4, max: 3900}}"});
    CHECK(even.rollout < some.rollout);
    CHECK(some.rollout < many.rollout);
  }
}

TEST_CASE("A longer limit of answers never shortens a rollout", "[laws]") {
  for (const char* model : kModels) {
    base::Seconds before;
    for (const char* most : {"1500", "2500", "3900"}) {
      const PostTrainingStep now = step(
          model, {.lengths = "{lognormal: {mean: 1500, cv: 0.8, max: " + std::string(most) + "}}"});
      CHECK(now.rollout >= before);
      before = now.rollout;
    }
  }
}

TEST_CASE("Accepted drafts shorten a rollout, the more of them the more", "[laws]") {
  const auto drafting = [](const char* acceptance) {
    return step(kModels[1], {.speculative = ", speculative: {method: ngram, draft_tokens: 2, "
                                            "acceptance: " +
                                            std::string(acceptance) + "}"})
        .rollout;
  };
  CHECK(drafting("0.8") < drafting("0.5"));
  CHECK(drafting("0.8") < step(kModels[1], {}).rollout);
}

TEST_CASE("Responses packed in the order they came take longer to train on than packed by size",
          "[laws]") {
  const char* lengths = "{uniform: [800, 3000]}";
  const char* model = kModels[1];  // with stages, whose micro-batches are padded
  const PostTrainingStep sorted = step(model, {.lengths = lengths});
  const PostTrainingStep in_order = step(model, {.lengths = lengths, .packing = "in order"});
  CHECK(in_order.trained() > sorted.trained());
  CHECK(in_order.trained() < 1.5 * sorted.trained());
  CHECK(in_order.rollout == sorted.rollout);
}

TEST_CASE("An engine of fewer bits generates faster, and takes in weights as they are trained",
          "[laws]") {
  for (const char* model : kModels) {
    const PostTrainingStep bf16 = step(model, {});
    const PostTrainingStep fp8 = step(model, {.precision = "fp8"});
    CHECK(fp8.rollout < bf16.rollout);
    CHECK(fp8.refit == bf16.refit);
  }
}

TEST_CASE("With answers of one token a step is its training, and the parts around it", "[laws]") {
  for (const char* model : kModels) {
    const PostTrainingStep s = step(model, {.lengths = "1"});
    CHECK(s.rollout < 0.5 * base::second);
    CHECK(std::abs((s.time - s.rollout - s.refit - s.host) / s.trained() - 1.0) < 1e-9);
  }
}

TEST_CASE("A rollout generates a token in the time of the same engine's closed loop", "[laws]") {
  for (const char* engine : {"tensor_parallel: 8", "tensor_parallel: 4, pipeline_parallel: 2",
                             "tensor_parallel: 2, pipeline_parallel: 4"}) {
    INFO(engine);
    const std::string shared =
        "system: h100_cluster_128\nprecision: bf16\nmodel: llama-3.1-8b\nserving: {stack: vllm, "
        "memory_fraction: 0.8}\n";
    const auto estimated = [&](const std::string& more) {
      const Scenario s = read_scenario(base::parse_document("test", shared + more));
      Workspace workspace;
      const ServingEstimate e = estimate(view(s), workspace);
      INFO(reason(e));
      REQUIRE(e.fits());
      return e;
    };
    const ServingEstimate rl = estimated(
        "deployment: {tensor_parallel: 2, data_parallel: 4}\ntraining: {global_batch: 64, "
        "sequence_length: 4096, recompute: full, gradients: bf16, trainer: nemo-rl}\nrl: "
        "{responses: 64, samples: 1, prompt_tokens: 16, response_tokens: 2000, placement: split, "
        "rollout: {" +
        std::string(engine) + ", replicas: 1}}\n");
    const ServingEstimate loop =
        estimated("deployment: {" + std::string(engine) +
                  "}\ntraffic: {input_tokens: 16, output_tokens: 2000, concurrency: 64}\n");
    CHECK(rl.workflow->post_training->rollout.si() ==
          Approx(2000.0 * loop.steady.tpot.si()).epsilon(0.05));
  }
}

TEST_CASE("A run of RL trains the tokens of all optimizer steps of each of its steps", "[laws]") {
  for (const char* model : kModels) {
    const Scenario s = read_scenario(base::parse_document(
        "test",
        "system: h100_cluster_128\nprecision: bf16\n" + std::string(model) +
            "training: {global_batch: 64, sequence_length: 4096, recompute: full, gradients: bf16, "
            "trainer: nemo-rl}\nserving: {stack: vllm, memory_fraction: 0.8}\nrl: {responses: 256, "
            "samples: 8, prompt_tokens: 100, response_tokens: 1500, placement: split, rollout: "
            "{tensor_parallel: 2, replicas: 8}}\nrun: {steps: 100, failures: none, restart: {time: "
            "5 min}, checkpoint: {write: 100 GB/s}}\n"));
    Workspace workspace;
    const ServingEstimate e = estimate(view(s), workspace);
    INFO(reason(e));
    REQUIRE(e.fits());
    CHECK(e.workflow->run->tokens == Approx(100.0 * 4.0 * e.workflow->training.tokens));
    CHECK(e.workflow->run->ideal.si() == Approx(100.0 * e.workflow->post_training->time.si()));
  }
}

TEST_CASE("Log-probabilities gather sharded parameters, as the training's forward passes do",
          "[laws]") {
  const auto logprobs = [](const char* sharding) {
    const Scenario s = read_scenario(base::parse_document(
        "test",
        "system: h100_cluster_128\nprecision: bf16\nmodel: llama-3.1-8b\ndeployment: "
        "{data_parallel: 64}\ntraining: {global_batch: 64, sequence_length: 4096, "
        "recompute: full, gradients: bf16, overlap: false, trainer: nemo-rl, sharding: " +
            std::string(sharding) +
            "}\nserving: {stack: vllm, memory_fraction: 0.8}\nrl: {responses: 256, samples: "
            "8, prompt_tokens: 100, response_tokens: 1500, placement: split, "
            "logprob_passes: 1, rollout: {tensor_parallel: 2, replicas: 8}}\n"));
    Workspace workspace;
    const ServingEstimate e = estimate(view(s), workspace);
    INFO(reason(e));
    REQUIRE(e.fits());
    return e.workflow->post_training->logprobs;
  };
  // 16 GB through a port of 50 GB/s, with NVLink at its back: tens of milliseconds for each micro-batch.
  CHECK(logprobs("parameters").si() > logprobs("optimizer").si() + 0.02);
}

TEST_CASE("A micro-batch of several sequences is refused where responses are packed", "[laws]") {
  const Scenario s = read_scenario(base::parse_document(
      "test",
      "system: h100_cluster_128\nprecision: bf16\nmodel: llama-3.1-8b\ndeployment: {data_parallel: "
      "8}\ntraining: {global_batch: 64, micro_batch: 2, sequence_length: 4096, recompute: full, "
      "trainer: nemo-rl}\nserving: {stack: vllm}\nrl: {responses: 256, samples: 8, prompt_tokens: "
      "100, response_tokens: 1500, rollout: {tensor_parallel: 2, replicas: 4}}\n"));
  Workspace workspace;
  const ServingEstimate e = estimate(view(s), workspace);
  CHECK_FALSE(e.fits());
  CHECK(reason(e).find("training.micro_batch") != std::string::npos);
}

TEST_CASE("Colocated GPUs do in turn what others do on their own", "[laws]") {
  for (const char* model : kModels) {
    const PostTrainingStep split = step(model, {});
    const PostTrainingStep colocated = step(model, {.placement = "colocated"});
    CHECK(split.rollout == colocated.rollout);
    CHECK(split.trained() == colocated.trained());
  }
}

}  // namespace roofcast::sim::laws_training_post_training
