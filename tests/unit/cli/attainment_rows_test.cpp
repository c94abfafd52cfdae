// SPDX-License-Identifier: Apache-2.0
#include "cli/tables/attainment_rows.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "cli/tables/result_csv.hpp"
#include "tests/catch.hpp"

namespace roofcast::cli::unit_cli_attainment_rows {
namespace {

struct Row {
  std::string system;
  bool meets = true;
  double tpot = 0.0;
  double throughput = 0.0;
};

sim::ResultTable table_of(const std::vector<Row>& rows) {
  std::string text = "system,meets,tpot_mean_s,throughput_tok_per_s_per_gpu\n";
  for (const Row& row : rows) {
    std::ostringstream line;
    line << row.system << (row.meets ? ",true," : ",false,") << row.tpot << ',' << row.throughput
         << '\n';
    text += line.str();
  }
  return read_results(base::parse_csv(text, "test"));
}

}  // namespace

TEST_CASE("Under every limit, the best row of each system is one of those that attain", "[unit]") {
  std::vector<Row> rows;
  unsigned state = 1;
  const auto draw = [&state](unsigned below) {
    state = state * 1'664'525U + 1'013'904'223U;
    return (state >> 8U) % below;
  };
  for (int i = 0; i < 400; ++i) {
    rows.push_back(
        {draw(2) == 0 ? "a" : "b", draw(4) > 0, 0.001 * (1 + draw(50)), 1.0 + draw(200)});
  }
  const std::vector<std::size_t> kept = attainment_rows(table_of(rows), "system");
  CHECK(std::is_sorted(kept.begin(), kept.end()));
  CHECK(kept.size() < 100);
  const auto best = [&](const std::string& system, double limit, const auto& among) {
    double most = -std::numeric_limits<double>::infinity();
    for (const std::size_t i : among) {
      if (rows[i].meets && rows[i].system == system && rows[i].tpot <= limit) {
        most = std::max(most, rows[i].throughput);
      }
    }
    return most;
  };
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    all.push_back(i);
  }
  for (const std::string system : {"a", "b"}) {
    for (int step = 0; step <= 60; ++step) {
      const double limit = 0.001 * step + 0.0005;
      CHECK(best(system, limit, kept) == best(system, limit, all));
    }
  }
}

TEST_CASE("Without throughput there is nothing to attain", "[unit]") {
  CHECK(
      attainment_rows(read_results(base::parse_csv("system,tpot_mean_s\na,1\n", "test")), "system")
          .empty());
}

}  // namespace roofcast::cli::unit_cli_attainment_rows
