// SPDX-License-Identifier: Apache-2.0
#include "sim/decide/result_comparison.hpp"

#include <fmt/format.h>
#include <stdlib.h>  // mkdtemp

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "tests/catch.hpp"

namespace roofcast::unit_sim_result_comparison {

using sim::Change;
using sim::Direction;

namespace {

namespace fs = std::filesystem;

constexpr sim::Tolerance kPercent{.value = 0.01};
const std::vector<sim::ComparedMetric> kSpeed = {{"tok", Direction::maximize, kPercent},
                                                 {"time", Direction::minimize, kPercent}};

// A table in a file that goes away with the test.
class Table {
 public:
  explicit Table(const std::string& rows, const std::string& name = "t.csv") {
    std::string directory = (fs::temp_directory_path() / "roofcast-test-XXXXXX").string();
    REQUIRE(mkdtemp(directory.data()) != nullptr);
    directory_ = directory;
    file_ = directory_ / name;
    std::ofstream(file_, std::ios::binary) << "chip,load,fits,tok,time\n" << rows;
  }
  ~Table() { fs::remove_all(directory_); }
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;

  base::CsvFile open() const { return base::CsvFile(file_); }

 private:
  fs::path directory_;
  fs::path file_;
};

sim::ResultComparison compare(const Table& before, const Table& after,
                              const std::vector<std::string>& key,
                              const std::vector<sim::ComparedMetric>& metrics) {
  base::CsvFile old_results = before.open();
  base::CsvFile new_results = after.open();
  return sim::compare_results(old_results, new_results, key, metrics);
}

sim::ResultComparison compared(const std::string& before, const std::string& after,
                               const std::vector<sim::ComparedMetric>& metrics = kSpeed) {
  return compare(Table(before, "old.csv"), Table(after, "new.csv"), {"chip", "load"}, metrics);
}

}  // namespace

TEST_CASE("a row is what happened worst to it", "[unit]") {
  const auto result = compared(
      "a,1,true,100,1\n"  // the same
      "a,2,true,100,1\n"  // a drift
      "a,3,true,100,1\n"  // a gain
      "a,4,true,100,1\n"  // a gain and a loss
      "a,5,true,100,1\n"  // missing
      "a,6,true,100,1\n"  // no longer fits
      "a,7,false,,\n"     // fits now
      "a,8,false,,\n",    // never fits
      "b,1,true,1,1\n"    // added
      "a,8,false,,\n"     // any order
      "a,7,true,90,1\n"
      "a,6,false,,\n"
      "a,4,true,120,1.02\n"
      "a,3,true,101.5,1\n"
      "a,2,true,100.5,1.005\n"
      "a,1,true,100,1\n");
  const std::vector<Change> expected = {Change::same,      Change::drift,   Change::gain,
                                        Change::loss,      Change::missing, Change::no_longer_meets,
                                        Change::now_meets, Change::same,    Change::added};
  REQUIRE(result.rows.size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    INFO("row " << i << ": " << sim::name(result.rows[i].change));
    CHECK(result.rows[i].change == expected[i]);
    CHECK(result.count(expected[i]) >= 1);
  }
  CHECK(result.rows[3].metric == 1);
  CHECK(result.rows[3].moved == Approx(0.02));
  CHECK(result.rows[8].new_row == 0);
  // What does not fit has no numbers, which its verdict says and its metrics do not repeat.
  CHECK(result.metrics[0].compared == 4);
  CHECK(result.metrics[0].losses == 0);
  CHECK(result.metrics[0].gains == 2);
  CHECK(result.metrics[0].drifts == 1);
  CHECK(result.metrics[0].best == Approx(0.2));
  CHECK(result.metrics[1].losses == 1);
  CHECK(result.metrics[1].worst == Approx(0.02));
}

TEST_CASE("exchanging old and new exchanges gains and losses, missing and new", "[unit]") {
  std::mt19937_64 random(17);
  const auto rows = [&] {
    std::string text;
    for (int i = 0; i < 300; ++i) {
      if (random() % 10 != 0) {
        const bool fits = random() % 10 != 0;
        text += fits ? fmt::format("a,{},true,{},{}\n", i, random() % 20 * 50 + 1000, random() % 3)
                     : fmt::format("a,{},false,,\n", i);
      }
    }
    return text;
  };
  // An amount is the same in both directions; a share of the old value is not.
  const sim::Tolerance fifty{.value = 50.0, .relative = false};
  const std::vector<sim::ComparedMetric> metrics = {{"tok", Direction::maximize, fifty}};
  const std::string before = rows();
  const std::string after = rows();
  const auto there = compared(before, after, metrics);
  const auto back = compared(after, before, metrics);
  CHECK(there.count(Change::loss) > 0);
  CHECK(there.count(Change::loss) == back.count(Change::gain));
  CHECK(there.count(Change::gain) == back.count(Change::loss));
  CHECK(there.count(Change::drift) == back.count(Change::drift));
  CHECK(there.count(Change::missing) == back.count(Change::added));
  CHECK(there.count(Change::now_meets) == back.count(Change::no_longer_meets));
  for (const sim::ComparedRow& row : compared(before, before, metrics).rows) {
    CHECK(row.change == Change::same);
  }
}

TEST_CASE("a tolerance is a share of the old value or an amount, its edge included", "[unit]") {
  CHECK(sim::parse_tolerance("1%") == sim::Tolerance{.value = 0.01});
  CHECK(sim::parse_tolerance("0.5") == sim::Tolerance{.value = 0.5, .relative = false});
  for (const char* wrong : {"", "%", "-1%", "x", "1 %", "inf", "1%%"}) {
    INFO(wrong);
    CHECK(!sim::parse_tolerance(wrong));
  }
  const auto change = [](double after, sim::Tolerance tolerance) {
    return compared("a,1,true,4,1\n", fmt::format("a,1,true,{},1\n", after),
                    {{"tok", Direction::maximize, tolerance}})
        .rows.front()
        .change;
  };
  const sim::Tolerance quarter{.value = 0.25};
  const sim::Tolerance two{.value = 2.0, .relative = false};
  CHECK(change(5.0, quarter) == Change::drift);
  CHECK(change(5.01, quarter) == Change::gain);
  CHECK(change(3.0, quarter) == Change::drift);
  CHECK(change(2.99, quarter) == Change::loss);
  CHECK(change(6.0, two) == Change::drift);
  CHECK(change(1.99, two) == Change::loss);
}

TEST_CASE("what moves from nothing or to nothing moves without end", "[unit]") {
  const auto result = compared("a,1,true,0,1\na,2,true,5,1\na,3,true,,1\na,4,true,0,1\n",
                               "a,1,true,3,1\na,2,true,,1\na,3,true,7,1\na,4,true,-0,1\n");
  CHECK(result.rows[0].change == Change::gain);
  CHECK(result.rows[0].moved == std::numeric_limits<double>::infinity());
  CHECK(result.rows[1].change == Change::loss);
  CHECK(result.rows[2].change == Change::gain);
  CHECK(result.rows[3].change == Change::same);
}

TEST_CASE("keys are equal as numbers, else as text", "[unit]") {
  const auto result = compared("a,0.5,true,1,1\na,x,true,1,1\na,1e3,true,1,1\n",
                               "a,0.50,true,1,1\na,X,true,1,1\na,1000,true,1,1\n");
  CHECK(result.count(Change::same) == 2);
  CHECK(result.count(Change::missing) == 1);
  CHECK(result.count(Change::added) == 1);
}

TEST_CASE("a number that a column has in two ways is two names, and true is True", "[unit]") {
  const std::string names = "a,1,true,1,1\na,01,true,2,1\na,1.0,true,3,1\n";
  CHECK(compared(names, names).count(Change::same) == 3);
  const auto other = compared(names, "a,1.0,True,3,1\na,1,True,1,1\n");
  CHECK(other.count(Change::same) == 2);
  CHECK(other.count(Change::missing) == 1);
  CHECK(compared("a,true,true,1,1\n", "a,True,TRUE, 1 ,1\n").count(Change::same) == 1);
}

TEST_CASE("two rows of one key, and a column that is not there, are refused", "[unit]") {
  CHECK_THROWS_WITH(
      compared("a,1,true,1,1\na,2,true,1,1\na,1,true,2,1\n", "a,1,true,1,1\n"),
      Catch::Matchers::ContainsSubstring("old.csv: error: rows 1 and 3 have one key, chip=a"));
  CHECK_THROWS_WITH(
      compare(Table(""), Table(""), {"chip"}, {{"tme", Direction::minimize, kPercent}}),
      Catch::Matchers::ContainsSubstring("did you mean \"time\""));
}

TEST_CASE("a median is of all rows that have both numbers", "[unit]") {
  const auto result = compared("a,1,true,100,1\na,2,true,100,1\na,3,true,100,\n",
                               "a,1,true,110,1\na,2,true,130,1\na,3,true,50,\n");
  CHECK(result.metrics[0].median == Approx(0.1));
  CHECK(result.metrics[0].worst == Approx(-0.5));
  CHECK(result.metrics[1].median == 0.0);
  const auto nothing = compared("a,1,true,100,\n", "a,1,true,100,\n");
  CHECK(std::isnan(nothing.metrics[1].median));
}

}  // namespace roofcast::unit_sim_result_comparison
