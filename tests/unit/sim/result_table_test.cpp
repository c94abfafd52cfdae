// SPDX-License-Identifier: Apache-2.0
#include "sim/decide/result_table.hpp"

#include <cmath>
#include <sstream>
#include <string>

#include "cli/tables/result_csv.hpp"
#include "sim/decide/sweep_run.hpp"
#include "tests/catch.hpp"

namespace roofcast::unit_sim_result_table {

using Catch::Matchers::ContainsSubstring;

namespace {

// Points that fit and points that do not, with and without a place on the front.
const sim::SweepPoints& points() {
  static const sim::SweepPoints all(sim::read_sweep(base::parse_document(
      "sweep.yaml",
      "base:\n"
      "  {system: hgx_h100, model: llama-3.1-70b, precision: bf16,\n"
      "   deployment: {tensor_parallel: 1}, serving: {stack: vllm},\n"
      "   traffic: {input_tokens: 1024, output_tokens: 256, concurrency: 16}}\n"
      "axes:\n"
      "  system: [hgx_h100, hgx_h200]\n"
      "  deployment.tensor_parallel: [1, 2, 3]\n"
      "  traffic.concurrency: {from: 1, to: 256, factor: 2}\n"
      "where: [fits, 'ttft_p50_s <= 0.2']\n")));
  return all;
}

std::string csv_of(const sim::ResultTable& table, const std::vector<std::string>& columns,
                   unsigned threads) {
  std::ostringstream text;
  base::CsvWriter csv(text, columns);
  cli::write_results(table, threads, csv);
  return text.str();
}

}  // namespace

TEST_CASE("A column has the text of each row, however many different ones there are", "[unit]") {
  sim::ResultTable table("t", {"reason"});
  constexpr std::size_t kRows = 1000;
  table.resize(kRows);
  sim::ResultColumn& column = table.column("reason");
  for (std::size_t row = 0; row < kRows; row += 2) {
    column.set_code(row, column.code_of(std::to_string(row)));
  }
  table.resize(2 * kRows);
  for (std::size_t row = 0; row < 2 * kRows; ++row) {
    REQUIRE(column.text(row) == (row < kRows && row % 2 == 0 ? std::to_string(row) : ""));
  }
}

TEST_CASE("A rank is what was set, and none where a file says what is no rank", "[unit]") {
  sim::ResultTable table("t", {"pareto_rank"});
  table.resize(4);
  sim::ResultColumn& rank = table.column("pareto_rank");
  CHECK(rank.is_blank());
  rank.set(0, 1.0);
  rank.set(1, 4294967295.0);
  rank.set(2, -3.0);
  rank.set(3, 1e300);
  CHECK(rank.number(0) == 1.0);
  CHECK(rank.cell(1) == "4294967295");
  CHECK(rank.is_empty(2));
  CHECK(rank.is_empty(3));
  rank.set(0, std::nan(""));
  CHECK(rank.is_empty(0));
}

TEST_CASE("A thin column has the rows that were set, and says that the others are empty",
          "[unit]") {
  sim::ResultTable table("t", {"tpot_mean_s", "system"});
  for (sim::ResultColumn& column : table.columns()) {
    column.make_thin();
  }
  table.resize(1'000'000);
  sim::ResultColumn& number = table.column("tpot_mean_s");
  sim::ResultColumn& text = table.column("system");
  CHECK(number.is_blank());
  number.set(7, 0.5);
  text.set_code(7, text.code_of("hgx_h200"));
  CHECK(number.number(7) == 0.5);
  CHECK(number.cell(7) == "0.5");
  CHECK(number.is_empty(8));
  CHECK(std::isnan(number.number(8)));
  CHECK(text.says(7, "hgx_h200"));
  CHECK(text.is_empty(8));
  CHECK(text.text(8).empty());
  CHECK_FALSE(number.is_blank());
  number.set(7, std::nan(""));
  CHECK(number.is_blank());
  table.add_column("replay");
  CHECK(table.column("replay").is_thin());
  table.add_column("made_by", true);
  CHECK_FALSE(table.column("made_by").is_thin());
}

TEST_CASE("A row of a sweep's table is what the point's estimate says", "[unit]") {
  const sim::ResultTable table = sim::run_sweep(points(), 2);
  const std::vector<sim::ServingEstimate> estimates = sim::sweep_estimates(points(), 1);
  REQUIRE(table.rows() == points().size());
  std::size_t fitting = 0;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    const sim::ServingEstimate& e = estimates[row];
    fitting += e.fits() ? 1U : 0U;
    CHECK(table.column("point").number(row) == static_cast<double>(row));
    CHECK(table.column("system").text(row) == points().label(row, 0));
    CHECK(table.fits(row) == e.fits());
    CHECK(table.meets(row) == sim::missed(points().sweep().where, e).empty());
    CHECK(table.column("reason").text(row) == sim::missed(points().sweep().where, e));
    CHECK(table.column("pareto_rank").is_empty(row) == !table.meets(row));
    for (const sim::Metric& metric : sim::metrics()) {
      const sim::ResultColumn& column = table.column(metric.name);
      const double value = e.fits() ? metric.value(e) : std::nan("");
      CHECK((std::isnan(value) ? column.is_empty(row) : column.number(row) == value));
    }
    for (const sim::TextMetric& text : sim::text_metrics()) {
      if (text.of_parents) {
        CHECK(table.find(text.name) == nullptr);
        continue;
      }
      CHECK(table.column(text.name).text(row) == (e.fits() ? text.value(e) : ""));
    }
  }
  CHECK(fitting > 0);
  CHECK(fitting < table.rows());
  CHECK(table.meeting() > 0);
  CHECK(table.meeting() < fitting);
}

