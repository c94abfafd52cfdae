// SPDX-License-Identifier: Apache-2.0
#include "sim/roadmap/roadmap_result.hpp"

#include <fmt/format.h>

#include <cmath>

#include "tests/catch.hpp"

namespace roofcast::laws_roadmap {

using Catch::Matchers::ContainsSubstring;

namespace {

const std::string kWorkloads = R"(
workloads:
  chat:
    weight: 2
    base: {system: hgx_h200, model: llama-3.1-8b, precision: fp8, deployment: {tensor_parallel: 1},
      serving: {stack: vllm}, traffic: {input_tokens: 1024, output_tokens: 256}}
    axes: {traffic.concurrency: [8, 64]}
    where: ['tpot_mean_s <= 0.012']
  prompts:
    metric: ttft_mean_s
    base: {system: hgx_h200, model: llama-3.1-8b, precision: fp8, deployment: {tensor_parallel: 2},
      serving: {stack: vllm}, traffic: {input_tokens: 8192, output_tokens: 16, concurrency: 1}}
)";
const std::string kFeatures = R"(
features:
  bandwidth: {system.chip.hbm.bandwidth: x1.2}
  tensor: {'system.chip.tensor.*': x1.35}
  links: {system.chip.nvlink.bandwidth_bidirectional: x2}
)";

sim::RoadmapResult result_of(const std::string& text, bool replay = false) {
  return sim::run_roadmap(sim::read_roadmap(base::parse_document("roadmap.yaml", text)),
                          {.replay = replay});
}

const sim::OptionResult& named(const sim::RoadmapResult& result, const std::string& name) {
  for (const sim::OptionResult& option : result.options) {
    if (option.name == name) {
      return option;
    }
  }
  throw std::logic_error(name);
}

}  // namespace

TEST_CASE("An option that changes nothing gains nothing, with certainty", "[laws]") {
  const auto result = result_of(kWorkloads + "options: {same: {system.chip.hbm.bandwidth: x1}}");
  for (const sim::Gain& gain : named(result, "same").gains) {
    CHECK(gain.value == 1.0);
    CHECK(gain.interval.low == 1.0);
    CHECK(gain.interval.high == 1.0);
  }
  CHECK(named(result, "same").portfolio.value == Approx(1.0));
  CHECK(named(result, "same").tok_per_j == Approx(1.0));
}

TEST_CASE("More of a resource never costs a gain, and the best option stands first", "[laws]") {
  const auto result = result_of(kWorkloads + R"(
options:
  tensor: {'system.chip.tensor.*': x1.35}
  both: {'system.chip.tensor.*': x1.35, system.chip.hbm.bandwidth: x1.5}
  bandwidth: {system.chip.hbm.bandwidth: x1.5}
)");
  CHECK(result.options.front().name == "both");
  for (const sim::OptionResult& option : result.options) {
    INFO(option.name);
    double least = 1e300;
    double most = 0.0;
    for (const sim::Gain& gain : option.gains) {
      CHECK(gain.value >= 1.0 - 1e-9);
      CHECK(gain.interval.low <= gain.value);
      CHECK(gain.interval.high >= gain.value);
      CHECK(gain.interval.high > gain.interval.low);
      least = std::min(least, gain.value);
      most = std::max(most, gain.value);
    }
    CHECK(option.portfolio.value >= least);
    CHECK(option.portfolio.value <= most);
  }
}

TEST_CASE("A small step is surer than a large one", "[laws]") {
  const auto result = result_of(kWorkloads + R"(
options:
  small: {system.chip.hbm.bandwidth: x1.05}
  large: {system.chip.hbm.bandwidth: x2}
)");
  const auto width = [&](const char* name) {
    const sim::Gain& gain = named(result, name).portfolio;
    return std::log(gain.interval.high / gain.interval.low);
  };
  CHECK(width("small") < width("large"));
}

