// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "tests/catch.hpp"
#include "tests/cli/program.hpp"

namespace roofcast::cli::cli_numerics {
namespace {

using nlohmann::json;

TEST_CASE("check --numerics prints what is at risk first, with remedy, cost and source", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const std::string out = roofcast.output({"check", "--numerics", example("llama-8b_training")});
  const auto risk = out.find("at risk  gradient_sums: gradients in bf16, 64 ranks");
  const auto fine = out.find("fine     gradient_range");
  REQUIRE(risk != std::string::npos);
  REQUIRE(fine != std::string::npos);
  CHECK(risk < fine);
  CHECK(contains(out, "remedy: training.gradients: fp32"));
  CHECK(contains(out, "cost: a step of "));
  CHECK(contains(out, "source: arXiv 2407.21783"));
  // Without the option nothing is said of it.
  CHECK_FALSE(contains(roofcast.output({"check", example("llama-8b_training")}), "at risk"));
}

TEST_CASE("check --numerics --json has each verdict, and the same ones", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const json answer =
      json::parse(roofcast.output({"check", "--json", "--numerics", example("llama-8b_training")}));
  const json& verdicts = answer["files"][0]["numerics"];
  REQUIRE(verdicts.size() == 5);
  for (const json& v : verdicts) {
    const bool at_risk = v["verdict"] == "at risk";
    CHECK(at_risk == (v["rule"] == "gradient_sums"));
    CHECK(at_risk == !v["remedy"].get<std::string>().empty());
    CHECK(v["figure"].is_number());
    CHECK(!v["source"].get<std::string>().empty());
  }
  const json plain = json::parse(roofcast.output({"check", "--json", example("llama-70b")}));
  CHECK_FALSE(plain["files"][0].contains("numerics"));
}

TEST_CASE("check --numerics is for scenarios, and says why one that does not run has no verdict",
          "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const Outcome sweep = roofcast.run({"check", "--numerics", example("test_time_scaling")});
  CHECK(sweep.code == 2);
  CHECK(contains(sweep.err, "--numerics is for scenarios; this is sweep"));
  roofcast.write("large.yaml",
                 "system: hgx_h100\nmodel: llama-3.1-405b\nprecision: bf16\n"
                 "deployment: {tensor_parallel: 8}\nserving: {stack: vllm}\n"
                 "traffic: {input_tokens: 1000, output_tokens: 100, concurrency: 1}\n");
  CHECK(contains(roofcast.output({"check", "--numerics", "large.yaml"}),
                 "no verdict on its number formats: it does not run: "));
}

TEST_CASE("estimate has one line if a number format is at risk, and none if all are fine",
          "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const std::vector<std::string> arguments = {"estimate", example("llama-8b_training")};
  CHECK(contains(roofcast.output(arguments),
                 "Number formats at risk: gradient_sums (relative error of a sum 1.63 %)"));
  CHECK_FALSE(contains(roofcast.output({"estimate", example("llama-8b_training"), "--set",
                                        "training.gradients=fp32"}),
                       "at risk"));
  CHECK_FALSE(contains(
      roofcast.output({"estimate", example("llama-8b_training"), "--format", "csv"}), "at risk"));
}

}  // namespace
}  // namespace roofcast::cli::cli_numerics
