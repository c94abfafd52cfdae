// SPDX-License-Identifier: Apache-2.0
#include "sim/scenario/sections.hpp"

#include <string>
#include <vector>

#include "base/document/node.hpp"
#include "base/document/problems.hpp"
#include "sim/scenario/knob.hpp"
#include "sim/scenario/references.hpp"
#include "tests/catch.hpp"

namespace roofcast::unit_sim_scenario {

using base::Node;
using base::Problems;
using Catch::Matchers::ContainsSubstring;

namespace {

const std::string kText =
    "system: hgx_h200\n"
    "model: llama-3.1-70b\n"
    "precision: fp8\n"
    "deployment: {tensor_parallel: 8}\n"
    "serving: {stack: vllm}\n"
    "traffic: {input_tokens: 2048, output_tokens: 512, concurrency: 64}\n";

Node document() { return base::parse_document("scenario.yaml", kText); }

// The scenario with knobs set as --set does.
sim::Scenario scenario_with(const std::vector<std::string>& assignments) {
  Node node = document();
  Problems problems;
  for (const std::string& assignment : assignments) {
    sim::set_knob(node, {"--set", assignment, {}}, problems);
  }
  problems.throw_if_any();
  return sim::read_scenario(std::move(node));
}

std::string complaint(const std::vector<std::string>& assignments) {
  try {
    scenario_with(assignments);
    return "";
  } catch (const base::InputError& error) {
    return error.what();
  }
}

double bandwidth() { return scenario_with({}).platform.system.chip.bandwidth.si(); }

}  // namespace

TEST_CASE("a scenario of ids is read with everything they name", "[unit]") {
  const auto scenario = scenario_with({});
  CHECK(scenario.platform.system.id == "hgx_h200");
  CHECK(scenario.platform.system.chip.id == "h200_sxm");
  CHECK(scenario.platform.system.calibration.id == "h200_sxm.vllm");
  CHECK(scenario.model.id == "llama-3.1-70b");
  CHECK(scenario.precision.id == "fp8");
  CHECK(scenario.serving.stack.id == "vllm");
  CHECK(scenario.deployment.mapping.tensor_parallel == 8);
  CHECK(scenario.traffic.concurrency == 64);
}

TEST_CASE("a knob reaches through the references on its way", "[unit]") {
  const auto scenario = scenario_with({"system.chip.hbm.bandwidth=1 TB/s"});
  CHECK(scenario.platform.system.chip.bandwidth.si() == Approx(1e12));
  CHECK(scenario.platform.system.chip.id == "h200_sxm");
  CHECK(scenario_with({"serving.stack.overhead.per_iteration=1 ms"})
            .serving.stack.iteration_overhead.si() == Approx(1e-3));
  CHECK(scenario_with({"system.calibration.memory.dram_efficiency=0.5"})
            .platform.system.calibration.dram_efficiency == 0.5);
}

TEST_CASE("a factor multiplies what is there and keeps its unit", "[unit]") {
  for (const char* factor : {"x2", "x 2", "x2.0", "x2e0"}) {
    INFO(factor);
    CHECK(scenario_with({std::string("system.chip.hbm.bandwidth=") + factor})
              .platform.system.chip.bandwidth.si() == Approx(2.0 * bandwidth()));
  }
  CHECK(scenario_with({"system.chip.hbm.bandwidth=x.5"}).platform.system.chip.bandwidth.si() ==
        Approx(0.5 * bandwidth()));
  CHECK(scenario_with({"system.chip.hbm.bandwidth=x2", "system.chip.hbm.bandwidth=x3"})
            .platform.system.chip.bandwidth.si() == Approx(6.0 * bandwidth()));
  CHECK(scenario_with({"traffic.concurrency=x0.5"}).traffic.concurrency == 32);
}

TEST_CASE("A star multiplies every number of a group, not the source that begins with a digit",
          "[unit]") {
  base::Problems problems;
  base::Node document = base::parse_document(
      "d", "deployment: {a: 2 TB/s, b: 3, c: null, name: x, source: 7 measurements}");
  sim::set_knob(document, {"--set", "deployment.*=x2", {}}, problems);
  CHECK(problems.empty());
  CHECK(document.find_path("deployment.a")->text == "4 TB/s");
  CHECK(document.find_path("deployment.b")->text == "6");
  CHECK(document.find_path("deployment.c")->is_null());
  CHECK(document.find_path("deployment.name")->text == "x");
  CHECK(document.find_path("deployment.source")->text == "7 measurements");
}

TEST_CASE("a factor needs a number to multiply", "[unit]") {
  CHECK(complaint({"system.chip.hbm.bandwith=x2"}) ==
        "--set:1:1: error: system.chip.hbm.bandwith: there is no \"bandwith\" to multiply; did you "
        "mean \"bandwidth\"?\n  system.chip.hbm.bandwith=x2\n  ^\n");
  CHECK(complaint({"system.chip.hbm.type=x2"}) ==
        "--set:1:22: error: system.chip.hbm.type: \"x2\" multiplies a number, but there is none "
        "here\n  system.chip.hbm.type=x2\n                       ^\n");
  CHECK_THAT(complaint({"deployment=x2"}), ContainsSubstring("multiplies a number"));
  for (const char* factor : {"x2y", "x1,5", "x150%", "x1.5%"}) {
    CHECK_THAT(complaint({std::string("traffic.concurrency=") + factor}),
               ContainsSubstring("is no factor: it is x and a number, such as x1.5"));
  }
  CHECK_THAT(complaint({"traffic.concurrency=x1.01"}),
             ContainsSubstring("--set:1:21: error: traffic.concurrency: a whole number is "
                               "expected, not \"64.64\""));
}

TEST_CASE("a whole section or thing below it is set by id or by its keys", "[unit]") {
  CHECK(scenario_with({"system=hgx_h100"}).platform.system.chip.id == "h100_sxm");
  CHECK(scenario_with({"system.chip=b200_sxm"}).platform.system.chip.id == "b200_sxm");
  CHECK(scenario_with({"deployment={tensor_parallel: 4, pipeline_parallel: 2}"})
            .deployment.mapping.ranks() == 8);
  const auto both = scenario_with({"system.chip=b200_sxm", "system.chip.hbm.bandwidth=1 TB/s"});
  CHECK(both.platform.system.chip.id == "b200_sxm");
  CHECK(both.platform.system.chip.bandwidth.si() == Approx(1e12));
}

TEST_CASE("of two settings the later one holds", "[unit]") {
  CHECK(scenario_with({"traffic.concurrency=1", "traffic.concurrency=2"}).traffic.concurrency == 2);
  CHECK(scenario_with({"system.chip.hbm.bandwidth=1 TB/s", "system=hgx_h200"})
            .platform.system.chip.bandwidth.si() == Approx(bandwidth()));
}

TEST_CASE("a null setting takes an optional key back to its default", "[unit]") {
  CHECK(scenario_with({"deployment.tensor_parallel=null"}).deployment.mapping.tensor_parallel == 1);
}

TEST_CASE("a bad --set is told with a caret in the text that was typed", "[unit]") {
  CHECK(complaint({"traffic.concurrency=lots"}) ==
        "--set:1:21: error: traffic.concurrency: a whole number is expected, not \"lots\"\n"
        "  traffic.concurrency=lots\n                      ^\n");
  CHECK_THAT(complaint({"traffic.concurency=4"}),
             ContainsSubstring("--set:1:1: error: traffic.concurency: unknown key \"concurency\"; "
                               "did you mean \"concurrency\"?"));
  CHECK_THAT(complaint({"trafic.concurrency=4"}),
             ContainsSubstring("--set:1:1: error: trafic: unknown key \"trafic\"; did you mean "
                               "\"traffic\"?"));
  CHECK_THAT(complaint({"system=hgx_h2000"}),
             ContainsSubstring("--set:1:8: error: system: no system is called \"hgx_h2000\""));
  CHECK_THAT(complaint({"deployment={tensor_paralel: 4}"}),
             ContainsSubstring("--set deployment:1:2: error: deployment.tensor_paralel: unknown"));
  for (const char* text : {"traffic.concurrency", "traffic.concurrency=", ""}) {
    INFO(text);
    CHECK_THAT(complaint({text}), ContainsSubstring("expects path=value, for example"));
  }
  for (const char* path : {"", ".", "traffic.", ".traffic", "traffic..concurrency"}) {
    INFO(path);
    CHECK_THAT(complaint({std::string(path) + "=1"}), ContainsSubstring("is not a dotted path"));
  }
  CHECK_THAT(complaint({"traffic.concurrency.users=1"}),
             ContainsSubstring("\"traffic.concurrency\" is not a group of keys"));
  CHECK_THAT(complaint({"system.name.first=1"}),
             ContainsSubstring("\"system.name\" is not a group of keys"));
}

TEST_CASE("a setting below a reference that cannot be loaded adds no second error", "[unit]") {
  Node node = document();
  *node.find("system") = base::scalar_node("nowhere", node.find("system")->place);
  Problems problems;
  sim::set_knob(node, {"--set", "system.chip.hbm.bandwidth=1 TB/s", {}}, problems);
  CHECK(problems.size() == 1);
  sim::load_references(node, problems);
  sim::read_platform(node, problems);
  CHECK(problems.size() == 1);
  CHECK_THAT(problems.text(), ContainsSubstring("no system is called \"nowhere\""));
}

TEST_CASE("an error of one section does not hide those of the others", "[unit]") {
  const std::string text =
      complaint({"system=nowhere", "model=nothing", "precision=none",
                 "deployment.tensor_parallel=no", "serving.stack=nil", "traffic.concurrency=0"});
  INFO(text);
  for (const char* name :
       {"\"nowhere\"", "\"nothing\"", "\"none\"", "\"no\"", "\"nil\"", "not 0"}) {
    CHECK_THAT(text, ContainsSubstring(name));
  }
  std::size_t errors = 0;
  for (auto at = text.find("error:"); at != std::string::npos; at = text.find("error:", at + 1)) {
    ++errors;
  }
  CHECK(errors == 6);
}

TEST_CASE("a section whose name is misspelt is reported once, and not as one that is missing",
          "[unit]") {
  for (const char* name : {"system", "model", "serving", "traffic"}) {
    std::string text = kText;
    text.insert(text.find(name) + 2, "z");
    std::string message;
    try {
      sim::read_scenario(base::parse_document("scenario.yaml", text));
    } catch (const base::InputError& error) {
      message = error.what();
    }
    INFO(message);
    CHECK_THAT(message, ContainsSubstring("unknown key"));
    CHECK(message.find("is required") == std::string::npos);
  }
}

TEST_CASE("a view points at the values of its scenario", "[unit]") {
  const auto scenario = scenario_with({});
  const auto view = sim::view(scenario);
  CHECK(view.platform == &scenario.platform);
  CHECK(view.model == &scenario.model);
  CHECK(view.precision == &scenario.precision);
  CHECK(view.mapping == &scenario.deployment.mapping);
  CHECK(view.serving == &scenario.serving);
  CHECK(view.traffic == &scenario.traffic);
}

TEST_CASE("an unquantised part is in the activations' 16-bit format", "[unit]") {
  using base::NumberFormat;
  const auto head = [](const std::string& precision) {
    return scenario_with({"precision=" + precision}).precision.head.weights;
  };
  CHECK(head("fp16") == NumberFormat::fp16);
  CHECK(head("bf16") == NumberFormat::bf16);
  CHECK(head("fp8") == NumberFormat::bf16);
  CHECK(head("{weights: int4, activations: fp16, kv_cache: fp16}") == NumberFormat::fp16);
  CHECK(head("{weights: int4, activations: fp16, kv_cache: fp16, head: {weights: fp8}}") ==
        NumberFormat::fp8);
  CHECK(scenario_with({"precision=fp16"}).precision.plain.activations == NumberFormat::fp16);
}

}  // namespace roofcast::unit_sim_scenario