// Of measured servers, one gain in twenty is less than its forecast to the power 0.45, one in twenty more than to 1.50.
TEST_CASE("A gain is less sure than that of its operators, by what was measured of servers",
          "[laws]") {
  const auto result = result_of(kWorkloads + R"(
options:
  more: {system.chip.hbm.bandwidth: x1.5}
  less: {system.chip.hbm.bandwidth: x0.7}
)");
  for (const char* name : {"more", "less"}) {
    const sim::Gain& gain = named(result, name).gains.front();
    const double less = std::pow(gain.value, 0.45);
    const double more = std::pow(gain.value, 1.5);
    INFO(name);
    REQUIRE(gain.value != 1.0);
    CHECK(gain.interval.low < std::min(less, more));
    CHECK(gain.interval.high > std::max(less, more));
  }
}

TEST_CASE("The best point of a workload is one that meets its conditions", "[laws]") {
  const auto result = result_of(kWorkloads + "options: {slow: {system.chip.hbm.bandwidth: x0.35}}");
  CHECK(result.base.outcomes[0].place == "concurrency 64");
  CHECK(named(result, "slow").outcomes[0].place == "concurrency 8");
  CHECK(sim::find_metric("tpot_mean_s")->value(named(result, "slow").outcomes[0].estimate) <=
        0.012);
}

TEST_CASE("An option that a workload cannot run has the reason in place of a gain, and stands last",
          "[laws]") {
  const auto result = result_of(kWorkloads + R"(
options:
  tiny: {system.chip.hbm.capacity: x0.01}
  small: {system.chip.hbm.bandwidth: x0.9}
)");
  const sim::OptionResult& tiny = result.options.back();
  CHECK(tiny.name == "tiny");
  CHECK(std::isnan(tiny.portfolio.value));
  CHECK(!tiny.outcomes[0].found);
  CHECK_THAT(tiny.outcomes[0].reason, ContainsSubstring("GB"));
}

TEST_CASE("Features' shares sum to one, and the last of any order brings what all bring",
          "[laws]") {
  const auto result = result_of(kWorkloads + kFeatures + R"(
options:
  all: {system.chip.hbm.bandwidth: x1.2, 'system.chip.tensor.*': x1.35, system.chip.nvlink.bandwidth_bidirectional: x2}
  bandwidth: {system.chip.hbm.bandwidth: x1.2}
)");
  REQUIRE(result.features.size() == 3);
  double sum = 0.0;
  for (const sim::FeatureResult& feature : result.features) {
    sum += feature.share;
  }
  CHECK(sum == Approx(1.0));
  CHECK(result.funded.back().portfolio.value == Approx(named(result, "all").portfolio.value));
  CHECK(result.features[0].alone == Approx(named(result, "bandwidth").portfolio.value));
  CHECK(result.funded.front().portfolio.value ==
        Approx(std::max(
            {result.features[0].alone, result.features[1].alone, result.features[2].alone})));
}

TEST_CASE("A feature for nobody has no share, and twins share alike", "[laws]") {
  const auto result = result_of(kWorkloads + R"(
features:
  one: {system.chip.hbm.bandwidth: x1.1}
  twin: {system.chip.hbm.bandwidth: x1.1}
  idle: {system.chip.hbm.capacity: x1.1}
)");
  CHECK(result.features[0].share == Approx(result.features[1].share));
  CHECK(result.features[2].share == Approx(0.0).margin(1e-3));
}

TEST_CASE(
    "No feature that loses on top of those before is funded, and shares that differ in sign are "
    "none",
    "[laws]") {
  const auto result = result_of(kWorkloads + R"(
features:
  slow: {system.chip.hbm.bandwidth: x0.8}
  more: {system.chip.hbm.bandwidth: x1.2}
  tensor: {'system.chip.tensor.*': x1.35}
)");
  REQUIRE(result.funded.size() == 2);
  CHECK(result.order.back() == 0);
  CHECK(result.funded.back().portfolio.value > result.funded.front().portfolio.value);
  for (const sim::FeatureResult& feature : result.features) {
    CHECK(std::isnan(feature.share));
  }
  const auto losing = result_of(kWorkloads + "features: {slow: {system.chip.hbm.bandwidth: x0.8}}");
  CHECK(losing.funded.empty());
  CHECK(losing.features.front().share == Approx(1.0));
}

