// SPDX-License-Identifier: Apache-2.0
#include "cli/text/explain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sim/iteration/draft_model.hpp"
#include "sim/scenario/sections.hpp"
#include "tests/catch.hpp"
#include "workloads/architecture/parameters.hpp"

namespace roofcast::cli::unit_cli_explain {
namespace {

sim::Scenario scenario(const std::string& deployment, std::int64_t output_tokens = 512) {
  return sim::read_scenario(base::parse_document(
      "test", "system: hgx_h200\nmodel: llama-3.1-70b\nprecision: fp8\ndeployment: " + deployment +
                  "\nserving: {stack: vllm}\ntraffic: {input_tokens: 2048, output_tokens: " +
                  std::to_string(output_tokens) + ", concurrency: 64}\n"));
}

struct Explained {
  explicit Explained(const sim::Scenario& s)
      : view(sim::view(s)),
        estimate(sim::estimate(view, workspace)),
        phases(explain(view, estimate)) {}
  sim::ScenarioView view;
  sim::Workspace workspace;
  sim::ServingEstimate estimate;
  std::vector<PhaseRows> phases;
};

const OperatorRow& row_of(const PhaseRows& phase, const std::string& name) {
  const auto it = std::find_if(phase.operators.begin(), phase.operators.end(),
                               [&](const OperatorRow& row) { return row.name == name; });
  REQUIRE(it != phase.operators.end());
  return *it;
}

}  // namespace

TEST_CASE("The operators of a step take the time the forecast gives the step", "[unit]") {
  for (const char* deployment : {"{tensor_parallel: 8}", "{tensor_parallel: 2}",
                                 "{tensor_parallel: 2, pipeline_parallel: 4}"}) {
    INFO(deployment);
    const sim::Scenario s = scenario(deployment);
    Explained e(s);
    REQUIRE(e.phases.size() == 2);
    const workloads::Batch batches[] = {e.estimate.steady.decode_iteration,
                                        e.estimate.steady.prefill_iteration};
    for (std::size_t i = 0; i < e.phases.size(); ++i) {
      double sum = 0.0;
      for (const OperatorRow& row : e.phases[i].operators) {
        sum += row.time_s;
      }
      CHECK(sum == Approx(e.phases[i].time_s).epsilon(1e-12));
      const double step = sim::iteration_cost(e.view, batches[i], e.workspace).latency.si();
      CHECK(e.phases[i].time_s == Approx(step).epsilon(1e-12));
    }
  }
}

TEST_CASE("A transfer that runs beside attention is said to", "[unit]") {
  const sim::Scenario s = scenario("{tensor_parallel: 4, context_parallel: 2}");
  const Explained e(s);
  CHECK(row_of(e.phases.back(), "attention.ring").overlapped);
  CHECK(explain_text(e.view, e.estimate).find("beyond the operator before it") !=
        std::string::npos);
}

TEST_CASE("A dense model multiplies about twice its parameters for each token of a step",
          "[unit]") {
  const sim::Scenario s = scenario("{tensor_parallel: 8}");
  const Explained e(s);
  double flop = 0.0;
  for (const OperatorRow& row : e.phases.front().operators) {
    flop += row.category == "gemm" ? row.flop : 0.0;
  }
  const double tokens = static_cast<double>(e.estimate.steady.decode_iteration.tokens());
  const double multiplied = workloads::active_parameters(s.model);
  CHECK(flop * 8.0 == Approx(2.0 * multiplied * tokens).epsilon(0.01));
}

TEST_CASE("Only what multiplies has a number format", "[unit]") {
  const sim::Scenario s = scenario("{tensor_parallel: 8}");
  const Explained e(s);
  for (const PhaseRows& phase : e.phases) {
    CHECK(row_of(phase, "mlp.up").format == "fp8");
    CHECK(row_of(phase, "head.logits").format == "bf16");
    CHECK(row_of(phase, "attention.decode").format == "fp8");
    CHECK(row_of(phase, "mlp.norm").format.empty());
    CHECK(row_of(phase, "mlp.all_reduce").format.empty());
    CHECK(!row_of(phase, "mlp.all_reduce").algorithm.empty());
    CHECK(phase.operators.back().name == "host");
    CHECK(phase.operators.back().format.empty());
  }
}

// A low cap makes a GEMM of prompts so slow that its tensor cores reach a tenth of their peak.
TEST_CASE("Under any cap tensor cores limit an operator only above half of their peak", "[unit]") {
  std::size_t by_tensor = 0;
  std::size_t by_power = 0;
  for (const char* cap : {"700 W", "500 W", "350 W", "250 W", "200 W"}) {
    const sim::Scenario s = sim::read_scenario(base::parse_document(
        "test", fmt::format("system: {{base: hgx_h100, chip.power.cap: {}}}\nmodel: llama-3.1-8b\n"
                            "precision: bf16\ndeployment: {{}}\nserving: {{stack: vllm}}\n"
                            "traffic: {{input_tokens: 8192, output_tokens: 1, concurrency: 8}}\n",
                            cap)));
    const base::FlopsPerSecond peak = s.platform.system.chip.peak(base::MathType::bf16);
    const Explained e(s);
    for (const PhaseRows& phase : e.phases) {
      for (const OperatorRow& row : phase.operators) {
        INFO(cap << " " << row.name);
        if (row.limited_by == models::Cause::tensor) {
          CHECK(row.flop / row.time_s > 0.5 * peak.si());
          ++by_tensor;
        }
        by_power += row.limited_by == models::Cause::power ? 1U : 0U;
      }
    }
  }
  CHECK(by_tensor > 0);
  CHECK(by_power > 0);
}

TEST_CASE("A collective says what took its time, and what the next best would have taken",
          "[unit]") {
  const sim::Scenario s = scenario("{tensor_parallel: 8}");
  const Explained e(s);
  const OperatorRow& row = row_of(e.phases.front(), "mlp.all_reduce");
  CHECK(row.start_s + row.hops_s + row.transfer_s == Approx(row.time_s));
  CHECK(!row.runner_up.empty());
  CHECK(row.runner_up != row.algorithm);
  CHECK(row.runner_up_time_s >= row.time_s);
  const std::string text = explain_text(e.view, e.estimate);
  CHECK(text.find("\nmlp.all_reduce: " + row.algorithm + " takes ") != std::string::npos);
  CHECK(text.find("next best, " + row.runner_up + ", ") != std::string::npos);
}

TEST_CASE("Arithmetic intensity is FLOP over bytes, and none without bytes", "[unit]") {
  OperatorRow row;
  row.flop = 12.0;
  CHECK(row.intensity() == 0.0);
  row.bytes = 4.0;
  CHECK(row.intensity() == 3.0);
}

TEST_CASE("Requests of one output token have no decode iteration to explain", "[unit]") {
  const sim::Scenario s = scenario("{tensor_parallel: 8}", 1);
  const Explained e(s);
  REQUIRE(e.phases.size() == 1);
  CHECK(e.phases.front().name == "iteration with prompts");
  CHECK(explain_text(e.view, e.estimate).find("decode iteration") == std::string::npos);
  CHECK(explain_json(e.view, e.estimate).size() == 1);
}

TEST_CASE("The texts of an explanation list the operators in the order they run", "[unit]") {
  const sim::Scenario s = scenario("{tensor_parallel: 8}");
  const Explained e(s);
  const std::string text = explain_text(e.view, e.estimate);
  std::size_t at = 0;
  for (const PhaseRows& phase : e.phases) {
    for (const OperatorRow& row : phase.operators) {
      const auto found = text.find("\n" + row.name + " ", at);
      INFO(phase.name << ": " << row.name);
      REQUIRE(found != std::string::npos);
      at = found + 1;
    }
  }
  const nlohmann::ordered_json json = explain_json(e.view, e.estimate);
  REQUIRE(json.size() == 2);
  for (std::size_t i = 0; i < json.size(); ++i) {
    REQUIRE(json[i]["operators"].size() == e.phases[i].operators.size());
    for (std::size_t k = 0; k < e.phases[i].operators.size(); ++k) {
      CHECK(json[i]["operators"][k]["name"] == e.phases[i].operators[k].name);
    }
  }
}

TEST_CASE("A step and the passes of its draft take the time the forecast gives the step",
          "[unit]") {
  sim::Scenario s = scenario("{tensor_parallel: 8}");
  s.serving.speculation.method = workloads::DraftMethod::eagle;
  s.serving.speculation.draft_tokens = 3;
  s.serving.speculation.acceptance = {0.8, 0.8, 0.8};
  Explained e(s);
  REQUIRE(e.phases.size() == 6);
  const auto draft = sim::draft_model_of(e.view);
  sim::ScenarioView drafting = e.view;
  drafting.draft = draft.get();
  const workloads::Batch batches[] = {e.estimate.steady.decode_iteration,
                                      e.estimate.steady.prefill_iteration};
  for (std::size_t i = 0; i < 2; ++i) {
    double sum = 0.0;
    for (std::size_t pass = 0; pass < 3; ++pass) {
      const PhaseRows& rows = e.phases[3 * i + pass];
      sum += static_cast<double>(rows.runs) * rows.time_s;
    }
    const double step = sim::iteration_cost(drafting, batches[i], e.workspace).latency.si();
    CHECK(sum == Approx(step).epsilon(1e-12));
  }
}

// With 64 clients a decode reads weights.
TEST_CASE("An operator of a step is limited by tensor cores only above half of their peak",
          "[unit]") {
  const sim::Scenario s = scenario("{tensor_parallel: 8}");
  Explained e(s);
  std::size_t tensor = 0;
  for (const PhaseRows& phase : e.phases) {
    for (const OperatorRow& row : phase.operators) {
      INFO(phase.name << " " << row.name << " " << models::name(row.limited_by));
      if (row.limited_by == models::Cause::tensor) {
        CHECK(row.light_s > 0.5 * row.time_s);
        ++tensor;
      }
    }
    double sum = 0.0;
    for (const models::Share& share : phase.shares) {
      sum += share.share;
    }
    CHECK(sum == Approx(1.0));
  }
  CHECK(tensor > 0);  // the GEMMs of prompts
  CHECK(row_of(e.phases[0], "mlp.up").limited_by == models::Cause::hbm);
}

}  // namespace roofcast::cli::unit_cli_explain
