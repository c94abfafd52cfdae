// SPDX-License-Identifier: Apache-2.0
#include "sim/training/pipeline.hpp"

#include <set>
#include <string>
#include <tuple>

#include "sim/scenario/sections.hpp"
#include "sim/training/training.hpp"
#include "tests/catch.hpp"

namespace roofcast::sim::unit_sim_training_pipeline {
namespace {

using base::second;
using workloads::Schedule;

PipelinePasses passes(double forward, double backward, double weights) {
  return {forward * second, (backward - weights) * second, weights * second};
}

void check_whole(const PipelineTimeline& t, std::int64_t micro_batches, std::size_t kinds) {
  std::set<std::tuple<std::int64_t, std::int64_t, std::int64_t, PipelineWork>> each;
  for (const PipelineEvent& e : t.events) {
    each.insert({e.rank, e.chunk, e.micro_batch, e.work});
    CHECK(e.start < e.end);
    CHECK(e.end <= t.time);
  }
  CHECK(each.size() == t.events.size());
  CHECK(t.events.size() == kinds * static_cast<std::size_t>(t.ranks * micro_batches));
}

}  // namespace

TEST_CASE("A stage of 1F1B waits as long as the closed formula says, event by event", "[unit]") {
  for (const auto& [p, v, m] : {std::tuple{2, 1, 2}, std::tuple{4, 1, 10}, std::tuple{4, 2, 8},
                                std::tuple{8, 4, 32}, std::tuple{8, 3, 8}}) {
    INFO(p << " stages of " << v << " chunks, " << m << " micro-batches");
    const PipelineTimeline t = pipeline_timeline(Schedule::one_forward_one_backward, p, v, m,
                                                 {1.0 * second, 2.3 * second, {}});
    check_whole(t, m, static_cast<std::size_t>(2 * v));
    for (std::int64_t rank = 0; rank < p; ++rank) {
      CHECK(t.waits(rank).si() == Approx((p - 1) * 3.3 / v));
    }
  }
}

TEST_CASE("Gradients of weights fill a zero bubble as far as arXiv 2401.10241 says", "[unit]") {
  for (const auto& [p, m] : {std::pair{2, 2}, std::pair{4, 12}, std::pair{8, 32}}) {
    for (const auto& [b, w] : {std::pair{2.0, 1.0}, std::pair{2.2, 0.9}, std::pair{2.4, 0.7}}) {
      INFO(p << " stages, " << m << " micro-batches, b " << b << ", w " << w);
      const PipelineTimeline t =
          pipeline_timeline(Schedule::zero_bubble, p, 1, m, passes(1.0, b, w));
      check_whole(t, m, 3);
      CHECK(t.waits(0).si() == Approx((p - 1) * (1.0 + b - 2.0 * w)));
    }
  }
}

TEST_CASE("DualPipe waits as long as arXiv 2412.19437 says, and never longer", "[unit]") {
  for (const auto& [p, m] : {std::pair{4, 20}, std::pair{8, 16}, std::pair{16, 120}}) {
    INFO(p << " stages, " << m << " micro-batches");
    const PipelineTimeline even =
        pipeline_timeline(Schedule::dualpipe, p, 1, m, passes(1.0, 2.0, 1.0));
    check_whole(even, m, 3);
    CHECK(even.chunks == 2);
    for (std::int64_t rank = 0; rank < p; ++rank) {
      CHECK(even.waits(rank).si() == Approx((p / 2 - 1) * (1.0 + 2.0 * 2.0 - 3.0)));
    }
    const PipelineTimeline uneven =
        pipeline_timeline(Schedule::dualpipe, p, 1, m, passes(1.0, 2.3, 0.8));
    const double closed = (p / 2 - 1) * (1.0 + 2.0 * 2.3 - 3.0 * 0.8);
    CHECK(uneven.waits(0).si() <= closed);
    CHECK(uneven.waits(0).si() >= closed - (p / 2 - 1) * (2.3 - 0.8 - 1.0) - 1e-9);
  }
}

TEST_CASE("The timeline of a step takes the passes and the bubble of the closed form", "[unit]") {
  const auto step_with = [](const std::string& more) {
    const Scenario scenario = read_scenario(base::parse_document(
        "test",
        "system: hgx_h100\nmodel: llama-2-13b\nprecision: bf16\ndeployment: {pipeline_parallel: "
        "8}\ntraining: {sequence_length: 2048, recompute: full, global_batch: 32, trainer: "
        "megatron" +
            more + "}\n"));
    const ScenarioView s = view(scenario);
    const TrainingStep step = training_step(s, micro_batches(s));
    const auto timeline = pipeline_of(s, step, micro_batches(s).count);
    REQUIRE(timeline);
    return (step.passes + step.bubble) / timeline->time;
  };
  CHECK(step_with("") == Approx(1.0));
  CHECK(step_with(", virtual_stages: 5, overlap: false") == Approx(1.0));
  CHECK(step_with(", schedule: zero_bubble") == Approx(1.0));
  CHECK(step_with(", schedule: dualpipe") == Approx(1.0).margin(0.03));
}

TEST_CASE("What cannot be drawn has no timeline", "[unit]") {
  const auto drawn = [](const std::string& deployment, const std::string& more) {
    const Scenario scenario = read_scenario(base::parse_document(
        "test", "system: hgx_h100\nmodel: llama-2-13b\nprecision: bf16\ndeployment: {" +
                    deployment + "}\ntraining: {sequence_length: 2048, trainer: megatron, " + more +
                    "}\n"));
    const ScenarioView s = view(scenario);
    return pipeline_of(s, {}, micro_batches(s).count).has_value();
  };
  CHECK_FALSE(drawn("data_parallel: 8", "global_batch: 32"));
  CHECK_FALSE(drawn("pipeline_parallel: 4", "global_batch: 6, virtual_stages: 2"));
  CHECK_FALSE(drawn("pipeline_parallel: 4", "global_batch: 9, schedule: dualpipe"));
  CHECK_FALSE(drawn("pipeline_parallel: 4", "global_batch: 100000"));
  CHECK(drawn("pipeline_parallel: 4", "global_batch: 6"));
}

}  // namespace roofcast::sim::unit_sim_training_pipeline