TEST_CASE("A table that is written and read is written the same, on any number of threads",
          "[unit]") {
  const std::vector<std::string> columns = sim::result_columns(points());
  const std::string text = csv_of(sim::run_sweep(points(), 1), columns, 1);
  CHECK(csv_of(sim::run_sweep(points(), 3), columns, 3) == text);
  const sim::ResultTable read = cli::read_results(base::parse_csv(text, "results"));
  CHECK(csv_of(read, columns, 2) == text);
}

TEST_CASE("Rows stand in their order, whichever thread writes them", "[unit]") {
  sim::ResultTable table("numbers", {"point"});
  table.resize(5000);
  for (std::size_t row = 0; row < table.rows(); ++row) {
    table.columns()[0].set(row, static_cast<double>(row));
  }
  const std::string text = csv_of(table, {"point"}, 1);
  CHECK(text.ends_with("\n4998\n4999\n"));
  CHECK(csv_of(table, {"point"}, 7) == text);
}

TEST_CASE("What cannot be written is an error on any number of threads", "[unit]") {
  sim::ResultTable table("numbers", {"point"});
  table.resize(5000);
  for (const unsigned threads : {1U, 7U}) {
    std::ostringstream text;
    base::CsvWriter csv(text, {"point"});
    text.setstate(std::ios::badbit);
    CHECK_THROWS_AS(cli::write_results(table, threads, csv), base::CsvError);
    text.clear();
  }
}

TEST_CASE("A cell that is no number is none in a column of numbers, and a number in one of texts",
          "[unit]") {
  const sim::ResultTable table = cli::read_results(
      base::parse_csv("system,speed,ttft_p50_s\na,3.5,0.25\nb,,fast\n", "results"));
  CHECK(table.column("ttft_p50_s").number(0) == 0.25);
  CHECK(table.column("ttft_p50_s").is_empty(1));
  CHECK(table.column("speed").number(0) == 3.5);
  CHECK(std::isnan(table.column("speed").number(1)));
  CHECK(table.column("speed").is_empty(1));
  CHECK_FALSE(table.meets(0));
  CHECK_THROWS_WITH(table.column("sistem"), ContainsSubstring("did you mean \"system\"?"));
  CHECK_THROWS_WITH(sim::ResultTable("results", {"system", "gpus", "system"}),
                    ContainsSubstring("two columns are called \"system\""));
}

}  // namespace roofcast::unit_sim_result_table
