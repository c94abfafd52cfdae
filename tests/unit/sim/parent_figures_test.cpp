// SPDX-License-Identifier: Apache-2.0
#include "sim/result/parent_figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/document/notes.hpp"
#include "sim/decide/shown_columns.hpp"
#include "sim/decide/sweep_run.hpp"
#include "sim/result/costs.hpp"
#include "sim/result/metrics.hpp"
#include "sim/scenario/knob.hpp"
#include "sim/scenario/sections.hpp"
#include "tests/catch.hpp"

namespace roofcast::unit_sim_parent_figures {

using Catch::Matchers::ContainsSubstring;

namespace {

constexpr const char* kScenario = R"(
system: hgx_h200
model: llama-3.1-8b
precision: bf16
deployment: {tensor_parallel: 1}
serving: {stack: vllm}
traffic: {input_tokens: 8000, output_tokens: 50, concurrency: 4}
)";

sim::Scenario scenario_of(const std::vector<std::string>& set) {
  base::Node document = base::parse_document("scenario", kScenario);
  base::Problems problems;
  for (const std::string& setting : set) {
    sim::set_knob(document, {"--set", setting, {}}, problems);
  }
  problems.throw_if_any();
  return sim::read_scenario(document);
}

std::vector<std::string> sentences(const std::vector<std::string>& set) {
  const sim::Scenario scenario = scenario_of(set);
  return sim::parent_sentences(sim::view(scenario));
}

const std::string kChanged = "system.chip.compute.sms=x1.15";
const std::string kReplaced = "system.chip=b200_sxm";

sim::SweepPoints points_of(const std::string& axes) {
  return sim::SweepPoints(sim::read_sweep(base::parse_document(
      "sweep",
      "base: {system: hgx_h200, model: llama-3.1-8b, precision: bf16, deployment: "
      "{tensor_parallel: 1}, serving: {stack: vllm}, traffic: {input_tokens: 8000, output_tokens: "
      "50, concurrency: 4}}\npareto: {minimize: [cost_usd_per_mtok]}\naxes: " +
          axes)));
}

bool has(const std::vector<std::string>& columns, const std::string& name) {
  return std::find(columns.begin(), columns.end(), name) != columns.end();
}

}  // namespace

TEST_CASE("A figure that nobody gave since the chip was changed is told to be the parent's",
          "[unit]") {
  CHECK(sentences({}).empty());
  CHECK(sentences({kChanged}) ==
        std::vector<std::string>{
            "The price and the TDP of HGX/DGX H200, 8 GPUs with a changed NVIDIA H200 SXM are "
            "those of a system with NVIDIA H200 SXM: set system.price.per_gpu_hour and "
            "system.chip.power.tdp"});
  CHECK(sentences({kChanged, "system.chip.power.tdp=700 W"}) ==
        std::vector<std::string>{
            "The price of HGX/DGX H200, 8 GPUs with a changed NVIDIA H200 SXM is that of a system "
            "with NVIDIA H200 SXM: set system.price.per_gpu_hour"});
  CHECK(sentences({kChanged, "system.chip.power.tdp=x1.2", "system.price.per_gpu_hour=x1.1"})
            .empty());
  // A cap is a setting of the same part.
  CHECK(sentences({"system.chip.power.cap=500 W"}).empty());
}

TEST_CASE(
    "What a chip with a name of its own took from its parent is told under the parent's name, "
    "wherever its name is written",
    "[unit]") {
  for (const char* chip : {"base: h200_sxm, name: NEXT, hbm.bandwidth: 8 TB/s, tensor.*: x2",
                           "base: h200_sxm, hbm.bandwidth: 8 TB/s, tensor.*: x2, name: NEXT"}) {
    std::string text = kScenario;
    text.replace(text.find("hgx_h200"), 8, fmt::format("{{base: hgx_h200, chip: {{{}}}}}", chip));
    const sim::Scenario scenario = sim::read_scenario(base::parse_document("scenario", text));
    const std::vector<std::string> told = sim::parent_sentences(sim::view(scenario));
    REQUIRE(told.size() == 2);
    CHECK(told[1] ==
          "The TDP of HGX/DGX H200, 8 GPUs with NEXT is that of a system with NVIDIA H200 SXM: set "
          "system.chip.power.tdp");
  }
}