TEST_CASE("Of nothing no gain can be told, and no gain is infinite", "[laws]") {
  std::string none = kWorkloads;
  none.replace(none.find("output_tokens: 256}"), 19,
               "output_tokens: 256, objectives: {tpot: 1 us}}");
  none.replace(none.find("weight: 2"), 9, "weight: 2\n    metric: goodput");
  const auto result = result_of(none + kFeatures + R"(
options:
  more: {system.chip.hbm.bandwidth: x1.5}
)");
  REQUIRE(result.base.outcomes.front().found);
  CHECK(std::isnan(named(result, "more").gains.front().value));
  CHECK_FALSE(std::isinf(named(result, "more").portfolio.value));
  CHECK(result.features.empty());
  CHECK_THAT(result.no_features, ContainsSubstring("no gain can be told, goodput is 0"));
}

TEST_CASE("Where requests arrive by themselves, more bandwidth gains no throughput, with certainty",
          "[laws]") {
  std::string open = kWorkloads;
  open.replace(open.find("output_tokens: 256}"), 19,
               "output_tokens: 256, arrivals: {process: poisson, rate: 2 /s}}");
  open.replace(open.find("axes: {traffic.concurrency: [8, 64]}"), 36,
               "axes: {traffic.arrivals.rate: [1 /s, 2 /s]}");
  const auto result = result_of(open + "options: {more: {system.chip.hbm.bandwidth: x1.5}}");
  const sim::Gain& gain = named(result, "more").gains.front();
  CHECK(gain.value == Approx(1.0));
  CHECK(gain.interval.low == Approx(1.0));
  CHECK(gain.interval.high == Approx(1.0));
}

TEST_CASE("Only the proportion of weights counts", "[laws]") {
  const std::string options = "options: {more: {system.chip.hbm.bandwidth: x1.5}}";
  std::string heavy = kWorkloads;
  heavy.replace(heavy.find("weight: 2"), 9, "weight: 6");
  heavy.replace(heavy.find("metric: ttft_mean_s"), 19, "weight: 3\n    metric: ttft_mean_s");
  CHECK(result_of(heavy + options).options[0].portfolio.value ==
        Approx(result_of(kWorkloads + options).options[0].portfolio.value));
}

// Of the same features: what brings most for its area is not what brings most.
TEST_CASE("The order to fund is by the gain for what a feature takes, where it is told", "[laws]") {
  const std::string takes = R"(
takes:
  bandwidth: {area_mm2: 1000, power: 10 W}
  tensor: {area_mm2: 2, power: 20 W}
  links: {area_mm2: 1000, power: 5 W}
)";
  const auto by_gain = result_of(kWorkloads + kFeatures + takes);
  const auto by_area = result_of(kWorkloads + kFeatures + takes + "by: area\n");
  CHECK(by_gain.order == result_of(kWorkloads + kFeatures).order);
  CHECK(by_area.order.front() == 1);
  CHECK(by_area.features[1].takes == 2.0);
  CHECK(std::isnan(by_gain.features[1].takes));
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(by_area.features[i].share == Approx(by_gain.features[i].share));
  }
  CHECK(by_area.funded.back().portfolio.value == Approx(by_gain.funded.back().portfolio.value));
}

TEST_CASE("An option of another chip is told to be at the price of the one before", "[laws]") {
  const auto result = result_of(kWorkloads + R"(
options:
  faster: {system.chip.hbm.bandwidth: x1.5}
  priced: {system.chip.hbm.bandwidth: x1.5, system.price.per_gpu_hour: x1.2}
  other: {system: hgx_b200}
)");
  CHECK(named(result, "faster").outcomes.front().priced_with == "NVIDIA H200 SXM");
  CHECK(named(result, "priced").outcomes.front().priced_with.empty());
  CHECK(named(result, "other").outcomes.front().priced_with.empty());
}

