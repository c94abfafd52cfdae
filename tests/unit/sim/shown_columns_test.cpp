// SPDX-License-Identifier: Apache-2.0
#include "sim/decide/shown_columns.hpp"

#include <fmt/format.h>

#include <set>

#include "base/document/problems.hpp"
#include "sim/decide/sweep_run.hpp"
#include "sim/estimate.hpp"
#include "sim/result/causes.hpp"
#include "tests/catch.hpp"

namespace roofcast::unit_sim_shown_columns {

using Catch::Matchers::ContainsSubstring;

namespace {

constexpr const char* kChat = "{input_tokens: 1024, output_tokens: 256, concurrency: 16}";

sim::Sweep sweep(const std::string& base, const std::string& axes, const std::string& more = "") {
  return sim::read_sweep(
      base::parse_document("sweep.yaml", fmt::format("base: {}\naxes: {}\n{}", base, axes, more)));
}

std::string serving(const std::string& traffic, const std::string& more = "") {
  return fmt::format(
      "{{system: hgx_h200, model: llama-3.1-8b, precision: bf16, deployment: {{tensor_parallel: "
      "1}}, "
      "serving: {{stack: vllm}}, traffic: {}{}}}",
      traffic, more);
}

std::string training(const std::string& more = "") {
  return "{system: hgx_h200, model: llama-3.1-8b, precision: bf16, deployment: {tensor_parallel: "
         "2, "
         "data_parallel: 4}, training: {global_batch: 64, sequence_length: 4096, trainer: "
         "megatron}" +
         more + "}";
}

std::set<std::string> left_out(const sim::Sweep& of) {
  const std::vector<std::string> all = sim::result_columns(sim::SweepPoints(of));
  const std::vector<std::string> written = sim::shown_columns(of, all);
  std::set<std::string> out(all.begin(), all.end());
  for (const std::string& name : written) {
    out.erase(name);
  }
  return out;
}

}  // namespace

TEST_CASE("A column but that of a clock is left out only where it is empty in every row",
          "[unit]") {
  const std::string clients = "{traffic.concurrency: [4, 16]}";
  const std::string run =
      ", run: {tokens: 1e12, failures: llama3_h100, detection: 2 min, restart: {time: 5 min}, "
      "checkpoint: {interval: 10 min, write: 100 "
      "GB/s}}";
  const sim::Sweep sweeps[] = {
      sweep(serving(kChat), clients),
      sweep(serving("{input_tokens: 1024, output_tokens: 256, cached_tokens: 512, concurrency: 4}"),
            clients),
      sweep(serving(kChat), "{traffic.cached_tokens: [0, 512]}"),
      sweep(serving(kChat), "{traffic.objectives: [{ttft: 1 s}, {ttft: 2 s}]}"),
      sweep(serving(kChat),
            "{load: {wait: {traffic.concurrency: 8}, come: {traffic: {input_tokens: "
            "1024, output_tokens: 256, arrivals: {process: poisson, rate: 1 /s}}}}}"),
      sweep(
          serving(kChat,
                  ", prices: {pay: rental, pue: {ratio: 1.2, source: here}, power_budget: 100 kW}"),
          clients),
      sweep(serving(kChat, ", accuracy: {benchmark: gpqa_diamond}"), clients),
      sweep(training(), "{training.global_batch: [64, 128]}"),
      sweep(training(run), "{training.global_batch: [64, 128]}"),
      sweep(serving(kChat), "{deployment: [{tensor_parallel: 1}, {tensor_parallel: 2}]}"),
  };
  for (const sim::Sweep& of : sweeps) {
    const sim::ResultTable table = sim::run_sweep(sim::SweepPoints(of), 1);
    INFO(base::to_yaml(of.base));
    REQUIRE(table.fits(0));
    for (const std::string& name : left_out(of)) {
      INFO(name);
      const sim::Metric* metric = sim::find_metric(name);
      if (metric != nullptr && metric->of_clocks) {
        continue;
      }
      for (std::size_t row = 0; row < table.rows(); ++row) {
        CHECK(table.column(name).is_empty(row));
      }
    }
  }
}

TEST_CASE("What applies to a sweep follows from its base and its axes", "[unit]") {
  const auto lacks = [](const sim::Sweep& of, const char* column) {
    return left_out(of).count(column) == 1;
  };
  const sim::Sweep chat = sweep(serving(kChat), "{traffic.concurrency: [4, 16]}");
  for (const char* column :
       {"step_s", "mfu", "run_s", "score", "task_p95_s", "attainment", "goodput", "utilisation",
        "cached_cost_usd_per_mtok", "power_budget_tok_per_s"}) {
    INFO(column);
    CHECK(lacks(chat, column));
  }
  for (const char* column :
       {"point", "traffic.concurrency", "reason", "ttft_p95_s", "low90_tpot_mean_s",
        "cost_usd_per_mtok", "limited_by_tpot", "provenance"}) {
    INFO(column);
    CHECK(!lacks(chat, column));
  }
  CHECK(!lacks(sweep(serving(kChat), "{traffic.objectives.ttft: [1 s, 2 s]}"), "goodput"));
  CHECK(!lacks(sweep(serving(kChat), "{plan: {a: {}, b: {traffic.objectives.ttft: 1 s}}}"),
               "goodput"));
  CHECK(lacks(sweep(serving(kChat), "{traffic.objectives: [null]}"), "goodput"));
  const sim::Sweep trains = sweep(training(), "{training.global_batch: [64, 128]}");
  CHECK(lacks(trains, "ttft_mean_s"));
  CHECK(lacks(trains, "low90_ttft_mean_s"));
  CHECK(lacks(trains, "limited_by_tpot"));
  CHECK(!lacks(trains, "limited_by_step"));
  CHECK(!lacks(trains, "limited_share_step"));
  CHECK(lacks(chat, "limited_by_step"));
  CHECK(lacks(trains, "refit_s"));
  CHECK(!lacks(trains, "high90_step_s"));
  // A condition or an objective is always there, whether a row has a value or not.
  CHECK(!lacks(sweep(serving(kChat), "{traffic.concurrency: [4]}", "where: ['task_p95_s <= 1']"),
               "task_p95_s"));
}

// 10 x 1,001 points are more than 10,000.
TEST_CASE("A large sweep says what limits its rows only where it is asked", "[unit]") {
  const auto of = [](int lengths, const std::string& more) {
    return sweep(serving(kChat),
                 fmt::format("{{traffic.concurrency: {{from: 1, to: 10, step: 1}}, "
                             "traffic.input_tokens: {{from: 1000, to: {}, step: 1}}}}",
                             999 + lengths),
                 more);
  };
  const char* const columns[] = {"limited_by_ttft", "limited_by_throughput", "limited_share_tpot"};
  CHECK(sim::explains_rows(of(1000, "")));
  CHECK(!sim::explains_rows(of(1001, "")));
  CHECK(sim::explains_rows(of(1001, "columns: all")));
  CHECK(sim::explains_rows(of(1001, "columns: [tpot_mean_s, limited_share_tpot]")));
  CHECK(sim::explains_rows(of(1001, "columns: [bound_tpot]")));
  CHECK(sim::explains_rows(of(1001, "where: ['limited_share_tpot >= 0.5']")));
  CHECK(!sim::explains_rows(of(2, "columns: [tpot_mean_s]")));
  for (const char* column : columns) {
    CHECK(left_out(of(1000, "")).count(column) == 0);
    CHECK(left_out(of(1001, "")).count(column) == 1);
  }
}

TEST_CASE("A row says what limits it as the estimate of its scenario does", "[unit]") {
  sim::SweepPoints points(sweep(serving(kChat), "{traffic.concurrency: [1, 64, 256]}"));
  sim::SweepPoints unasked(
      sweep(serving(kChat), "{traffic.concurrency: [1, 64, 256]}", "columns: [tpot_mean_s]"));
  const sim::ResultTable table = sim::run_sweep(points, 2);
  sim::ResultTable told = sim::run_sweep(unasked, 2);
  for (std::size_t row = 0; row < table.rows(); ++row) {
    CHECK(told.column("limited_by_tpot").is_empty(row));
  }
  sim::tell_limits(unasked, told, {0, 2});
  CHECK(told.column("limited_by_tpot").is_empty(1));
  for (std::size_t row = 0; row < table.rows(); ++row) {
    sim::Workspace workspace;
    sim::ServingEstimate e = sim::estimate(points.scenario(row), workspace);
    sim::tell_causes(points.scenario(row), e);
    const sim::Limited limited = sim::limited(e, "tpot");
    CHECK(table.column("limited_by_tpot").says(row, limited.by));
    CHECK(table.column("limited_share_tpot").number(row) == limited.share);
    if (row != 1) {
      CHECK(told.column("limited_by_tpot").says(row, limited.by));
      CHECK(told.column("limited_share_tpot").number(row) == limited.share);
    }
  }
}

TEST_CASE("columns: asks for all columns, or for some", "[unit]") {
  const auto with = [](const std::string& columns) {
    return sweep(serving(kChat), "{traffic.concurrency: [4, 16]}", "columns: " + columns);
  };
  CHECK(left_out(with("all")).empty());
  const sim::Sweep some = with("[ttft_p99_s, limited_by_tpot]");
  const std::vector<std::string> written =
      sim::shown_columns(some, sim::result_columns(sim::SweepPoints(some)));
  CHECK(written == std::vector<std::string>{"point", "traffic.concurrency", "fits", "meets",
                                            "pareto_rank", "reason", "ttft_p99_s",
                                            "interactivity_tok_per_s_per_user",
                                            "throughput_tok_per_s_per_gpu", "limited_by_tpot"});
  CHECK_THROWS_WITH(with("[ttft_p96_s]"),
                    ContainsSubstring("columns: ") && ContainsSubstring("did you mean"));
  CHECK_THROWS_WITH(with("some"), ContainsSubstring("expects all, or a list of metrics"));
  CHECK_THROWS_WITH(with("[]"), ContainsSubstring("expects all, or a list of metrics"));
}

}  // namespace roofcast::unit_sim_shown_columns
