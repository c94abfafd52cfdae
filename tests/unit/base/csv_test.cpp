// SPDX-License-Identifier: Apache-2.0
#include "base/csv/csv.hpp"

#include <zlib.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/csv/zstd_file.hpp"
#include "tests/catch.hpp"

namespace roofcast::unit_base_csv {

using base::CsvError;
using base::CsvWriter;
using base::parse_csv;

namespace {

namespace fs = std::filesystem;

std::string error_of(const std::string& text) {
  try {
    parse_csv(text, "t.csv");
  } catch (const CsvError& error) {
    return error.what();
  }
  return "";
}

// A directory of its own that goes away with the test.
class Scratch {
 public:
  Scratch() {
    std::random_device seed;
    directory_ = fs::temp_directory_path() / ("roofcast_csv_test_" + std::to_string(seed()));
    fs::create_directories(directory_);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() { fs::remove_all(directory_); }
  fs::path file(const std::string& name, const std::string& content = "") const {
    std::ofstream(directory_ / name, std::ios::binary) << content;
    return directory_ / name;
  }
  const fs::path& directory() const { return directory_; }

 private:
  fs::path directory_;
};

std::string content_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

std::string gzipped(const Scratch& scratch, const std::string& text) {
  const fs::path file = scratch.directory() / "made.gz";
  const gzFile out = gzopen(file.c_str(), "wb");
  gzwrite(out, text.data(), static_cast<unsigned>(text.size()));
  gzclose(out);
  return content_of(file);
}

std::string by_zstd(const Scratch& scratch, const std::string& text) {
  const fs::path file = scratch.directory() / "made.zst";
  base::ZstdWriter out(file);
  CHECK(out.write(text));
  CHECK(out.close());
  return content_of(file);
}

using Cells = std::vector<std::vector<std::string>>;

Cells cells_of(const base::CsvTable& table) {
  Cells cells(table.rows());
  for (std::size_t row = 0; row < table.rows(); ++row) {
    for (std::size_t col = 0; col < table.columns().size(); ++col) {
      cells[row].emplace_back(table.cell(row, col));
    }
  }
  return cells;
}

}  // namespace

TEST_CASE("a table has the names of its first line and the cells of the others", "[unit]") {
  const auto table = parse_csv("a,b,c\n1,2,3\n4,,6\n", "t.csv");
  CHECK(table.name() == "t.csv");
  CHECK(table.columns() == std::vector<std::string>{"a", "b", "c"});
  CHECK(cells_of(table) == Cells{{"1", "2", "3"}, {"4", "", "6"}});
  CHECK(table.column("b") == 1);
  CHECK(table.find_column("c") == 2);
  CHECK_FALSE(table.find_column("d"));
}

TEST_CASE("the line ending, and whether the last line has one, makes no difference", "[unit]") {
  const Cells expected{{"1", "2"}, {"", ""}, {"3", ""}};
  for (const std::string text :
       {"a,b\n1,2\n,\n3,\n", "a,b\n1,2\n,\n3,", "a,b\r\n1,2\r\n,\r\n3,\r\n",
        "a,b\r\n1,2\r\n,\r\n3,", "a,b\r\n1,2\n,\r\n3,\r",
        "\xEF\xBB\xBF"
        "a,b\n1,2\n,\n3,\n",
        "\"a\",\"b\"\r\n\"1\",\"2\"\r\n\"\",\"\"\r\n\"3\",\"\"\r\n",
        "\"a\",b\n1,\"2\"\n,\"\"\n\"3\","}) {
    INFO(text);
    const auto table = parse_csv(text, "t.csv");
    CHECK(table.columns() == std::vector<std::string>{"a", "b"});
    CHECK(cells_of(table) == expected);
  }
}

TEST_CASE("quotes hold commas, line ends and doubled quotes", "[unit]") {
  const auto table =
      parse_csv("\"a,\"\"x\"\"\",b\n\"1\n2\r\n3\",\"\"\"\"\n\",,\",\"say \"\"hi\"\"\"\n", "t.csv");
  CHECK(table.columns() == std::vector<std::string>{"a,\"x\"", "b"});
  CHECK(cells_of(table) == Cells{{"1\n2\r\n3", "\""}, {",,", "say \"hi\""}});
}

TEST_CASE("a table of one column has a row for every line, empty ones too", "[unit]") {
  CHECK(cells_of(parse_csv("a\n1\n\n2\n", "t.csv")) == Cells{{"1"}, {""}, {"2"}});
  CHECK(parse_csv("a", "t.csv").rows() == 0);
  CHECK(parse_csv("a\n", "t.csv").rows() == 0);
  CHECK(parse_csv("a,b\r\n", "t.csv").rows() == 0);
}

TEST_CASE("a malformed table is refused with its file and line", "[unit]") {
  CHECK(error_of("") == "t.csv: error: the file is empty; a header line is expected");
  CHECK(error_of("\xEF\xBB\xBF") == "t.csv: error: the file is empty; a header line is expected");
  CHECK(error_of("a,b\n1,2\n3\n") == "t.csv:3: error: 1 cell, but the first line has 2");
  CHECK(error_of("a,b\n1,2,3\n") == "t.csv:2: error: 3 cells, but the first line has 2");
  CHECK(error_of("a,b\n1,2\n\n") == "t.csv:3: error: 1 cell, but the first line has 2");
  CHECK(error_of("a,b\n\"1\n\n\",2\n3\n") == "t.csv:5: error: 1 cell, but the first line has 2");
  CHECK(error_of("a,b\n1,\"2\n3") == "t.csv:2: error: a quoted cell that is never closed");
  CHECK(error_of("a,b\n1,\"") == "t.csv:2: error: a quoted cell that is never closed");
  CHECK(error_of("a,b\n\"1\"x,2\n") == "t.csv:2: error: text after the closing quote of a cell");
  CHECK(error_of("a,b\n1\"x,2\n") ==
        "t.csv:2: error: a quote inside a cell that does not start with one");
  CHECK(error_of("a,b\n1\rx,2\n") == "t.csv:2: error: a carriage return without a line feed");
  CHECK(error_of("a,b,a\n1,2,3\n") == "t.csv:1: error: two columns are called \"a\"");
}

TEST_CASE("a missing column is refused with the nearest name", "[unit]") {
  const auto table = parse_csv("latency_ms,batch\n", "t.csv");
  try {
    table.column("latency_s");
    FAIL("no error");
  } catch (const CsvError& error) {
    CHECK(std::string(error.what()) ==
          "t.csv: error: no column \"latency_s\"; did you mean \"latency_ms\"?");
  }
}

TEST_CASE("every short text over the special characters is refused or survives being written again",
          "[unit]") {
  const std::string alphabet = ",\"\n\rx";
  std::size_t read = 0;
  for (int length = 1; length <= 7; ++length) {
    std::string text(static_cast<std::size_t>(length), alphabet[0]);
    std::vector<std::size_t> digits(text.size(), 0);
    while (true) {
      for (std::size_t i = 0; i < text.size(); ++i) {
        text[i] = alphabet[digits[i]];
      }
      try {
        const auto table = parse_csv(text, "t.csv");
        ++read;
        // Written out again, it is the same table.
        std::ostringstream out;
        CsvWriter writer(out, table.columns());
        for (std::size_t row = 0; row < table.rows(); ++row) {
          for (std::size_t col = 0; col < table.columns().size(); ++col) {
            writer.append(table.cell(row, col));
          }
          writer.end_row();
        }
        writer.close();
        const auto again = parse_csv(out.str(), "again.csv");
        if (again.columns() != table.columns() || cells_of(again) != cells_of(table)) {
          FAIL("changed: " << text);
        }
      } catch (const CsvError&) {
      }
      std::size_t place = 0;
      while (place < digits.size() && ++digits[place] == alphabet.size()) {
        digits[place++] = 0;
      }
      if (place == digits.size()) {
        break;
      }
    }
  }
  CHECK(read > 1000);
}

TEST_CASE("a table keeps its cells when it is moved", "[unit]") {
  auto table = parse_csv("a\n1\n", "t.csv");
  const auto moved = std::move(table);
  CHECK(moved.cell(0, 0) == "1");
}

TEST_CASE("a table is the same with its columns in lines", "[unit]") {
  const std::string rows = "a,\"b,c\",d\n1,\"x\ny\",\n,2,3\n4,,\"\"\"\"\n";
  const std::string columns = "a,1,,4\n\"b,c\",\"x\ny\",2,\r\nd,,3,\"\"\"\"";
  const auto expected = parse_csv(rows, "t.csv");
  const auto table = base::parse_columns(columns, "t.columns");
  CHECK(table.columns() == expected.columns());
  CHECK(cells_of(table) == cells_of(expected));
  CHECK(table.column("b,c") == 1);
  CHECK(base::parse_columns("a\nb\n", "t.columns").rows() == 0);
  CHECK(base::parse_columns("a,1,2\n", "t.columns").rows() == 2);
}

TEST_CASE("a file says by its name that a line is a column", "[unit]") {
  const Scratch scratch;
  const std::string text = "a,1,2\nb,3,4\n";
  const Cells of_columns{{"1", "3"}, {"2", "4"}};
  CHECK(cells_of(base::read_csv(scratch.file("t.columns", text))) == of_columns);
  CHECK(cells_of(base::read_csv(scratch.file("t.columns.gz", gzipped(scratch, text)))) ==
        of_columns);
  CHECK(cells_of(base::read_csv(scratch.file("t.columns.zst", by_zstd(scratch, text)))) ==
        of_columns);
  CHECK(cells_of(base::read_csv(scratch.file("columns.csv", text))) == Cells{{"b", "3", "4"}});
}

TEST_CASE("a malformed table with its columns in lines is refused with its file and line",
          "[unit]") {
  const auto error = [](const std::string& text) {
    try {
      base::parse_columns(text, "t");
    } catch (const CsvError& wrong) {
      return std::string(wrong.what());
    }
    return std::string();
  };
  CHECK(error("a,1,2\nb,3\n") == "t:2: error: 2 cells, but the first line has 3");
  CHECK(error("a,1\nb,2\na,3\n") == "t: error: two columns are called \"a\"");
}

TEST_CASE("a compressed file is known by its first bytes and not by its name", "[unit]") {
  const Scratch scratch;
  const std::string text = "a,b\n1,\"x\ny\"\n";
  const Cells expected{{"1", "x\ny"}};
  for (const std::string name : {"t.csv", "t.csv.gz", "t.csv.zst"}) {
    INFO(name);
    CHECK(cells_of(base::read_csv(scratch.file(name, text))) == expected);
    for (const auto pack : {gzipped, by_zstd}) {
      const std::string packed = pack(scratch, text);
      CHECK(cells_of(base::read_csv(scratch.file(name, packed))) == expected);
      // Two members one after the other are one text.
      CHECK(base::read_csv(scratch.file(name, packed + pack(scratch, "2,z\n"))).rows() == 2);
    }
  }
}

TEST_CASE("a file that is missing, damaged or no file is refused by name", "[unit]") {
  const Scratch scratch;
  const std::string text = "a,b\n" + std::string(100000, '1') + ",2\n";
  const auto refused = [&](const fs::path& file) {
    try {
      base::read_csv(file);
    } catch (const CsvError& error) {
      return std::string(error.what()).find(file.string()) == 0;
    }
    return false;
  };
  CHECK(refused(scratch.directory() / "missing.csv"));
  CHECK(refused(scratch.directory()));
  CHECK(refused(scratch.file("empty.csv")));
  for (const auto pack : {gzipped, by_zstd}) {
    const std::string packed = pack(scratch, text);
    const std::size_t known = pack == gzipped ? 2 : 4;  // bytes that say what it is
    for (std::size_t cut = known; cut < packed.size(); ++cut) {
      INFO(cut);
      REQUIRE(refused(scratch.file("cut.csv.gz", packed.substr(0, cut))));
    }
    std::string damaged = packed;
    damaged[damaged.size() - 6] = static_cast<char>(damaged[damaged.size() - 6] ^ 1);
    CHECK(refused(scratch.file("damaged.csv.gz", damaged)));
  }
}

TEST_CASE("a number is the whole cell or nothing", "[unit]") {
  CHECK(base::parse_number("1") == 1.0);
  CHECK(base::parse_number("-1.5e-3") == -1.5e-3);
  CHECK(base::parse_number(".5") == 0.5);
  CHECK(base::parse_number("inf") == std::numeric_limits<double>::infinity());
  CHECK(base::parse_number("-inf") == -std::numeric_limits<double>::infinity());
  for (const std::string text :
       {"", " ", " 1", "1 ", "1x", "x", "+1", "0x10", "nan", "1e999", "1,5", "1..2", "-", "--1"}) {
    INFO(text);
    CHECK_FALSE(base::parse_number(text));
  }
}

TEST_CASE("numbers are written so that they read back equal", "[unit]") {
  std::mt19937_64 random(7);
  std::vector<double> values{0.0,
                             -0.0,
                             1.0,
                             0.1,
                             1e16,
                             1e300,
                             5e-324,
                             std::numeric_limits<double>::max(),
                             -2.2250738585072014e-308,
                             std::numeric_limits<double>::infinity(),
                             -std::numeric_limits<double>::infinity()};
  for (int i = 0; i < 20000; ++i) {
    const std::uint64_t bits = random();
    double value = 0.0;
    static_assert(sizeof bits == sizeof value);
    std::memcpy(&value, &bits, sizeof value);
    if (!std::isnan(value)) {
      values.push_back(value);
    }
  }
  std::ostringstream out;
  CsvWriter writer(out, {"x"});
  for (const double value : values) {
    writer.append(value);
    writer.end_row();
  }
  writer.close();
  const auto table = parse_csv(out.str(), "t.csv");
  REQUIRE(table.rows() == values.size());
  bool all_equal = true;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto read = base::parse_number(table.cell(i, 0));
    all_equal =
        all_equal && read && *read == values[i] && std::signbit(*read) == std::signbit(values[i]);
  }
  CHECK(all_equal);
}

TEST_CASE("cells are written as short as they can be, and quoted only when they must", "[unit]") {
  std::ostringstream out;
  CsvWriter writer(out, {"plain", "with,comma", "say \"hi\"", "n", "m"});
  writer.append("text");
  writer.append(std::string("two\nlines"));
  writer.append(0.1);
  writer.append(std::int64_t{-9223372036854775807} - 1);
  writer.append(std::uint64_t{18446744073709551615U});
  writer.end_row();
  writer.append(std::nan(""));
  writer.append("");
  writer.append(1.0);
  writer.append(7);
  writer.append(" blank ");
  writer.end_row();
  writer.close();
  CHECK(out.str() ==
        "plain,\"with,comma\",\"say \"\"hi\"\"\",n,m\n"
        "text,\"two\nlines\",0.1,-9223372036854775808,18446744073709551615\n"
        ",,1,7, blank \n");
}

TEST_CASE("a row with the wrong number of cells is a bug in the caller", "[unit]") {
  std::ostringstream out;
  CsvWriter writer(out, {"a", "b"});
  writer.append(1);
  CHECK_THROWS_AS(writer.end_row(), std::logic_error);
  writer.append(2);
  CHECK_THROWS_AS(writer.append(3), std::logic_error);
  writer.end_row();
  writer.append(1);
  CHECK_THROWS_AS(writer.close(), std::logic_error);
  CHECK_THROWS_AS(writer.append(1), std::logic_error);
  CHECK(out.str() == "a,b\n1,2\n");
  CHECK_THROWS_AS(CsvWriter(out, {}), std::logic_error);
}

TEST_CASE("a file is compressed when its name ends in .gz or .zst and reads back either way",
          "[unit]") {
  const Scratch scratch;
  for (const std::string name : {"out.csv", "out.csv.gz", "out.csv.zst"}) {
    const fs::path file = scratch.directory() / name;
    {
      CsvWriter writer(file, {"i", "x", "text"});
      for (int i = 0; i < 50000; ++i) {
        writer.append(i);
        writer.append(i / 3.0);
        writer.append("a,b");
        writer.end_row();
      }
      writer.close();
    }
    CHECK((content_of(file).substr(0, 2) == "\x1F\x8B") == (name == "out.csv.gz"));
    CHECK((content_of(file).substr(0, 2) == "\x28\xB5") == (name == "out.csv.zst"));
    CHECK((content_of(file).size() < 500'000) == (name != "out.csv"));
    const auto table = base::read_csv(file);
    REQUIRE(table.rows() == 50000);
    CHECK(table.cell(49999, 0) == "49999");
    CHECK(base::parse_number(table.cell(49999, 1)) == 49999 / 3.0);
    CHECK(table.cell(49999, 2) == "a,b");
  }
}

TEST_CASE("a writer that goes away unclosed still leaves its whole rows", "[unit]") {
  const Scratch scratch;
  const fs::path file = scratch.directory() / "out.csv";
  {
    CsvWriter writer(file, {"a"});
    writer.append(1);
    writer.end_row();
  }
  CHECK(content_of(file) == "a\n1\n");
}

TEST_CASE("a write that fails is reported at the latest when the file is closed", "[unit]") {
  const Scratch scratch;
  CHECK_THROWS_AS(CsvWriter(scratch.directory() / "no" / "such" / "place.csv", {"a"}),
                  base::InputError);
  CHECK_THROWS_AS(CsvWriter(scratch.directory() / "no" / "such" / "place.csv.gz", {"a"}),
                  base::InputError);
  std::ostringstream broken;
  broken.setstate(std::ios::badbit);
  CsvWriter to_broken(broken, {"a"});
  CHECK_THROWS_AS(to_broken.close(), CsvError);
  const fs::path full = "/dev/full";  // where there is one, a disk that is always full
  if (fs::exists(full)) {
    CsvWriter writer(full, {"a"});
    writer.append(1);
    writer.end_row();
    CHECK_THROWS_AS(writer.close(), CsvError);
    for (const char* name : {"full.csv.gz", "full.csv.zst"}) {
      const fs::path link = scratch.directory() / name;
      fs::create_symlink(full, link);
      CsvWriter packed(link, {"a"});
      CHECK_THROWS_AS(packed.close(), CsvError);
    }
  }
}

TEST_CASE("Rows that were written apart stand in the table as if written there", "[unit]") {
  std::ostringstream whole;
  {
    base::CsvWriter csv(whole, {"name", "x"});
    csv.append("first");
    csv.append(1.5);
    csv.end_row();
    base::CsvWriter apart = csv.apart();
    apart.append("a, b");
    apart.append(std::nan(""));
    CHECK_THROWS_AS(csv.add_rows(apart), std::logic_error);
    apart.end_row();
    csv.add_rows(apart);
    csv.add_rows(apart);  // it is empty now
    csv.append("last");
    CHECK_THROWS_AS(csv.add_rows(apart), std::logic_error);
    csv.append(2.0);
    csv.end_row();
    csv.close();
    CHECK_THROWS_AS(csv.add_rows(apart), std::logic_error);
  }
  CHECK(whole.str() == "name,x\nfirst,1.5\n\"a, b\",\nlast,2\n");
}

}  // namespace roofcast::unit_base_csv
