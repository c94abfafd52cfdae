// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/csv/csv.hpp"
#include "tests/catch.hpp"
#include "tests/cli/program.hpp"

namespace roofcast::cli::cli_sensitivity_command {
namespace {

using nlohmann::json;

std::vector<std::string> arguments(std::vector<std::string> options) {
  options.insert(options.begin(), {"sensitivity", example("llama-70b")});
  return options;
}

json answer(const Program& roofcast, std::vector<std::string> options) {
  options.insert(options.end(), {"--format", "json"});
  return json::parse(roofcast.output(arguments(std::move(options))));
}

json of_knob(const json& metric, const std::string& knob) {
  for (const json& each : metric["elasticities"]) {
    if (each["knob"] == knob) {
      return each;
    }
  }
  FAIL("no elasticity to " << knob);
  return {};
}

}  // namespace

TEST_CASE("sensitivity tells elasticities that sum to minus one, and what a better knob buys",
          "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const json found = answer(roofcast, {"--gain", "1.5"});
  const json& tpot = found["metrics"]["tpot_mean_s"];
  // Clients with equal answers stay in step: a small change moves whole iterations, or none.
  CHECK(tpot["rates_less_latencies"].get<double>() == Approx(-1.0).margin(0.15));
  for (const char* knob :
       {"system.chip.nvlink.bandwidth_bidirectional", "system.chip.hbm.bandwidth"}) {
    const json overridden =
        json::parse(roofcast.output({"estimate", example("llama-70b"), "--set",
                                     fmt::format("{}=x1.5", knob), "--format", "json"}));
    CHECK(of_knob(tpot, knob)["improved"].get<double>() ==
          Approx(overridden["tpot_mean_s"].get<double>()).epsilon(1e-9));
    CHECK(of_knob(tpot, knob)["elasticity"].get<double>() < 0.0);
  }
  double shares = 0.0;
  for (const json& each : tpot["errors"]) {
    shares += each["share"].get<double>();
  }
  CHECK(shares == Approx(1.0));
  CHECK(tpot["waterfall"].size() == 6);
  CHECK(found["metrics"].contains("ttft_mean_s"));
  CHECK(found["metrics"].contains("throughput_tok_per_s_per_gpu"));
}

TEST_CASE("sensitivity prints tables for people, with what is small left out", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const std::string text = roofcast.output(arguments({"--metric", "tpot_mean_s"}));
  INFO(text);
  CHECK(contains(text, "TPOT 14."));
  CHECK(contains(text, "#|"));
  CHECK(contains(text, "1.2 times better"));
  CHECK(contains(text, "more below 0.005"));
  CHECK(contains(text, "rates less latencies: -"));
  CHECK(contains(text, "and all above"));
  CHECK(contains(text, "TPOT if it were known"));
  CHECK(!contains(text, "TTFT"));
  CHECK(!contains(text, "system.chip.l2.capacity"));
}

TEST_CASE("sensitivity over ranges gives the same bytes for the same seed", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const auto csv = [&](const char* seed) {
    return roofcast.output(arguments(
        {"--metric", "tpot_mean_s", "--vary", "system.chip.hbm.bandwidth=x0.5..x2", "--vary",
         "traffic.concurrency=8..128", "--rows", "64", "--seed", seed, "--format", "csv"}));
  };
  const std::string once = csv("3");
  CHECK(once == csv("3"));
  CHECK(once != csv("4"));
  const base::CsvTable table = base::parse_csv(once, "csv");
  std::size_t indices = 0;
  for (std::size_t r = 0; r < table.rows(); ++r) {
    indices += table.cell(r, 0) == "variance" && table.cell(r, 3) == "total" ? 1U : 0U;
    CHECK(table.cell(r, 1) == "tpot_mean_s");
  }
  CHECK(indices == 2);
}

TEST_CASE("sensitivity of a training step is of its step", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const json found = json::parse(roofcast.output(
      {"sensitivity", example("llama-8b_training"), "--step", "1.01", "--format", "json"}));
  CHECK(found["metrics"]["step_s"]["rates_less_latencies"].get<double>() ==
        Approx(-1.0).margin(0.01));
}

TEST_CASE("sensitivity refuses what it cannot tell, and says why", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const auto complaint = [&](std::vector<std::string> options) {
    const Outcome outcome = roofcast.run(arguments(std::move(options)));
    CHECK(outcome.code == 2);
    return outcome.err;
  };
  CHECK(contains(complaint({"--metric", "tpot"}), "there is no metric \"tpot\""));
  CHECK(contains(complaint({"--metric", "step_s"}), "step_s has no value in this scenario"));
  CHECK(contains(complaint({"--vary", "system.chip.hbm.bandwith"}), "has no value to start from"));
  CHECK(contains(complaint({"--vary", "system.latencies.*"}), "no group with numbers"));
  CHECK(contains(complaint({"--vary", "system.chip.hbm.bandwidth=2..1"}), "the low end"));
  CHECK(contains(
      complaint({"--vary", "traffic.concurrency=1..4", "--vary", "traffic.concurrency=1..8"}),
      "has two ranges"));
  CHECK(contains(complaint({"--vary", "system.chip.hbm.bandwidth=1 TB..2 TB"}), "bandwidth"));
  CHECK(contains(complaint({"--step", "1"}), "--step"));
  CHECK(contains(complaint({"--step", "nan"}), "--step: nan is no number"));
}

TEST_CASE("sensitivity of what does not fit says why it does not", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const std::vector<std::string> tight =
      arguments({"--set", "deployment.tensor_parallel=1", "--set", "precision=bf16"});
  const Outcome outcome = roofcast.run(tight);
  CHECK(outcome.code == 0);
  CHECK(contains(outcome.out, "it does not run: "));
  std::vector<std::string> strict = tight;
  strict.push_back("--strict");
  CHECK(roofcast.run(strict).code == 3);
}

TEST_CASE("Of a training no figure of a parent chip is a knob, and none is of prompts", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const std::string text = roofcast.output({"sensitivity", example("llama-8b_training")});
  CHECK(contains(text, "system.chip.power.tdp"));
  CHECK(!contains(text, "system.chip.parent"));
  CHECK(!contains(roofcast.output({"sensitivity", example("llama-8b_training"), "--json"}),
                  "system.chip.parent"));
  const std::string estimated = roofcast.output({"estimate", example("llama-8b_training")});
  CHECK(contains(estimated, "USD/Mtok "));
  CHECK(!contains(estimated, "prompts"));
}

}  // namespace roofcast::cli::cli_sensitivity_command
