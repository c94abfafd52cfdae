// SPDX-License-Identifier: Apache-2.0
//
// A system with all rates × λ and all latencies / λ is the same system in another unit of time.
#include "sim/decide/sensitivity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/result/causes.hpp"
#include "tests/catch.hpp"
#include "tests/laws/cases/violations.hpp"

namespace roofcast::laws::laws_sensitivity {
namespace {

const std::string kScenarios[] = {
    "system: hgx_h200\nmodel: llama-3.1-70b\nprecision: fp8\ndeployment: {tensor_parallel: 8}\n"
    "serving: {stack: vllm}\ntraffic: {input_tokens: 2048, output_tokens: 512, concurrency: 64}\n",
    "system: hgx_a100\nmodel: llama-3.1-8b\nprecision: bf16\ndeployment: {tensor_parallel: 1}\n"
    "serving: {stack: trtllm}\n"
    "traffic: {input_tokens: 512, output_tokens: {uniform: [96, 160]}, concurrency: 16}\n",
    "system: l40s_pcie_x8\nmodel: llama-3.1-8b\nprecision: fp8\ndeployment: {tensor_parallel: 4}\n"
    "serving: {stack: vllm}\ntraffic: {input_tokens: 3000, output_tokens: 200, concurrency: 1}\n",
    "system: mi300x_x8\nmodel: llama-3.1-70b\nprecision: bf16\ndeployment: {tensor_parallel: 8}\n"
    "serving: {stack: vllm}\ntraffic: {input_tokens: 1024, output_tokens: 256, concurrency: 32}\n",
    "system: h100_cluster_128\nmodel: llama-3.1-70b\nprecision: bf16\n"
    "deployment: {tensor_parallel: 8, pipeline_parallel: 2}\nserving: {stack: trtllm}\n"
    "traffic: {input_tokens: 4096, output_tokens: 64, concurrency: 48}\n",
    "system: gb200_nvl72\nmodel: deepseek-v3\n"
    "deployment: {tensor_parallel: 1, expert_parallel: 16, data_parallel: 16}\n"
    "serving: {stack: trtllm}\n"
    "traffic: {input_tokens: 1024, output_tokens: 1024, concurrency: 512}\n",
};

const char* const kTimes[] = {"tpot_mean_s", "ttft_mean_s", "e2e_mean_s"};

sim::OverriddenScenario scenario_of(const std::string& text) {
  return sim::OverriddenScenario(base::parse_document("scenario.yaml", text), "--set");
}

sim::Settings faster(const std::vector<sim::QuantityKnob>& knobs, double factor) {
  sim::Settings all;
  for (const sim::QuantityKnob& knob : knobs) {
    if (knob.resource) {
      all.push_back(knob.times(std::pow(factor, -knob.time)));
    }
  }
  return all;
}

// Verdicts and elasticities come from two ways: causes are parts of the model's terms, elasticities are estimates with
// another knob. What measured kernels take beyond the model is of no cause, and grows with every one.
struct Pair {
  const char* knob;
  std::vector<models::Cause> causes;
};

struct Compared {
  double share;
  double elasticity;
  std::string words;
};

// Of the knobs that the scenario has.
std::vector<Compared> compare(const sim::OverriddenScenario& scenario, std::string_view metric,
                              const std::vector<Pair>& pairs, const std::string& text) {
  constexpr double kStep = 1.1;
  const sim::OverriddenEstimate now = scenario.explained({});
  const sim::Limited limited = sim::limited(now.estimate, metric);
  std::vector<Compared> all;
  for (const Pair& pair : pairs) {
    const auto with = [&](double factor) {
      return scenario.estimate({fmt::format("{}=x{}", pair.knob, factor)});
    };
    const sim::OverriddenEstimate more = with(kStep);
    const sim::OverriddenEstimate less = with(1.0 / kStep);
    if (!more.refusal.empty() || limited.shares.empty()) {
      continue;
    }
    const sim::Metric& of = *sim::find_metric(metric);
    const double elasticity =
        std::log(of.value(less.estimate) / of.value(more.estimate)) / (2.0 * std::log(kStep));
    double share = 0.0;
    for (const models::Share& each : limited.shares) {
      share +=
          std::count(pair.causes.begin(), pair.causes.end(), each.cause) > 0 ? each.share : 0.0;
    }
    all.push_back({share, elasticity,
                   fmt::format("{} of {}: {:.3f}, elasticity {:.3f}: {}", pair.knob, metric, share,
                               elasticity, text)});
  }
  return all;
}

// How many shares are far enough apart. Their elasticities have the same order, or are the same within what an iteration more
// or less makes of them.
std::size_t in_order(const std::vector<Compared>& all) {
  constexpr double kApart = 0.1;
  constexpr double kNoise = 0.01;
  std::size_t compared = 0;
  for (const Compared& one : all) {
    for (const Compared& other : all) {
      if (one.share > other.share + kApart) {
        ++compared;
        INFO(one.words << "beside " << other.words);
        CHECK(one.elasticity > other.elasticity - kNoise);
      }
    }
  }
  return compared;
}

Pair memory() { return {"system.chip.hbm.bandwidth", {models::Cause::hbm}}; }
Pair link() { return {"system.chip.nvlink.bandwidth_bidirectional", {models::Cause::link}}; }
Pair tensor() {
  return {"system.chip.tensor.*",
          {models::Cause::tensor, models::Cause::kernel, models::Cause::padding}};
}
Pair power() { return {"system.chip.power.cap", {models::Cause::power}}; }

}  // namespace

TEST_CASE("All rates times a factor and all latencies divided by it divide every time by it",
          "[laws]") {
  Violations law(1e-9);
  for (const std::string& text : kScenarios) {
    const sim::OverriddenScenario scenario = scenario_of(text);
    const auto knobs = sim::quantity_knobs(scenario.document());
    const sim::OverriddenEstimate now = scenario.estimate({});
    REQUIRE(now.estimate.fits());
    for (const double factor : {0.6, 1.7, 8.0}) {
      const sim::OverriddenEstimate then = scenario.estimate(faster(knobs, factor));
      INFO(then.refusal);
      REQUIRE(then.refusal.empty());
      for (const char* name : kTimes) {
        const sim::Metric& metric = *sim::find_metric(name);
        law.add(std::abs(factor * metric.value(then.estimate) / metric.value(now.estimate) - 1.0),
                [&] { return fmt::format("{} x{}: {}", name, factor, text); });
      }
      law.add(std::abs(then.estimate.output_rate / now.estimate.output_rate / factor - 1.0),
              [&] { return fmt::format("throughput x{}: {}", factor, text); });
      law.add(std::abs(then.estimate.joules_per_token / now.estimate.joules_per_token - 1.0),
              [&] { return fmt::format("energy x{}: {}", factor, text); });
    }
  }
  ROOFCAST_CHECK_LAW(law);
}

// A request that is followed may come too late for an iteration by any change, which others do not cancel: to 0.06.
TEST_CASE("Elasticities of a time to rates, less those to latencies, sum to minus one", "[laws]") {
  std::vector<const sim::Metric*> metrics;
  for (const char* name : kTimes) {
    metrics.push_back(sim::find_metric(name));
  }
  metrics.push_back(sim::find_metric("throughput_tok_per_s_per_gpu"));
  Violations law(0.06);
  for (const std::string& text : kScenarios) {
    const sim::OverriddenScenario scenario = scenario_of(text);
    const auto all =
        sim::elasticities(scenario, sim::quantity_knobs(scenario.document()), metrics, {1.01, 1.2});
    for (std::size_t m = 0; m < metrics.size(); ++m) {
      const double degree = metrics[m]->unit == "s" ? -1.0 : 1.0;
      law.add(std::abs(sim::sum_over_rates(all, m) - degree), [&] {
        return fmt::format("{} {}: {}", metrics[m]->name, sim::sum_over_rates(all, m), text);
      });
    }
  }
  ROOFCAST_CHECK_LAW(law);
}

TEST_CASE("What the time of an iteration is for has the order of the elasticities", "[laws]") {
  Violations near(0.2);
  std::size_t compared = 0;
  for (const std::string& text : kScenarios) {
    for (const char* metric : {"tpot_mean_s", "ttft_mean_s"}) {
      const std::vector<Compared> all =
          compare(scenario_of(text), metric, {memory(), link(), tensor()}, text);
      for (const Compared& each : all) {
        near.add(std::abs(each.share - each.elasticity), [&] { return each.words; });
      }
      compared += in_order(all);
    }
  }
  CHECK(compared > 10);
  ROOFCAST_CHECK_LAW(near);
}

// At the limit the clock falls where something else gets faster, so the cap counts more than the time that it takes: of a time
// that goes with cap^-a, the limit takes 1 - 0.5^a <= 0.69 a.
TEST_CASE(
    "Under half of the TDP a cap counts at least as its share of power, and tensor cores as theirs",
    "[laws]") {
  Violations of_tensor(0.25);  // the voltage of an A100 falls steeply
  Violations of_power(0.02);
  std::size_t compared = 0;
  for (const auto& [system, watts] : {std::pair{"hgx_h100", 350}, std::pair{"hgx_h200", 350},
                                      std::pair{"hgx_b200", 500}, std::pair{"hgx_a100", 200}}) {
    for (const auto& [metric, traffic] :
         {std::pair{"ttft_mean_s", "{input_tokens: 8192, output_tokens: 2, concurrency: 1}"},
          std::pair{"tpot_mean_s", "{input_tokens: 2048, output_tokens: 512, concurrency: 64}"}}) {
      const std::string text = fmt::format(
          "system: {{base: {}, chip.power.cap: {} W}}\nmodel: llama-3.1-8b\n"
          "precision: bf16\ndeployment: {{}}\nserving: {{stack: vllm}}\ntraffic: {}\n",
          system, watts, traffic);
      const std::vector<Compared> all =
          compare(scenario_of(text), metric, {tensor(), power()}, text);
      REQUIRE(all.size() == 2);
      of_tensor.add(std::abs(all[0].share - all[0].elasticity), [&] { return all[0].words; });
      of_power.add(all[1].share - all[1].elasticity, [&] { return all[1].words; });
      CHECK(all[1].share > 0.05);
      compared += in_order(all);
    }
  }
  CHECK(compared > 4);
  ROOFCAST_CHECK_LAW(of_tensor);
  ROOFCAST_CHECK_LAW(of_power);
}

TEST_CASE("With every resource free no time is left, and no resource frees more than is there",
          "[laws]") {
  Violations law(1e-6);
  for (const std::string& text : kScenarios) {
    const sim::OverriddenScenario scenario = scenario_of(text);
    const auto knobs = sim::quantity_knobs(scenario.document());
    const sim::Metric& metric = *sim::find_metric("tpot_mean_s");
    const sim::Waterfall w = sim::waterfall(scenario, knobs, metric);
    REQUIRE(w.steps.size() == sim::kResources);
    law.add(w.steps.back().in_order / w.now, [&] { return text; });
    CHECK(w.steps.front().in_order == w.steps.front().alone);
    for (std::size_t i = 1; i < w.steps.size(); ++i) {
      CHECK(w.steps[i].alone >= w.steps.front().alone);
    }
  }
  ROOFCAST_CHECK_LAW(law);
}

TEST_CASE("A resource that is free saves at least what twice of one of its knobs saves", "[laws]") {
  const std::pair<const char*, const char*> cases[] = {
      {"step_s",
       "system: h100_cluster_128\nmodel: llama-3.1-8b\nprecision: bf16\n"
       "deployment: {tensor_parallel: 2, data_parallel: 64}\n"
       "training: {sequence_length: 8192, global_batch: 512, trainer: megatron}\n"},
      {"ttft_mean_s",
       "system: {base: hgx_b200, chip.power.cap: 500 W}\nmodel: llama-3.1-8b\n"
       "precision: bf16\ndeployment: {}\nserving: {stack: vllm}\n"
       "traffic: {input_tokens: 8192, output_tokens: 2, concurrency: 1}\n"}};
  for (const auto& [name, text] : cases) {
    const sim::OverriddenScenario scenario = scenario_of(text);
    const auto knobs = sim::quantity_knobs(scenario.document());
    const sim::Metric& metric = *sim::find_metric(name);
    const sim::Waterfall w = sim::waterfall(scenario, knobs, metric);
    bool is_limited = false;  // by power
    for (const sim::QuantityKnob& knob : knobs) {
      if (!knob.resource || knob.time == 0 || knob.is_of_the_parent()) {
        continue;
      }
      const auto free = std::find_if(
          w.steps.begin(), w.steps.end(),
          [&](const sim::FreedResource& step) { return step.resource == *knob.resource; });
      const double twice =
          metric.value(scenario.estimate({knob.times(knob.less_is_better() ? 0.5 : 2.0)}).estimate);
      INFO(name << " " << knob.path);
      CHECK(free->alone <= (1.0 + 1e-9) * twice);
      is_limited = is_limited || (knob.resource == sim::Resource::power && twice < 0.97 * w.now);
    }
    CHECK(is_limited);
  }
}

}  // namespace roofcast::laws::laws_sensitivity