namespace {

const std::string kDrawn = R"(
workloads:
  chat:
    base: {system: hgx_h200, model: llama-3.1-8b, precision: bf16, deployment: {tensor_parallel: 1},
      serving: {stack: vllm}, traffic: {input_tokens: {uniform: [500, 3000]}, output_tokens: {uniform: [20, 200]}}}
    axes: {traffic.concurrency: [4, 64]}
)";

struct BothValues {
  std::string metric;
  double estimated = 0.0;
  double replayed = 0.0;
};
// At 64 clients: a metric whose replay is worse than its estimate.
BothValues worse_in_the_replay(const sim::Roadmap& roadmap) {
  const sim::SweepPoints points = sim::points_of(roadmap.workloads[0], {}, {});
  sim::Workspace workspace;
  const sim::ServingEstimate estimate = sim::estimate(points.scenario(1), workspace);
  const sim::Replayed replayed = sim::replays_of(
      points, {1}, sim::plan_of(points.sweep(), sim::find_metric("ttft_mean_s")), {})[0];
  BothValues worst;
  for (const char* name : {"ttft_mean_s", "ttft_p95_s", "tpot_mean_s", "tpot_p95_s"}) {
    const sim::Metric& metric = *sim::find_metric(name);
    const double by = metric.value(replayed.estimate) / metric.value(estimate);
    if (worst.metric.empty() || by > worst.replayed / worst.estimated) {
      worst = {name, metric.value(estimate), metric.value(replayed.estimate)};
    }
  }
  return worst;
}

}  // namespace

TEST_CASE("A point of a roadmap that the replay breaks gives way to the next best one", "[laws]") {
  const std::string options = "options: {more: {system.chip.hbm.bandwidth: x1.001}}";
  const BothValues at =
      worse_in_the_replay(sim::read_roadmap(base::parse_document("r", kDrawn + options)));
  REQUIRE(at.replayed > at.estimated);
  const std::string bounded = fmt::format("{}    where: ['{} <= {:.8g}']\n{}", kDrawn, at.metric,
                                          0.9 * at.estimated + 0.1 * at.replayed, options);
  INFO(bounded);
  CHECK(result_of(bounded).base.outcomes[0].place == "concurrency 64");
  const sim::Outcome replayed = result_of(bounded, true).base.outcomes[0];
  CHECK(replayed.place == "concurrency 4");
  CHECK(replayed.judgement.verdict == sim::Verdict::confirmed);
  CHECK_THAT(replayed.broken, ContainsSubstring("concurrency 64: " + at.metric));
}

TEST_CASE("Gains of a roadmap are replayed for options, and for features in their order",
          "[laws]") {
  const std::string text = kWorkloads + kFeatures + R"(
options:
  same: {system.chip.hbm.bandwidth: x1}
  bandwidth: {system.chip.hbm.bandwidth: x1.2}
)";
  const auto replayed = result_of(text, true);
  CHECK(named(replayed, "same").replayed == Approx(1.0));
  for (const auto* results : {&replayed.options, &replayed.funded}) {
    for (const sim::OptionResult& option : *results) {
      INFO(option.name);
      CHECK(option.replayed == Approx(option.portfolio.value).epsilon(0.1));
      for (const sim::Outcome& outcome : option.outcomes) {
        CHECK(outcome.judgement.verdict == sim::Verdict::confirmed);
      }
    }
  }
  for (const sim::OptionResult& option : result_of(text).funded) {
    CHECK(std::isnan(option.replayed));
    CHECK(option.outcomes[0].judgement.verdict == sim::Verdict::estimated);
  }
}

}  // namespace roofcast::laws_roadmap
