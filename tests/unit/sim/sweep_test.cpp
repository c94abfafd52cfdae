// SPDX-License-Identifier: Apache-2.0
#include "sim/decide/sweep.hpp"

#include <string>
#include <vector>

#include "base/document/node.hpp"
#include "base/document/problems.hpp"
#include "sim/confirm/replayed_rows.hpp"
#include "sim/decide/sweep_run.hpp"
#include "sim/estimate.hpp"
#include "sim/result/metrics.hpp"
#include "tests/catch.hpp"

namespace roofcast::unit_sim_sweep {

using Catch::Matchers::ContainsSubstring;

namespace {

const std::string kBase =
    "base:\n"
    "  system: hgx_h200\n"
    "  model: llama-3.1-8b\n"
    "  precision: fp8\n"
    "  deployment: {tensor_parallel: 1}\n"
    "  serving: {stack: vllm}\n"
    "  traffic: {input_tokens: 2048, output_tokens: 512, concurrency: 64}\n";

sim::Sweep sweep_of(const std::string& rest) {
  return sim::read_sweep(base::parse_document("sweep.yaml", kBase + rest));
}

std::vector<std::string> labels(const std::string& axis) {
  std::vector<std::string> texts;
  const sim::Sweep sweep = sweep_of("axes: {" + axis + "}\n");
  for (const auto& value : sweep.axes.at(0).values) {
    texts.push_back(value.label);
  }
  return texts;
}

std::string complaint(const std::string& rest) {
  try {
    sim::SweepPoints(sweep_of(rest));
    return "";
  } catch (const base::InputError& error) {
    return error.what();
  }
}

std::size_t errors_in(const std::string& text) {
  std::size_t count = 0;
  for (auto at = text.find("error:"); at != std::string::npos; at = text.find("error:", at + 1)) {
    ++count;
  }
  return count;
}

using Texts = std::vector<std::string>;
const std::string kAxis = "axes: {traffic.concurrency: [1, 2]}\n";

}  // namespace

TEST_CASE("a list is an axis of its values", "[unit]") {
  CHECK(labels("traffic.concurrency: [1, 16, 64]") == Texts{"1", "16", "64"});
  CHECK(labels("system.chip.hbm.bandwidth: [x1, x1.5, 10 TB/s]") == Texts{"x1", "x1.5", "10 TB/s"});
  CHECK(labels("precision: [{name: mine, weights: fp8, activations: fp8, kv_cache: bf16}, fp8]") ==
        Texts{"mine", "fp8"});
}

TEST_CASE("a range by a factor or a step includes the ends it reaches", "[unit]") {
  CHECK(labels("traffic.concurrency: {from: 1, to: 16, factor: 2}") ==
        Texts{"1", "2", "4", "8", "16"});
  CHECK(labels("traffic.concurrency: {from: 1, to: 15, factor: 2}") == Texts{"1", "2", "4", "8"});
  CHECK(labels("traffic.concurrency: {from: 8, to: 24, step: 8}") == Texts{"8", "16", "24"});
  CHECK(labels("traffic.concurrency: {from: 8, to: 23, step: 8}") == Texts{"8", "16"});
  CHECK(labels("traffic.concurrency: {from: 5, to: 5, step: 1}") == Texts{"5"});
  CHECK(labels("traffic.arrivals.rate: {from: 0.5, to: 2, factor: 2, unit: /s}") ==
        Texts{"0.5 /s", "1 /s", "2 /s"});
  CHECK(labels("traffic.concurrency: {from: 1000, to: 1000000000, factor: 1000}") ==
        Texts{"1000", "1000000", "1000000000"});
}

TEST_CASE("rounding neither loses the end of a range nor shows in it", "[unit]") {
  CHECK(labels("serving.memory_fraction: {from: 0.1, to: 0.7, step: 0.1}") ==
        Texts{"0.1", "0.2", "0.3", "0.4", "0.5", "0.6", "0.7"});
  CHECK(labels("serving.memory_fraction: {from: 0.001, to: 1, factor: 10}") ==
        Texts{"0.001", "0.01", "0.1", "1"});
}

TEST_CASE("a range of more values than an axis can have is refused, not cut", "[unit]") {
  CHECK_THAT(complaint("axes: {traffic.concurrency: {from: 1, to: 1e9, step: 1}}\n"),
             ContainsSubstring("a range makes at most 100000 values"));
  CHECK(labels("traffic.concurrency: {from: 1, to: 100000, step: 1}").size() == 100'000);
}

TEST_CASE("a bundle sets several knobs under one label", "[unit]") {
  const auto sweep = sweep_of(
      "axes:\n  plan:\n    low: {traffic.concurrency: 1}\n"
      "    high: {traffic.concurrency: 256, serving.max_sequences: 128}\n    same: {}\n");
  REQUIRE(sweep.axes.at(0).values.size() == 3);
  const sim::SweepPoints points(sweep);
  CHECK(points.label(0, 0) == "low");
  CHECK(points.scenario(0).traffic->concurrency == 1);
  CHECK(points.scenario(1).traffic->concurrency == 256);
  CHECK(points.scenario(1).serving->limits.max_sequences == 128);
  CHECK(points.label(2, 0) == "same");
  CHECK(points.scenario(2).traffic->concurrency == 64);
}

TEST_CASE("points are the product of the axes, the last axis fastest", "[unit]") {
  const sim::SweepPoints points(
      sweep_of("axes:\n  system: [hgx_h100, hgx_h200]\n  traffic.concurrency: [1, 2, 3]\n"
               "  deployment.tensor_parallel: [1, 2]\n"));
  REQUIRE(points.size() == 12);
  CHECK(points.sweep().points() == 12);
  for (std::size_t i = 0; i < points.size(); ++i) {
    const auto view = points.scenario(i);
    INFO(i);
    CHECK(points.label(i, 0) == (i < 6 ? "hgx_h100" : "hgx_h200"));
    CHECK(view.platform->system.id == points.label(i, 0));
    CHECK(view.traffic->concurrency == static_cast<std::int64_t>(i / 2 % 3 + 1));
    CHECK(view.mapping->tensor_parallel == static_cast<std::int64_t>(i % 2 + 1));
  }
}

TEST_CASE("outer knobs are set before inner ones, whatever the order of the axes", "[unit]") {
  const auto bandwidth = [](const std::string& axes) {
    const sim::SweepPoints points(sweep_of("axes: {" + axes + "}\n"));
    return points.scenario(0).platform->system.chip.bandwidth.si();
  };
  const double h100 = bandwidth("system: [hgx_h100]");
  CHECK(bandwidth("system: [hgx_h200]") > h100);
  CHECK(bandwidth("system.chip.hbm.bandwidth: [x2], system: [hgx_h100]") == Approx(2.0 * h100));
  CHECK(bandwidth("system: [hgx_h100], system.chip.hbm.bandwidth: [x2]") == Approx(2.0 * h100));
  CHECK(bandwidth("system.chip.hbm.bandwidth: [x2], system.chip: [h100_sxm], system: [hgx_b200]") ==
        Approx(2.0 * h100));
}

TEST_CASE("a condition is fits, or a metric, a relation and a number", "[unit]") {
  using Relation = sim::Condition::Relation;
  const auto parsed = [](const std::string& text) {
    base::Problems problems;
    const auto condition = sim::parse_condition(text, {}, problems);
    CHECK(problems.empty());
    REQUIRE(condition);
    return *condition;
  };
  CHECK(parsed("fits").metric.empty());
  const std::vector<std::pair<std::string, Relation>> relations = {{"<", Relation::less},
                                                                   {"<=", Relation::less_equal},
                                                                   {">", Relation::greater},
                                                                   {">=", Relation::greater_equal},
                                                                   {"==", Relation::equal}};
  for (const auto& [symbol, relation] : relations) {
    for (const char* blank : {"", " ", "  "}) {
      const auto condition = parsed(std::string("ttft_p50_s") + blank + symbol + blank + "2e-1");
      CHECK(condition.metric == "ttft_p50_s");
      CHECK(condition.relation == relation);
      CHECK(condition.bound == 0.2);
    }
  }
  for (const sim::Metric& metric : sim::metrics()) {
    CHECK(parsed(std::string(metric.name) + " <= 1").metric == metric.name);
  }
}

TEST_CASE("The bound of a condition may have a unit, and the name then need not", "[unit]") {
  const std::tuple<const char*, const char*, double> conditions[] = {
      {"ttft_p95_s <= 500ms", "ttft_p95_s", 0.5},
      {"ttft_p95 <= 500 ms", "ttft_p95_s", 0.5},
      {"tpot_mean <= 20000us", "tpot_mean_s", 0.02},
      {"memory < 80 GB", "memory_b_per_gpu", 80e9},
      {"power_w_per_gpu < 0.7 kW", "power_w_per_gpu", 700.0},
      {"cost <= 1.5 USD/Mtok", "cost_usd_per_mtok", 1.5},
      {"interactivity >= 50 tok/s/user", "interactivity_tok_per_s_per_user", 50.0},
      {"goodput >= 2/s", "goodput", 2.0},
      {"attainment >= 95 %", "attainment", 0.95}};
  for (const auto& [text, metric, bound] : conditions) {
    INFO(text);
    base::Problems problems;
    const auto condition = sim::parse_condition(text, {}, problems);
    CHECK(problems.empty());
    REQUIRE(condition);
    CHECK(condition->metric == metric);
    CHECK(condition->bound == Approx(bound));
    CHECK(condition->text == text);
  }
}

TEST_CASE("A bound in another unit, or with no unit at all, is refused with the one that it needs",
          "[unit]") {
  const std::pair<const char*, const char*> conditions[] = {
      {"ttft_p95 <= 500", "write ttft_p95_s, or the bound with its unit, s"},
      {"ttft_p95_s <= 5 GB", "is no value of ttft_p95_s"},
      {"gpus <= 8 s", "has a unit; gpus has none"},
      {"cost <= 2 EUR", "is not in USD/Mtok output, the unit of cost_usd_per_mtok"}};
  for (const auto& [text, part] : conditions) {
    INFO(text);
    base::Problems problems;
    CHECK_FALSE(sim::parse_condition(text, {}, problems));
    CHECK_THAT(problems.text(), ContainsSubstring(part));
  }
}

TEST_CASE("a condition that is none is told with what is allowed", "[unit]") {
  const auto said = [](const std::string& text) {
    base::Problems problems;
    CHECK_FALSE(sim::parse_condition(text, {}, problems));
    CHECK(problems.size() == 1);
    return problems.text();
  };
  CHECK_THAT(said("ttft_p5_s <= 2"), ContainsSubstring("did you mean \"ttft_p50_s\"?"));
  CHECK_THAT(said("throughput <= 2 tok/s"),
             ContainsSubstring("did you mean \"throughput_tok_per_s_per_gpu\" or "
                               "\"throughput_tok_per_s\"?"));
  for (const char* bad :
       {"ttft_p50_s <= ", "ttft_p50_s <= nan", "ttft_p50_s <= inf", "ttft_p50_s <= tpot_mean_s"}) {
    INFO(bad);
    CHECK_THAT(said(bad), ContainsSubstring("is not a number"));
  }
  for (const char* bad : {"", "fit", "Fits", "ttft_p50_s = 2", "ttft_p50_s"}) {
    INFO(bad);
    CHECK_THAT(said(bad), ContainsSubstring("expects \"fits\" or a comparison"));
  }
}

TEST_CASE("without goals the front is throughput per GPU against interactivity", "[unit]") {
  const auto sweep = sweep_of(kAxis);
  CHECK(sweep.pareto.maximize ==
        Texts{"throughput_tok_per_s_per_gpu", "interactivity_tok_per_s_per_user"});
  CHECK(sweep.pareto.minimize.empty());
  const auto own = sweep_of(kAxis + "pareto: {minimize: [ttft_p50_s], by: traffic.concurrency}\n");
  CHECK(own.pareto.maximize.empty());
  CHECK(own.pareto.minimize == Texts{"ttft_p50_s"});
  CHECK(own.pareto.by == std::vector<std::string>{"traffic.concurrency"});
}

TEST_CASE("By several axes each of their combinations has a front of its own", "[unit]") {
  const sim::SweepPoints points(
      sweep_of("axes: {system: [hgx_h100, hgx_h200], precision: [fp8, bf16], "
               "traffic.concurrency: [8, 32]}\n"
               "pareto: {maximize: [throughput_tok_per_s_per_gpu], by: [precision, system]}\n"));
  const sim::ResultTable result = sim::run_sweep(points, 1);
  CHECK(points.sweep().group_axes() == std::vector<std::size_t>{1, 0});
  for (std::size_t row = 0; row < points.size(); ++row) {
    CHECK(result.is_on_front(row) == (row % 2 == 1));
    CHECK(result.column("pareto_rank").cell(row) == (row % 2 == 1 ? "1" : "2"));
  }
}

TEST_CASE("a bad value of an axis is reported once, however many points it makes", "[unit]") {
  const std::string text = complaint(
      "axes:\n  traffic.concurrency: [1, many, 3]\n  traffic.input_tokens: [100, 200, 300, 400]\n"
      "  system: [hgx_h100, hgx_h200]\n");
  INFO(text);
  CHECK(errors_in(text) == 1);
  CHECK_THAT(text, ContainsSubstring("sweep.yaml:9:28: error: traffic.concurrency"));
}

TEST_CASE("a value that is bad for some systems of a sweep names them", "[unit]") {
  const std::string systems = "axes:\n  system: [hgx_a100, hgx_h200, hgx_b200, hgx_h100]\n";
  CHECK_THAT(complaint(systems + "  system.chip.tensor.fp4: [x1, x2]\n"),
             ContainsSubstring("none here (system: hgx_a100, hgx_h200, hgx_h100)\n"));
  const std::string all = complaint(systems + "  system.chip.tensor.fp4: [1 W]\n");
  CHECK(errors_in(all) == 1);
  CHECK(all.find("hgx_h200") == std::string::npos);
}

TEST_CASE("a power cap that some chips cannot hold is a reason of their rows", "[unit]") {
  const sim::SweepPoints points(sweep_of(
      "axes:\n  system: [hgx_h100, hgx_b200]\n  system.chip.power.cap: [x0.9, 100 W, 900 W]\n"));
  std::vector<std::string> reasons;
  for (std::size_t point = 0; point < points.size(); ++point) {
    sim::Workspace workspace;
    reasons.push_back(sim::reason(sim::estimate(points.scenario(point), workspace)));
  }
  CHECK(reasons[0].empty());
  CHECK_THAT(reasons[1],
             ContainsSubstring("a power cap of 100 W, of which the chip holds 0.98, is not above"));
  CHECK(reasons[2] == "a power cap of 900 W is above the TDP of the chip, 700 W");
  CHECK(reasons[3].empty());
  CHECK(reasons[5].empty());
}

TEST_CASE("bad values of several axes are all reported", "[unit]") {
  const std::string text = complaint(
      "axes:\n  traffic.concurrency: [1, many]\n  system: [hgx_h100, nowhere]\n"
      "  deployment.tensor_parallel: [1, 0]\n  precision: [fp8, fp9]\n");
  INFO(text);
  CHECK(errors_in(text) == 4);
}

TEST_CASE("a mistake of the base scenario is reported once for all points", "[unit]") {
  const std::string text = complaint(
      "  colour: red\n" + std::string("axes: {traffic.concurrency: [1, 2, 3, 4, 5, 6, 7, 8]}\n"));
  INFO(text);
  CHECK(errors_in(text) == 1);
  CHECK_THAT(text, ContainsSubstring("sweep.yaml:8:3: error: colour: unknown key"));
}

TEST_CASE("a range with one mistake is told of that mistake alone", "[unit]") {
  for (const char* range :
       {"{from: one, to: 8, factor: 2}", "{from: 1, to: 8, factor: two}", "{from: 1, to: 8}",
        "{from: 1, to: 8, facter: 2}", "{to: 8, factor: 2}", "{from: 0, to: 8, factor: 2}",
        "{from: 1, to: 8, step: 0}", "{from: 1, to: 8, factor: 0.5}", "{from: 8, to: 1, step: 1}",
        "{from: 1, to: 8, step: 1, factor: 2}"}) {
    const std::string text = complaint("axes: {traffic.concurrency: " + std::string(range) + "}\n");
    INFO(range << "\n" << text);
    CHECK(errors_in(text) == 1);
  }
}

TEST_CASE("a factor of a later axis multiplies the value of an earlier one", "[unit]") {
  const sim::SweepPoints points(
      sweep_of("axes:\n"
               "  chip: {next: {system.chip.hbm.bandwidth: 8 TB/s}}\n"
               "  system.chip.hbm.bandwidth: [x1, x1.5]\n"));
  const auto bandwidth = [&](std::size_t point) {
    return points.scenario(point).platform->system.chip.bandwidth.si();
  };
  CHECK(bandwidth(0) == 8e12);
  CHECK(bandwidth(1) == Approx(12e12));
}

TEST_CASE("rows that are not replayed are not fetched, however many are recommended", "[unit]") {
  const sim::SweepPoints points(
      sweep_of("axes: {traffic.concurrency: {from: 1, to: 50, step: 1}}\n"
               "pareto: {maximize: [throughput_tok_per_s_per_gpu], by: traffic.concurrency}\n"));
  sim::ResultTable table = sim::run_sweep(points, 1);
  std::size_t fetched = 0;
  sim::ReplayedRowsOptions options;
  options.replay = false;
  options.fetch = [&](const std::vector<std::size_t>& rows) { fetched += rows.size(); };
  CHECK(sim::replay_recommended(points, table, options).estimated == 50);
  CHECK(fetched == 0);
}

}  // namespace roofcast::unit_sim_sweep
