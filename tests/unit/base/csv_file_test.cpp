// SPDX-License-Identifier: Apache-2.0
#include "base/csv/csv_file.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/scratch_file.hpp"

namespace roofcast::unit_base_csv_file {

using base::CsvFile;

namespace {

namespace fs = std::filesystem;

// Rows of three columns: quotes, commas and line ends in cells, now and then a CRLF.
std::string random_table(std::mt19937_64& random, std::size_t rows) {
  const std::vector<std::string> cells = {"1.5",      "",          "text",      "\"a,b\"",
                                          "\"a\nb\"", "\"\"\"x\"", "\"plain\"", "-3e8"};
  std::string text = "first,\"the second\",third\n";
  for (std::size_t row = 0; row < rows; ++row) {
    for (int c = 0; c < 3; ++c) {
      // Most rows are plain, as in results.
      text += cells[random() % (row % 4 == 0 ? cells.size() : 3)];
      text += c < 2 ? "," : random() % 8 == 0 ? "\r\n" : "\n";
    }
  }
  if (random() % 2 == 0 && rows > 0) {
    text.pop_back();  // the last line end may be absent
    if (text.ends_with('\r')) {
      text.pop_back();
    }
  }
  return text;
}

std::string error_of(const std::string& text) {
  const Scratch scratch(text);
  std::string error;
  try {
    CsvFile file(scratch.file());
    file.read({0}, [](auto) {});
  } catch (const base::CsvError& caught) {
    error = caught.what();
  }
  const auto name = error.find(scratch.file().string());
  return name == std::string::npos ? error : "t.csv" + error.substr(scratch.file().string().size());
}

std::string error_of_whole(const std::string& text) {
  try {
    base::parse_csv(text, "t.csv");
  } catch (const base::CsvError& caught) {
    return caught.what();
  }
  return "";
}

}  // namespace

TEST_CASE("a file read row by row has the cells of the file read whole", "[unit]") {
  std::mt19937_64 random(3);
  for (const std::size_t rows : {0U, 1U, 2U, 50U, 3000U}) {
    for (const bool compressed : {false, true}) {
      const std::string text = random_table(random, rows);
      const base::CsvTable whole = base::parse_csv(text, "whole");
      const Scratch scratch(text, compressed);
      CsvFile file(scratch.file());
      CHECK(file.columns() == whole.columns());
      std::size_t row = 0;
      file.read({2, 0, 1}, [&](std::span<const std::string_view> cells) {
        REQUIRE(row < whole.rows());
        REQUIRE(cells.size() == 3);
        REQUIRE(cells[0] == whole.cell(row, 2));
        REQUIRE(cells[1] == whole.cell(row, 0));
        REQUIRE(cells[2] == whole.cell(row, 1));
        ++row;
      });
      CHECK(row == whole.rows());
      std::vector<std::size_t> chosen;
      for (std::size_t r = 0; r < rows; r += 1 + random() % 5) {
        chosen.push_back(r);
      }
      const base::CsvTable some = file.table(chosen);
      REQUIRE(some.rows() == chosen.size());
      for (std::size_t r = 0; r < chosen.size(); ++r) {
        for (std::size_t c = 0; c < 3; ++c) {
          REQUIRE(some.cell(r, c) == whole.cell(chosen[r], c));
        }
      }
    }
  }
}

TEST_CASE("a row that crosses the blocks in which a file is read is read whole", "[unit]") {
  std::string text = "a,b\n";
  std::size_t rows = 0;
  for (; text.size() < (9U << 20U); ++rows) {
    text += fmt::format("{},{}\n", rows, std::string(rows % 3 == 0 ? 70'000 : 5, 'x'));
  }
  const Scratch scratch(text);
  CsvFile file(scratch.file());
  std::size_t row = 0;
  file.read({0, 1}, [&](std::span<const std::string_view> cells) {
    REQUIRE(cells[0] == fmt::format("{}", row));
    REQUIRE(cells[1].size() == (row % 3 == 0 ? 70'000U : 5U));
    ++row;
  });
  CHECK(row == rows);
  CHECK(file.table({rows - 1}).cell(0, 0) == fmt::format("{}", rows - 1));
}

TEST_CASE("what is refused of a file read whole is refused row by row, in the same words",
          "[unit]") {
  for (const std::string text :
       {"", "a,a\n1,2\n", "a,b\n1\n", "a,b\n1,2\n1,2,3\n", "a,b\n\"1\n\",2\n3\n", "a,b\n1,2\n\n",
        "a,b\n1,\"2\n", "a,b\n1,2\"3\n", "a,b\n\"1\"2,3\n", "a,b\n1\r,2\n",
        "a,b\r\n1,2\r\n3\r\n"}) {
    INFO(text);
    CHECK(!error_of_whole(text).empty());
    CHECK(error_of(text) == error_of_whole(text));
  }
}

TEST_CASE("a compressed file that ends too early is refused", "[unit]") {
  std::string text = "a,b\n";
  std::mt19937_64 random(1);
  for (int i = 0; i < 20000; ++i) {
    text += fmt::format("{},{}\n", random(), random());
  }
  const Scratch scratch(text, true);
  fs::resize_file(scratch.file(), fs::file_size(scratch.file()) / 2);
  CHECK_THROWS_AS(
      [&] {
        CsvFile file(scratch.file());
        file.read({0}, [](auto) {});
      }(),
      base::CsvError);
}

}  // namespace roofcast::unit_base_csv_file
