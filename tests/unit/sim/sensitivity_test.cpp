// SPDX-License-Identifier: Apache-2.0
#include "sim/decide/sensitivity.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "sim/decide/error_shares.hpp"
#include "sim/decide/variance_shares.hpp"
#include "sim/scenario/sections.hpp"
#include "tests/catch.hpp"

namespace roofcast::unit_sim_sensitivity {

using Catch::Matchers::ContainsSubstring;

namespace {

const sim::OverriddenScenario& scenario() {
  static const sim::OverriddenScenario one(
      base::parse_document("scenario.yaml",
                           "system: hgx_h200\nmodel: llama-3.1-8b\nprecision: fp8\ndeployment: "
                           "{tensor_parallel: 2}\n"
                           "serving: {stack: vllm}\ntraffic: {input_tokens: 512, output_tokens: "
                           "64, concurrency: 8}\n"),
      "--set");
  return one;
}

const sim::Metric& metric(const char* name) { return *sim::find_metric(name); }

sim::QuantityKnob knob(const std::string& path) {
  base::Problems problems;
  sim::QuantityKnob found = sim::knob_at({"--vary", path, {}}, scenario().document(), problems);
  problems.throw_if_any();
  return found;
}

bool turns(const char* system, std::string_view path) {
  const sim::OverriddenScenario one(
      base::parse_document(
          "scenario.yaml",
          fmt::format("system: {}\nmodel: llama-3.1-8b\nprecision: fp8\n"
                      "deployment: {{tensor_parallel: 16}}\nserving: {{stack: vllm}}\n"
                      "traffic: {{input_tokens: 512, output_tokens: 64, "
                      "concurrency: 8}}\n",
                      system)),
      "--set");
  const auto knobs = sim::quantity_knobs(one.document());
  return std::any_of(knobs.begin(), knobs.end(), [&](const auto& k) { return k.path == path; });
}

std::string complaint(const std::string& path) {
  try {
    knob(path);
    return "";
  } catch (const base::InputError& error) {
    return error.what();
  }
}

sim::KnobElasticities elasticity(const sim::QuantityKnob& of, const char* name,
                                 sim::StepAndGain options = {}) {
  const sim::Metric* metrics[] = {&metric(name)};
  return sim::elasticities(scenario(), std::vector{of}, metrics, options).front();
}

sim::KnobRange range(const std::string& text) {
  base::Problems problems;
  sim::KnobRange found =
      sim::parse_knob_range({"--vary", text, {}}, scenario().document(), problems);
  problems.throw_if_any();
  return found;
}

}  // namespace

TEST_CASE("The oversubscription of a spine is a knob where it blocks", "[unit]") {
  CHECK(turns("h100_cluster_128_blocking", "system.scale_out.oversubscription"));
  CHECK(!turns("h100_cluster_128", "system.scale_out.oversubscription"));
}

TEST_CASE("The knobs of a system are its figures with units, all tensor formats as one", "[unit]") {
  const auto all = sim::quantity_knobs(scenario().document());
  const auto find = [&](const std::string& path) {
    const auto at =
        std::find_if(all.begin(), all.end(), [&](const auto& k) { return k.path == path; });
    REQUIRE(at != all.end());
    return *at;
  };
  CHECK(find("system.chip.tensor.*").figures == 5);  // fp4 is not known
  CHECK(find("system.chip.tensor.*").resource == sim::Resource::compute);
  CHECK(find("system.chip.tensor.*").time == 0);  // the clock carries it along
  CHECK(find("system.chip.compute.clock").time == -1);
  CHECK(find("system.chip.parent.clock").resource == sim::Resource::compute);
  CHECK(find("system.chip.parent.tdp").resource == sim::Resource::power);
  CHECK(find("system.chip.hbm.bandwidth").time == -1);
  CHECK(find("system.chip.hbm.bandwidth").now == "4.8 TB/s");
  CHECK(find("system.chip.hbm.capacity").time == 0);
  CHECK_FALSE(find("system.chip.hbm.capacity").resource.has_value());
  CHECK(find("system.latency.scale_up").time == 1);
  CHECK(find("system.latency.scale_up").resource == sim::Resource::network);
  CHECK(find("system.calibration.launch.kernel").resource == sim::Resource::launch);
  CHECK(find("serving.stack.overhead.per_iteration").resource == sim::Resource::host);
  CHECK(find("system.chip.power.tdp").resource == sim::Resource::power);
  for (const sim::QuantityKnob& each : all) {
    CHECK_FALSE(each.path.starts_with("system.price"));
    CHECK(each.path != "serving.stack.front_end.per_request");  // 0 us
    CHECK((each.resource.has_value() || each.time == 0));
  }
}

TEST_CASE("Less energy of memory and less power of a host are better, more of a TDP is", "[unit]") {
  for (const char* path : {"system.chip.hbm.energy", "system.host_power.per_gpu"}) {
    INFO(path);
    CHECK(knob(path).less_is_better());
    CHECK(elasticity(knob(path), "energy_j_per_tok").of.front().improved <=
          metric("energy_j_per_tok").value(scenario().estimate({}).estimate));
  }
  CHECK_FALSE(knob("system.chip.power.tdp").less_is_better());
}

TEST_CASE("A training run has its times and its failures by cause as knobs, and fewer are better",
          "[unit]") {
  const sim::OverriddenScenario run(
      base::parse_document(
          "run.yaml",
          "system: h100_cluster_128\nmodel: llama-3.1-8b\nprecision: bf16\ndeployment: "
          "{data_parallel: 64}\ntraining: {sequence_length: 4096, global_batch: 512, trainer: "
          "megatron}\nrun: {steps: 1e6, failures: {per_thousand_gpu_days: {gpu: 20, hbm: 0, host: "
          "5, source: a question}}, detection: 5 min, restart: {time: 10 min}, maintenance: "
          "{every: "
          "7 d, time: 4 h}, checkpoint: {interval: 30 min, write: 100 GB/s}}\n"),
      "--set");
  std::vector<sim::QuantityKnob> knobs;
  std::set<std::string> paths;
  for (const sim::QuantityKnob& knob : sim::quantity_knobs(run.document())) {
    if (knob.path.starts_with("run.")) {
      knobs.push_back(knob);
      paths.insert(knob.path);
    }
  }
  CHECK(paths.contains("run.failures.per_thousand_gpu_days.gpu"));
  CHECK(paths.contains("run.failures.per_thousand_gpu_days.host"));
  CHECK(paths.contains("run.detection"));
  CHECK(paths.contains("run.restart.time"));
  CHECK(paths.contains("run.checkpoint.write"));
  const sim::Metric* time = &metric("run_s");
  const double now = time->value(run.estimate({}).estimate);
  double rates = 0.0;
  for (const sim::KnobElasticities& row : sim::elasticities(run, knobs, std::vector{time}, {})) {
    INFO(row.knob.path);
    CHECK(row.knob.less_is_better() !=
          (row.knob.path == "run.maintenance.every" || row.knob.path == "run.checkpoint.write"));
    if (row.knob.path != "run.checkpoint.interval") {  // has a best value
      CHECK(row.of.front().improved <= now);
    }
    if (row.knob.path.find("per_thousand_gpu_days") != std::string::npos) {
      rates += row.of.front().value;
    }
  }
  // 64 GPUs: 1.6 failures a day, each of which loses some 30 minutes.
  CHECK(rates == Approx(1.6 * 30.0 / 1440.0).epsilon(0.1));
}

TEST_CASE("A knob that somebody names is found with what it is, or said to be none", "[unit]") {
  CHECK(knob("traffic.concurrency").whole);
  CHECK(knob("traffic.concurrency").number == 8.0);
  CHECK(knob("system.chip.tensor.*").figures == 5);
  CHECK(knob("system.chip.hbm.*").time == 0);  // a size and a rate
  CHECK_THAT(complaint("system.chip.hbm.bandwith"), ContainsSubstring("no value to start from"));
  CHECK_THAT(complaint("system.chip.name"), ContainsSubstring("no number to start from"));
  CHECK_THAT(complaint("system.latencies.*"), ContainsSubstring("no group with numbers"));
}

TEST_CASE("Settings are those of an estimate, and parts stay what they were", "[unit]") {
  const sim::Scenario read = sim::read_scenario(scenario().document());
  sim::Workspace workspace;
  const sim::ServingEstimate whole = sim::estimate(sim::view(read), workspace);
  CHECK(scenario().estimate({}).estimate.steady.tpot == whole.steady.tpot);
  const sim::OverriddenEstimate overridden =
      scenario().estimate({"system.chip.hbm.bandwidth=x1.000001"});
  CHECK(overridden.estimate.provenance == whole.provenance);
  CHECK(overridden.estimate.steady.tpot.si() == Approx(whole.steady.tpot.si()).epsilon(1e-5));
  const sim::OverriddenEstimate other = scenario().estimate({"system.chip=h100_sxm"});
  CHECK(other.estimate.steady.tpot > whole.steady.tpot);
  CHECK_THAT(scenario().estimate({"deployment.tensor_parallel=-1"}).refusal,
             ContainsSubstring("tensor_parallel"));
}

TEST_CASE("The link of a module is a knob of the network", "[unit]") {
  const sim::OverriddenScenario gb200(
      base::parse_document(
          "scenario.yaml",
          "system: gb200_nvl72\nmodel: llama-3.1-8b\nprecision: fp8\ndeployment: {}\n"
          "serving: {stack: vllm}\ntraffic: {input_tokens: 512, output_tokens: "
          "64, concurrency: 8}\n"),
      "--set");
  const auto knobs = sim::quantity_knobs(gb200.document());
  const auto link = std::find_if(knobs.begin(), knobs.end(), [](const auto& k) {
    return k.path == "system.chip.cpu_link.bandwidth_per_direction";
  });
  REQUIRE(link != knobs.end());
  CHECK(link->resource == sim::Resource::network);
}

TEST_CASE("What is in proportion to a knob has an elasticity of one, what does not know it of none",
          "[unit]") {
  const auto cost = elasticity(knob("system.price.per_gpu_hour"), "cost_usd_per_mtok");
  CHECK(cost.of[0].value == Approx(1.0).margin(1e-12));
  CHECK(cost.of[0].half_step == Approx(1.0).margin(1e-12));
  CHECK(cost.of[0].improved ==
        Approx(1.2 * metric("cost_usd_per_mtok").value(scenario().estimate({}).estimate)));
  CHECK(elasticity(knob("system.price.per_gpu_hour"), "tpot_mean_s").of[0].value == 0.0);
}

TEST_CASE("A latency that is better is smaller", "[unit]") {
  const auto launch =
      elasticity(knob("system.calibration.launch.kernel"), "tpot_mean_s", {1.1, 2.0});
  CHECK(launch.of[0].value > 0.0);
  const auto half = scenario().estimate({"system.calibration.launch.kernel=x0.5"});
  CHECK(launch.of[0].improved == Approx(half.estimate.steady.tpot.si()).epsilon(1e-12));
}

TEST_CASE("Whole numbers move to whole numbers, and one side does where the other is refused",
          "[unit]") {
  const auto clients = elasticity(knob("traffic.concurrency"), "throughput_tok_per_s");
  const auto rate = [&](const char* setting) {
    return scenario().estimate({setting}).estimate.output_rate;
  };
  CHECK(clients.of[0].value ==
        Approx(std::log(rate("traffic.concurrency=9") / rate("traffic.concurrency=7")) /
               std::log(9.0 / 7.0)));
  CHECK(clients.note.empty());
  // An efficiency is at most 1.
  const auto share =
      elasticity(knob("system.calibration.memory.dram_efficiency"), "tpot_mean_s", {1.5, 1.2});
  CHECK(share.note == "one-sided");
  CHECK(share.of[0].value < -0.1);
  // 2 ± 1 ranks: 1 fits, 3 do not divide the model.
  CHECK(elasticity(knob("deployment.tensor_parallel"), "tpot_mean_s").note == "one-sided");
}

TEST_CASE("Shares of a forecast's errors sum to one, and knowing one narrows the interval",
          "[unit]") {
  sim::Workspace workspace;
  const sim::ScenarioView view = sim::view(scenario().scenario());
  const sim::ServingEstimate e = sim::estimate(view, workspace);
  for (const char* name : {"tpot_mean_s", "ttft_mean_s", "throughput_tok_per_s_per_gpu"}) {
    const sim::Interval90 now = sim::interval90(metric(name), e);
    const auto shares = sim::error_shares(view, metric(name), workspace);
    REQUIRE(shares.size() >= (std::string_view(name) == "ttft_mean_s" ? 1 : 2));  // it waits
    double sum = 0.0;
    for (std::size_t i = 0; i < shares.size(); ++i) {
      sum += shares[i].share;
      CHECK((i == 0 || shares[i].share <= shares[i - 1].share));
      CHECK(shares[i].without.low >= now.low * (1.0 - 1e-9));
      CHECK(shares[i].without.high <= now.high * (1.0 + 1e-9));
      CHECK(shares[i].source != "mamba2");  // the model has none
    }
    CHECK(sum == Approx(1.0));
    const sim::Interval90 best = shares.front().without;
    CHECK(best.high / best.low < 0.9 * now.high / now.low);
  }
  CHECK(sim::error_shares(view, metric("gpus"), workspace).empty());
}

TEST_CASE("The errors of a trainer are a source of the interval of its step", "[unit]") {
  const auto scenario = sim::read_scenario(base::parse_document(
      "test",
      "system: hgx_h100\nmodel: llama-3.1-8b\nprecision: bf16\ndeployment: "
      "{data_parallel: 8}\ntraining: {global_batch: 64, sequence_length: 4096, trainer: "
      "megatron}\n"));
  sim::Workspace workspace;
  const auto shares = sim::error_shares(sim::view(scenario), metric("step_s"), workspace);
  const auto share = [&](std::string_view source) {
    const auto found = std::find_if(shares.begin(), shares.end(),
                                    [&](const auto& each) { return each.source == source; });
    return found == shares.end() ? 0.0 : found->share;
  };
  // Its quantiles, 0.9 and 1.3, are farther apart than those of any operators.
  CHECK(share("trainer") > 0.5);
  CHECK(share("gemm") > 0.0);
  CHECK(share("server") == 0.0);
}

TEST_CASE("A range is even by ratio from a positive end, even from zero, and lists are alike",
          "[unit]") {
  CHECK(sim::value_at(range("system.chip.hbm.bandwidth=x0.5..x2"), 0.5) == "x1");
  CHECK(sim::value_at(range("system.chip.hbm.bandwidth=0 TB/s..4 TB/s"), 0.25) == "1 TB/s");
  CHECK(sim::value_at(range("system=a,b,c"), 0.0) == "a");
  CHECK(sim::value_at(range("system=a,b,c"), 0.999) == "c");
  std::set<std::string> seen;
  for (int i = 0; i < 1000; ++i) {
    seen.insert(sim::value_at(range("traffic.concurrency=2..5"), i / 1000.0));
  }
  CHECK(seen == std::set<std::string>{"2", "3", "4", "5"});
}

TEST_CASE("The variance of a product of powers is shared as their logarithms' widths", "[unit]") {
  // Cost is price × what does not know it: log-uniform over a narrow range, nearly linear.
  const sim::Metric* metrics[] = {&metric("cost_usd_per_mtok"), &metric("tpot_mean_s")};
  const std::vector<sim::KnobRange> ranges = {range("system.price.per_gpu_hour=x0.9..x1.1"),
                                              range("system.chip.hbm.bandwidth=x0.8..x0.975")};
  const auto v = sim::variance_shares(scenario(), ranges, metrics, {256, 1});
  CHECK(v.rows == 256);
  CHECK(v.estimates == 256 * 4);
  CHECK(v.rows_left_out == 0);
  const auto& cost = v.of[0].indices;
  // Within this range equal clients keep their pattern: above it two more of them have their prompts together.
  const auto cost_at = [](const char* bandwidth) {
    return metric("cost_usd_per_mtok").value(scenario().estimate({bandwidth}).estimate);
  };
  const double e = std::log(cost_at("system.chip.hbm.bandwidth=x0.975") /
                            cost_at("system.chip.hbm.bandwidth=x0.8")) /
                   std::log(0.975 / 0.8);
  CHECK(cost.first[0].half_width90 < 0.15);
  CHECK(cost.first[0].value ==
        Approx(1.0 / (1.0 + e * e)).margin(2.0 * cost.first[0].half_width90));
  CHECK(cost.total[1].value == Approx(e * e / (1.0 + e * e)).margin(0.02));
  CHECK(v.of[1].indices.total[0].value == Approx(0.0).margin(1e-12));
  CHECK(v.of[0].low90 < v.of[0].mean);
  CHECK(v.of[0].mean < v.of[0].high90);
}

TEST_CASE("The same seed shares a variance alike to the last digit, another one does not",
          "[unit]") {
  const sim::Metric* metrics[] = {&metric("tpot_mean_s")};
  const std::vector<sim::KnobRange> ranges = {range("system.chip.hbm.bandwidth=x0.5..x2"),
                                              range("traffic.input_tokens=100..4000")};
  const auto first = [&](std::uint64_t seed) {
    return sim::variance_shares(scenario(), ranges, metrics, {64, seed}).of[0].indices;
  };
  CHECK(first(1).first[0].value == first(1).first[0].value);
  CHECK(first(1).total[1].half_width90 == first(1).total[1].half_width90);
  CHECK(first(1).first[0].value != first(2).first[0].value);
}

TEST_CASE("Without a number of rows the sample grows until its intervals are narrow", "[unit]") {
  const sim::Metric* metrics[] = {&metric("tpot_mean_s")};
  const std::vector<sim::KnobRange> ranges = {range("system.chip.hbm.bandwidth=x0.5..x2"),
                                              range("traffic.concurrency=1..32")};
  const auto v = sim::variance_shares(scenario(), ranges, metrics);
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(v.of[0].indices.first[i].half_width90 <= 0.05);
    CHECK(v.of[0].indices.total[i].half_width90 <= 0.05);
  }
}

}  // namespace roofcast::unit_sim_sensitivity
