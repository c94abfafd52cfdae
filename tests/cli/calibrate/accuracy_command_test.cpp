// SPDX-License-Identifier: Apache-2.0
#include "tests/catch.hpp"
#include "tests/cli/program.hpp"

namespace roofcast::cli::cli_calibrate_accuracy_command {
namespace {

constexpr const char* kScenario =
    "system: hgx_b200\n"
    "model: gpt-oss-120b\n"
    "deployment: {tensor_parallel: 2}\n"
    "serving: {stack: vllm}\n"
    "traffic: {input_tokens: 512, output_tokens: 4000, concurrency: 16}\n"
    "accuracy: {benchmark: aime_2025}\n";

}  // namespace

TEST_CASE("estimate prints a score, or why there is none", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  roofcast.write("asked.yaml", kScenario);
  const std::string known =
      roofcast.output({"estimate", "asked.yaml", "--set", "accuracy.effort=high"});
  CHECK(contains(known, "92.5 %"));
  CHECK(!contains(known, "No score"));
  CHECK(contains(roofcast.output({"estimate", "asked.yaml"}), "No score: several scores"));
}

TEST_CASE("A sweep says how many points have no score, and each of them says it too", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  roofcast.write("asked.yaml", kScenario);
  roofcast.write("sweep.yaml",
                 "base: asked.yaml\n"
                 "axes:\n"
                 "  model: [gpt-oss-120b, {name: more experts, base: gpt-oss-120b, moe.top_k: 8}]\n"
                 "  accuracy.effort: [low, high]\n"
                 "pareto: {maximize: [score, throughput_tok_per_s_per_gpu]}\n");
  const std::string out = roofcast.output({"sweep", "sweep.yaml", "--csv", "o.csv"});
  CHECK(contains(out,
                 "2 of those that do are left out of the front; the first is not on the front, "
                 "has no score: no score of this benchmark is published for this model"));
  const base::CsvTable table = base::read_csv(roofcast.path("o.csv"));
  REQUIRE(table.rows() == 4);
  for (std::size_t row = 0; row < table.rows(); ++row) {
    const bool changed = table.cell(row, *table.find_column("model")) == "more experts";
    CHECK(table.cell(row, *table.find_column("meets")) == "true");
    CHECK(table.cell(row, *table.find_column("score")).empty() == changed);
    CHECK(table.cell(row, *table.find_column("pareto_rank")).empty() == changed);
    CHECK(table.cell(row, *table.find_column("reason")).empty() != changed);
  }
}

TEST_CASE("check and --explain warn of a width that wastes a tile, with its aligned neighbour",
          "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const std::string warning =
      "has a width of 2880 on a rank, which wastes a part of a tile: 2816 would take ";
  const std::string scenario = example("gpt-oss-120b_b200");
  CHECK(contains(roofcast.output({"estimate", scenario, "--explain"}), warning));
  CHECK(contains(roofcast.output({"check", scenario}), warning));
  CHECK(!contains(roofcast.output({"check", example("llama-70b")}), "warning"));
}

}  // namespace roofcast::cli::cli_calibrate_accuracy_command
