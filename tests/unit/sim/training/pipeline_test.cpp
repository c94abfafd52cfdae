// SPDX-License-Identifier: Apache-2.0
#include "sim/training/pipeline.hpp"

#include <algorithm>
#include <array>
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

TEST_CASE("Passes at the ends of a pipeline are alone, p + 1 of each with DualPipe", "[unit]") {
  const auto longer = [](Schedule schedule, std::int64_t p, std::int64_t v, std::int64_t m,
                         const PipelinePasses& whole) {
    PipelinePasses alone = whole;
    alone.forward_alone = 0.5 * second;
    alone.backward_alone = 0.25 * second;
    return (pipeline_timeline(schedule, p, v, m, alone).time -
            pipeline_timeline(schedule, p, v, m, whole).time)
        .si();
  };
  // 1F1B: all of the bubble, the first and the last pass, and v − 1 rounds of p chunks when interleaved.
  for (const auto& [p, v, m] : {std::tuple{4, 1, 12}, std::tuple{4, 2, 16}, std::tuple{8, 4, 32}}) {
    INFO(p << " stages of " << v << " chunks, " << m << " micro-batches");
    const double bubble = (p - 1.0) / v;
    const double besides = ((v - 1.0) * p + 1.0) / v;
    CHECK(longer(Schedule::one_forward_one_backward, p, v, m, {1.0 * second, 2.3 * second, {}}) ==
          Approx((bubble + besides) * 0.75));
  }
  CHECK(longer(Schedule::zero_bubble, 8, 1, 32, passes(1.0, 2.0, 1.0)) == Approx((7 + 1) * 0.75));
  // DualPipe: p/2 − 1 backward passes in the bubble, and p + 1 of each kind besides.
  for (const auto& [p, m] : {std::pair{4, 20}, std::pair{8, 16}, std::pair{16, 120}}) {
    INFO(p << " stages, " << m << " micro-batches");
    // Alone, a forward pass takes 1.5 and the gradients of inputs too, so that the closed form is exact. A pair takes 3.25.
    PipelinePasses whole = passes(1.0, 2.25, 1.0);
    whole.forward_alone = 0.5 * second;
    whole.backward_alone = 0.25 * second;
    const PipelineTimeline t = pipeline_timeline(Schedule::dualpipe, p, 1, m, whole);
    const double bubble = (p / 2 - 1) * (3.25 + 2.5 - 3.0);
    CHECK(t.time.si() == Approx(m * 3.25 + (p + 1) * 0.75 + bubble));
  }
}

TEST_CASE("ZB-V waits for one pass of a chunk for each other rank, however many micro-batches",
          "[unit]") {
  for (const auto& [p, m] :
       {std::pair{2, 3}, std::pair{4, 8}, std::pair{8, 15}, std::pair{8, 40}}) {
    // The last two: with few gradients of weights, backward passes wait for each other.
    for (const auto& [f, b, w] :
         {std::tuple{2.0, 4.0, 2.0}, std::tuple{2.0, 4.4, 2.0}, std::tuple{2.0, 4.0, 1.6},
          std::tuple{2.4, 4.0, 2.0}, std::tuple{2.0, 4.0, 2.2}, std::tuple{2.0, 5.0, 1.0},
          std::tuple{2.0, 4.0, 0.1}}) {
      INFO(p << " ranks, " << m << " micro-batches, f " << f << ", b " << b << ", w " << w);
      const PipelineTimeline t =
          pipeline_timeline(Schedule::zero_bubble_v, p, 2, m, passes(f, b, w));
      check_whole(t, m, 6);
      CHECK(t.chunks == 2);
      const double inputs = b - w;
      const double closed = (p - 1) / 2.0 * std::max({f, inputs, 2.0 * (inputs - w)}) +
                            (p - 2) / 2.0 * std::max(0.0, f - inputs);
      for (std::int64_t rank = 0; rank < p; ++rank) {
        CHECK(t.waits(rank).si() == Approx(closed));
      }
    }
  }
}