TEST_CASE("A chip that stands in another's system has its own TDP, and the other's price and hosts",
          "[unit]") {
  const std::vector<std::string> rented = sentences({kReplaced});
  REQUIRE(rented.size() == 1);
  CHECK_THAT(rented[0], ContainsSubstring("The price of HGX/DGX H200, 8 GPUs with NVIDIA B200 SXM "
                                          "is that of a system with"));
  const std::vector<std::string> owned = sentences({kReplaced, "prices=us_colocation"});
  REQUIRE(owned.size() == 1);
  CHECK_THAT(owned[0], ContainsSubstring("host power"));
  CHECK_THAT(owned[0], ContainsSubstring("system.host_power.per_gpu"));
  // What was replaced and then changed is at the price of the first, with the watts of the second.
  const std::vector<std::string> both = sentences({kReplaced, kChanged});
  REQUIRE(both.size() == 2);
  CHECK_THAT(both[0], ContainsSubstring("The price of"));
  CHECK_FALSE(both[0].find("system with NVIDIA B200") != std::string::npos);
  CHECK_THAT(both[1], ContainsSubstring("The TDP of"));
  CHECK_THAT(both[1], ContainsSubstring("system with NVIDIA B200 SXM"));
}

TEST_CASE("A sweep has the column of the parent's figures only where a row has some", "[unit]") {
  const sim::SweepPoints replaced = points_of("{system.chip: [h200_sxm, b200_sxm]}");
  const sim::ResultTable table = sim::run_sweep(replaced, 1);
  CHECK(table.column("parent_figures").text(0).empty());
  CHECK_THAT(table.column("parent_figures").text(1), ContainsSubstring("price of"));
  CHECK(has(sim::shown_columns(replaced.sweep(), table.names()), "parent_figures"));
  CHECK_FALSE(
      has(sim::result_columns(points_of("{system: [hgx_h200, hgx_b200]}")), "parent_figures"));
  CHECK_FALSE(
      has(sim::result_columns(points_of("{traffic.concurrency: [1, 2]}")), "parent_figures"));
}

TEST_CASE("Clocks are columns of a sweep where its power limit is a question", "[unit]") {
  const auto shows = [](const std::string& axes, const std::string& metric) {
    const sim::SweepPoints points = points_of(axes);
    return has(sim::shown_columns(points.sweep(), sim::result_columns(points)), metric);
  };
  CHECK(shows("{system.chip.power.cap: [400 W, 700 W]}", "prefill_clock"));
  CHECK(shows("{system.chip.power.tdp: [700 W, 800 W]}", "decode_clock"));
  CHECK_FALSE(shows("{traffic.concurrency: [1, 2]}", "prefill_clock"));
  CHECK_FALSE(shows("{system.chip: [h200_sxm, b200_sxm]}", "decode_clock"));
}

TEST_CASE("A lower cap lowers the clock of prompts, and what the TDP is not known of has none",
          "[unit]") {
  const auto clock_of = [](const std::vector<std::string>& set, const char* metric) {
    const sim::Scenario scenario = scenario_of(set);
    sim::Workspace workspace;
    return sim::find_metric(metric)->value(sim::estimate(sim::view(scenario), workspace));
  };
  const double low = clock_of({"system.chip.power.cap=300 W"}, "prefill_clock");
  const double high = clock_of({"system.chip.power.cap=500 W"}, "prefill_clock");
  CHECK(low > 0.0);
  CHECK(low < high);
  CHECK(high < 1.0);
  CHECK(std::isnan(clock_of({"system.chip.power.tdp=null"}, "prefill_clock")));
}

TEST_CASE("What keeps a power budget without an answer has a key, and a note where it is the PUE",
          "[unit]") {
  const auto missing = [](const std::vector<std::string>& set) {
    const sim::Scenario scenario = scenario_of(set);
    return sim::missing_power(sim::view(scenario));
  };
  base::take_notes();
  CHECK(missing({"prices={pay: rental, power_budget: 2 MW}"}) == "prices.pue");
  const std::vector<std::string> notes = base::take_notes();
  CHECK(std::any_of(notes.begin(), notes.end(), [](const std::string& note) {
    return note.find("prices.power_budget") != std::string::npos;
  }));
  const std::string budget = "prices={base: us_colocation, power_budget: 2 MW, pay: rental}";
  CHECK(missing({budget}).empty());
  CHECK(missing({budget, "system.host_power=null"}) == "system.host_power");
  CHECK(missing({"prices=us_colocation", "system.host_power=null"}).empty());
}

}  // namespace roofcast::unit_sim_parent_figures
