// SPDX-License-Identifier: Apache-2.0
#include "cli/pages/scenario_brief.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "base/csv/csv.hpp"
#include "cli/tables/metric_cells.hpp"
#include "cli/text/cost_text.hpp"
#include "sim/decide/overridden_scenario.hpp"
#include "tests/catch.hpp"

namespace roofcast::unit_cli_scenario_brief {

namespace {

const char* const kScenario =
    "{system: hgx_h200, model: llama-3.1-8b, precision: fp8, deployment: {tensor_parallel: 1}, "
    "serving: {stack: vllm}, traffic: {input_tokens: 1024, output_tokens: 256, concurrency: 16}}";

struct Made {
  Made()
      : scenario(base::parse_document("scenario.yaml", kScenario), "--set"),
        findings(cli::findings_of(scenario, scenario.estimate({}).estimate, nullptr)),
        brief(cli::brief_of(findings, scenario)) {}
  sim::OverriddenScenario scenario;
  cli::ScenarioFindings findings;
  cli::Brief brief;
};

// The rows that a text cites.
std::vector<std::size_t> cited(std::string text) {
  std::vector<std::size_t> rows;
  for (auto at = text.find('['); at != std::string::npos; at = text.find('[', at + 1)) {
    rows.push_back(std::stoul(text.substr(at + 1)) - 1);
  }
  return rows;
}

}  // namespace

TEST_CASE("Every time in a scenario's brief stands in the row of the CSV that it names", "[unit]") {
  const Made made;
  std::ostringstream text;
  cli::write_findings_csv(made.findings, text);
  std::vector<std::vector<std::string>> csv;
  std::istringstream in(text.str());
  std::string line;
  std::getline(in, line);
  REQUIRE(line == "analysis,metric,name,figure,value");
  while (std::getline(in, line)) {
    std::istringstream cells(line);
    auto& row = csv.emplace_back();
    for (std::string cell; std::getline(cells, cell, ',');) {
      row.push_back(cell);
    }
  }
  const auto time = [&](std::size_t row) {
    return cli::display(std::stod(csv.at(row).back()), "s");
  };
  REQUIRE(made.brief.evidence.size() == 3);
  const auto& knobs = made.brief.evidence[0].table.rows();
  for (std::size_t i = 1; i < knobs.size(); ++i) {
    const auto rows = cited(knobs[i].back());
    REQUIRE(rows.size() == 2);
    CHECK(csv.at(rows[0])[2] == knobs[i][0]);
    CHECK(time(rows[0]) == knobs[i][2]);
    CHECK(fmt::format("{:+.3f}", std::stod(csv.at(rows[1]).back())) == knobs[i][4]);
  }
  const auto& freed = made.brief.evidence[1].table.rows();
  for (std::size_t i = 1; i < freed.size(); ++i) {
    const auto rows = cited(freed[i].back());
    CHECK(csv.at(rows.at(0))[2] == freed[i][0]);
    CHECK(time(rows.at(0)) == freed[i][1]);
    CHECK(csv.at(rows.at(1))[3] == "in_order");
  }
  const auto& forecast = made.brief.evidence[2].table.rows();
  for (std::size_t i = 1; i < forecast.size(); ++i) {
    const std::size_t row = cited(forecast[i].back()).at(0);
    CHECK(csv.at(row)[0] == "estimate");
    CHECK(cli::column_value(csv.at(row)[1], std::stod(csv.at(row).back())) == forecast[i][1]);
  }
  for (std::size_t i = 0; i < made.findings.changes.size(); ++i) {
    CHECK(csv.at(cited(made.brief.changes.at(i)).at(0))[2] == made.findings.changes[i].knob);
  }
}

TEST_CASE("The brief of a training run is about the run, and tells reliability beside speed",
          "[unit]") {
  const sim::OverriddenScenario scenario(
      base::parse_document(
          "run.yaml",
          "{system: h100_cluster_128, model: llama-3.1-8b, precision: bf16, deployment: "
          "{data_parallel: 64}, training: {sequence_length: 4096, global_batch: 512, trainer: "
          "megatron}, run: {steps: 1e6, failures: {per_thousand_gpu_days: {gpu: 100, source: a "
          "question}}, detection: 5 min, restart: {time: 10 min}, checkpoint: {interval: 30 min, "
          "write: 100 GB/s}}}"),
      "--set");
  const cli::ScenarioFindings findings =
      cli::findings_of(scenario, scenario.estimate({}).estimate, nullptr);
  const cli::Brief brief = cli::brief_of(findings, scenario);
  CHECK(brief.question.starts_with("What limits Run of "));
  std::vector<std::string> knobs;
  for (const auto& row : brief.evidence.front().table.rows()) {
    knobs.push_back(row.front());
  }
  const auto named = [&](std::string_view knob) {
    return std::find(knobs.begin(), knobs.end(), knob) != knobs.end();
  };
  CHECK(named("run.failures.per_thousand_gpu_days.gpu"));
  CHECK(named("system.chip.tensor.*"));
  std::vector<std::string> told;
  for (const auto& row : brief.evidence.back().table.rows()) {
    told.push_back(row.front());
  }
  for (const char* label : {"Run p50", "Run p95", "Cost of the run", "Checkpoint interval"}) {
    CHECK(std::find(told.begin(), told.end(), label) != told.end());
  }
}

TEST_CASE("Something else limits from the change that a brief names on, and not just before it",
          "[unit]") {
  const Made made;
  REQUIRE(!made.findings.changes.empty());
  const auto limit = [&](const std::string& knob, double factor) {
    const double value = 16.0 * factor;  // clients
    const std::string setting = knob == "traffic.concurrency"
                                    ? fmt::format("{}={:.0f}", knob, value)
                                    : fmt::format("{}=x{}", knob, factor);
    return std::string(cli::limit_of(made.scenario.explained({setting}).estimate, "tpot_mean_s"));
  };
  const std::string now = limit("traffic.concurrency", 1.0);
  for (const cli::LimitChange& change : made.findings.changes) {
    INFO(change.knob << " " << change.value);
    const double step = change.knob == "traffic.concurrency" ? 1.0 / (16.0 * change.factor) : 0.002;
    const double before = change.factor * (change.factor > 1.0 ? 1.0 - step : 1.0 + step);
    CHECK(limit(change.knob, change.factor) == change.limit);
    CHECK(change.limit != now);
    CHECK(limit(change.knob, before) == now);
  }
}

TEST_CASE("Every figure of a group is scaled", "[unit]") {
  CHECK(cli::scaled_text("4.8 TB/s", 1.5) == "7.2 TB/s");
  CHECK(cli::scaled_text("495 TFLOPS, 989 TFLOPS, 8", 2.0) == "990 TFLOPS, 1978 TFLOPS, 16");
}

}  // namespace roofcast::unit_cli_scenario_brief