TEST_CASE("With fewer micro-batches than stages a pipeline waits as long as its events do",
          "[unit]") {
  const auto closed = [](Schedule schedule, std::int64_t p, std::int64_t v, std::int64_t m,
                         double b, double w) {
    workloads::Training training;
    training.schedule = schedule;
    training.virtual_stages = v;
    const base::Seconds both = (1.0 + b) * second;
    return pipeline_bubble(training, p, m, {both, both, b * second, w * second}).si();
  };
  for (const auto& [p, v, m] : {std::tuple{8, 1, 3}, std::tuple{8, 4, 2}, std::tuple{16, 8, 4},
                                std::tuple{4, 2, 3}, std::tuple{8, 5, 1}, std::tuple{8, 5, 8}}) {
    INFO(p << " stages of " << v << " chunks, " << m << " micro-batches");
    const PipelineTimeline t = pipeline_timeline(Schedule::one_forward_one_backward, p, v, m,
                                                 {1.0 * second, 2.3 * second, {}});
    check_whole(t, m, static_cast<std::size_t>(2 * v));
    CHECK(t.time.si() - m * 3.3 ==
          Approx(closed(Schedule::one_forward_one_backward, p, v, m, 2.3, 0.0)));
  }
  for (const auto& [p, m] : {std::pair{4, 1}, std::pair{8, 3}, std::pair{8, 7}, std::pair{8, 8}}) {
    INFO(p << " stages, " << m << " micro-batches");
    const PipelineTimeline t =
        pipeline_timeline(Schedule::zero_bubble, p, 1, m, passes(1.0, 2.2, 0.9));
    CHECK(t.time.si() - m * 3.2 == Approx(closed(Schedule::zero_bubble, p, 1, m, 2.2, 0.9)));
  }
}

TEST_CASE("One stage has no bubble, whatever its schedule", "[unit]") {
  workloads::Training training;
  for (const Schedule schedule : {Schedule::one_forward_one_backward, Schedule::zero_bubble,
                                  Schedule::zero_bubble_v, Schedule::dualpipe}) {
    training.schedule = schedule;
    const StagePasses passes{5.0 * second, 6.0 * second, 2.0 * second, 1.0 * second};
    CHECK(pipeline_bubble(training, 1, 4, passes) == base::Seconds{});
  }
}

TEST_CASE(
    "A rank of ZB-V holds at most two chunks of activations for each rank, as the memory counts",
    "[unit]") {
  constexpr std::int64_t ranks = 4;
  const PipelineTimeline t =
      pipeline_timeline(Schedule::zero_bubble_v, ranks, 2, 12, passes(1.0, 2.0, 1.0));
  for (std::int64_t rank = 0; rank < ranks; ++rank) {
    std::array<std::int64_t, 2> held{};
    std::int64_t most = 0;
    for (const PipelineEvent& e : t.events) {  // of each rank in its order
      if (e.rank == rank && e.work != PipelineWork::weights) {
        held[static_cast<std::size_t>(e.chunk)] += e.work == PipelineWork::forward ? 1 : -1;
        most = std::max(most, held[0] + held[1]);
      }
    }
    CHECK(most == 2 * ranks);
    CHECK(workloads::held_by_v(ranks, rank, 0, 12) + workloads::held_by_v(ranks, rank, 1, 12) ==
          2 * ranks);
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
  CHECK(step_with(", schedule: zb_v, virtual_stages: 2") == Approx(1.0).margin(0.003));
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
  CHECK_FALSE(drawn("pipeline_parallel: 4", "global_batch: 6, schedule: zb_v, virtual_stages: 2"));
  CHECK(drawn("pipeline_parallel: 4", "global_batch: 7, schedule: zb_v, virtual_stages: 2"));
  CHECK(drawn("pipeline_parallel: 4", "global_batch: 6"));
}

}  // namespace roofcast::sim::unit_sim_training_pipeline
