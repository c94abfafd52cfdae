// SPDX-License-Identifier: Apache-2.0
#include "cli/sweep/best_so_far.hpp"

#include "tests/catch.hpp"

namespace roofcast::cli::unit_cli_best_so_far {
namespace {

// Rows of a TTFT, of which some meet the constraints.
sim::ResultTable rows_of(const std::vector<std::pair<double, bool>>& rows) {
  sim::ResultTable table("rows", {"meets", "ttft_p50_s", "throughput_tok_per_s"});
  table.resize(rows.size());
  for (std::size_t row = 0; row < rows.size(); ++row) {
    table.columns()[0].set_code(row,
                                table.columns()[0].code_of(rows[row].second ? "true" : "false"));
    table.columns()[1].fill();
    table.columns()[1].set(row, rows[row].first);
  }
  return table;
}

}  // namespace

TEST_CASE("The best value of a running sweep is that of the first objective over rows that meet",
          "[unit]") {
  sim::Sweep sweep;
  sweep.pareto.minimize = {"ttft_p50_s", "throughput_tok_per_s"};
  BestSoFar best(sweep);
  CHECK(best.text().empty());
  best.take(rows_of({{0.1, false}}));
  CHECK(best.text().empty());
  best.take(rows_of({{0.4, true}, {0.3, true}, {0.2, false}}));
  const std::string first = best.text();
  CHECK(first.find("300") != std::string::npos);
  best.take(rows_of({{0.5, true}}));
  CHECK(best.text() == first);
}

}  // namespace roofcast::cli::unit_cli_best_so_far
