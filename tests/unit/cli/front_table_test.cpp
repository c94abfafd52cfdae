// SPDX-License-Identifier: Apache-2.0
#include "cli/tables/front_table.hpp"

#include "cli/tables/result_csv.hpp"
#include "sim/result/metrics.hpp"
#include "tests/catch.hpp"

namespace roofcast::cli::unit_cli_front_table {
namespace {

// Throughput falls with the row; row 3 has none.
const std::string kRows =
    "point,system,traffic.concurrency,fits,meets,pareto_rank,reason,ttft_p50_s,"
    "throughput_tok_per_s_per_gpu,limited_by_tpot,limited_share_tpot\n"
    "0,hgx_h100,64,true,true,1,,0.5,5000,HBM,0.431\n"
    "1,hgx_h100,16,true,true,1,,0.25,2000,HBM,0.4\n"
    "2,hgx_h200,4,true,true,1,,0.125,800,launch,\n"
    "3,hgx_h200,1,false,false,0,too big,,,,\n"
    "4,hgx_b200,1,true,true,1,,0.0625,90,launch,0.3\n";

}  // namespace

TEST_CASE("A column is a metric, a verdict or, with any other name, an axis", "[unit]") {
  for (const sim::Metric& metric : sim::metrics()) {
    CHECK(kind_of_column(metric.name) == ColumnKind::metric);
  }
  for (const sim::TextMetric& text : sim::text_metrics()) {
    CHECK(kind_of_column(text.name) == ColumnKind::status);
  }
  for (const char* name : {"point", "fits", "meets", "pareto_rank", "reason"}) {
    CHECK(kind_of_column(name) == ColumnKind::status);
  }
  for (const char* name : {"system", "deployment.tensor_parallel", "plan"}) {
    CHECK(kind_of_column(name) == ColumnKind::axis);
  }
}

TEST_CASE("The table of a front has axes, objectives, the usual metrics and the limit", "[unit]") {
  const sim::ResultTable table = read_results(base::parse_csv(kRows, "rows"));
  CHECK(front_table(table, {2, 0}, {"throughput_tok_per_s_per_gpu"}, 10) ==
        "system    concurrency  Throughput per GPU  TTFT p50  limited_by_tpot\n"
        "hgx_h100           64     5,000 tok/s/GPU    500 ms  HBM (43 %)\n"
        "hgx_h200            4       800 tok/s/GPU    125 ms  launch\n");
}

TEST_CASE("The rows of a front are in the order of its first objective, the best first", "[unit]") {
  const sim::ResultTable table = read_results(base::parse_csv(kRows, "rows"));
  using Rows = std::vector<std::size_t>;
  CHECK(spread(table, {4, 1, 2, 0}, "throughput_tok_per_s_per_gpu", 10) == Rows{0, 1, 2, 4});
}

TEST_CASE("Of many rows both ends are kept and the rest is spread between them", "[unit]") {
  std::string text = "point,gpus\n";
  std::vector<std::size_t> rows;
  for (std::size_t i = 0; i < 100; ++i) {
    text += std::to_string(i) + "," + std::to_string(i) + "\n";
    rows.push_back(i);
  }
  const sim::ResultTable table = read_results(base::parse_csv(text, "rows"));
  const auto chosen = spread(table, rows, "gpus", 12);
  REQUIRE(chosen.size() == 12);
  CHECK(chosen.front() == 0);
  CHECK(chosen.back() == 99);
  for (std::size_t i = 1; i < chosen.size(); ++i) {
    CHECK(chosen[i] - chosen[i - 1] == 9);
  }
}

TEST_CASE("A front is shown whole up to the limit", "[unit]") {
  const sim::ResultTable table = read_results(base::parse_csv(kRows, "rows"));
  const std::vector<std::size_t> rows = {0, 1, 2, 4};
  CHECK(spread(table, rows, "throughput_tok_per_s_per_gpu", 4) == rows);
  CHECK(spread(table, rows, "throughput_tok_per_s_per_gpu", 2) == std::vector<std::size_t>{0, 4});
}

}  // namespace roofcast::cli::unit_cli_front_table
