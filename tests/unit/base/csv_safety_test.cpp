// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>
#include <zlib.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "base/csv/csv.hpp"
#include "base/csv/csv_file.hpp"
#include "base/csv/formula.hpp"
#include "base/csv/zstd_file.hpp"
#include "tests/catch.hpp"

namespace roofcast::unit_base_csv_safety {
namespace {

namespace fs = std::filesystem;

class Folder {
 public:
  Folder() { fs::create_directories(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { fs::remove_all(path_); }
  fs::path operator/(const char* name) const { return path_ / name; }

 private:
  fs::path path_ = fs::temp_directory_path() / ("roofcast_csv_safety_" + std::to_string(getpid()));
};

std::string written(const std::vector<std::string>& cells) {
  std::ostringstream out;
  base::CsvWriter writer(out, {"cell"});
  for (const std::string& cell : cells) {
    writer.append(cell);
    writer.end_row();
  }
  writer.close();
  return out.str();
}

void write(const fs::path& file, const std::string& text, std::size_t times = 1) {
  const gzFile packed = gzopen(file.c_str(), "wb1");
  for (; times > 0; --times) {
    gzwrite(packed, text.data(), static_cast<unsigned>(text.size()));
  }
  gzclose(packed);
}

void write_zstd(const fs::path& file, const std::string& text, std::size_t times = 1) {
  base::ZstdWriter packed(file);
  for (; times > 0; --times) {
    CHECK(packed.write(text));
  }
  CHECK(packed.close());
}

// What both readers say of the file, which is the same.
std::string refused(const fs::path& file) {
  std::string whole = "read";
  std::string rows = "read";
  try {
    base::read_csv(file);
  } catch (const base::CsvError& error) {
    whole = error.what();
  }
  try {
    base::CsvFile(file).read({0}, [](auto) {});
  } catch (const base::CsvError& error) {
    rows = error.what();
  }
  CHECK(whole == rows);
  return whole;
}

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("text that a spreadsheet would compute is written as text, a number as it is", "[unit]") {
  for (const std::string formula : {"=1+1", "+1+1", "-2+3", "@SUM(1)", "\t=1", "=cmd|' /C calc'!A0",
                                    "-x", "=1,2", "'=1", "--flag"}) {
    INFO(formula);
    const std::string text = "'" + formula;
    CHECK(written({formula}) ==
          "cell\n" + (contains(text, ",") ? "\"" + text + "\"" : text) + "\n");
  }
  for (const std::string plain : {"-5", "-1e-3", "-inf", "-", "+", "1+1", "a=b", "'quoted'", "'"}) {
    INFO(plain);
    CHECK(written({plain}) == "cell\n" + plain + "\n");
  }
}

TEST_CASE("every short text reads back as it was written, whole and row by row", "[unit]") {
  const std::string alphabet = "'=-+1,\"x";
  std::vector<std::string> cells = {""};
  for (std::size_t i = 0; i < cells.size() && cells[i].size() < 4; ++i) {
    for (const char c : alphabet) {
      cells.push_back(cells[i] + c);
    }
  }
  const std::string text = written(cells);
  const base::CsvTable table = base::parse_csv(text, "t");
  REQUIRE(table.rows() == cells.size());
  const Folder folder;
  std::ofstream(folder / "t.csv", std::ios::binary) << text;
  std::size_t row = 0;
  base::CsvFile file(folder / "t.csv");
  file.read({0}, [&](auto cell) {
    REQUIRE(table.cell(row, 0) == cells[row]);
    REQUIRE(cell[0] == cells[row++]);
  });
  CHECK(row == cells.size());
}

TEST_CASE("a file with a byte of 0 is no text, packed or plain", "[unit]") {
  const Folder folder;
  const std::string text("a,b\n1,\0\n", 8);
  std::ofstream(folder / "plain.csv", std::ios::binary) << text;
  write(folder / "packed.csv.gz", text);
  write_zstd(folder / "packed.csv.zst", text);
  for (const char* name : {"plain.csv", "packed.csv.gz", "packed.csv.zst"}) {
    CHECK(contains(refused(folder / name), "it has a byte of 0, so it is no text"));
  }
}

TEST_CASE("a file that unpacks to far more than a table does is refused before it is whole",
          "[unit]") {
  const Folder folder;
  std::string rows;
  for (int i = 0; i < 1 << 18; ++i) {
    rows += "1,2\n";
  }
  write(folder / "bomb.csv.gz", "a,b\n" + rows, 1);
  CHECK(refused(folder / "bomb.csv.gz") == "read");  // 1 MB is not much
  write(folder / "bomb.csv.gz", rows, 80);
  CHECK(contains(refused(folder / "bomb.csv.gz"), "it unpacks to more than 200 times its size"));
  write_zstd(folder / "bomb.csv.zst", rows, 80);
  CHECK(contains(refused(folder / "bomb.csv.zst"), "it unpacks to more than 200 times its size"));
}

TEST_CASE("bytes behind a packed table are refused, and a table packed in pieces is whole",
          "[unit]") {
  const Folder folder;
  const auto append = [](const fs::path& to, const std::string& bytes) {
    std::ofstream(to, std::ios::binary | std::ios::app) << bytes;
  };
  write(folder / "a.csv.gz", "a,b\n1,2\n");
  write(folder / "rest.gz", "3,4\n");
  std::ifstream rest(folder / "rest.gz", std::ios::binary);
  append(folder / "a.csv.gz", {std::istreambuf_iterator<char>(rest), {}});
  CHECK(refused(folder / "a.csv.gz") == "read");
  CHECK(base::read_csv(folder / "a.csv.gz").rows() == 2);
  append(folder / "a.csv.gz", "5,6\n");
  CHECK(contains(refused(folder / "a.csv.gz"), "bytes that are not compressed follow"));
}

TEST_CASE("a row of a table has an end", "[unit]") {
  const Folder folder;
  std::ofstream(folder / "long.csv", std::ios::binary) << "a,b\n1,2\n"
                                                       << std::string(70U << 20U, '1') << "\n";
  base::CsvFile file(folder / "long.csv");
  CHECK_THROWS_WITH(file.read({0}, [](auto) {}),
                    Catch::Matchers::ContainsSubstring(":3: error: a row of more than 64 MiB"));
}

TEST_CASE("CSV is not written under a name of something else", "[unit]") {
  const Folder folder;
  for (const char* name : {"x.parquet", "x.PARQUET", "x.arrow", "x.feather", "x.csv.zstd", "x.xlsx",
                           "x.csv.bz2", "x.json"}) {
    INFO(name);
    CHECK_THROWS_WITH(base::CsvWriter(folder / name, {"a"}),
                      Catch::Matchers::ContainsSubstring("choose a name that ends in .csv"));
    CHECK(!fs::exists(folder / name));
  }
  for (const char* name : {"x.csv", "x.csv.gz", "x.csv.zst", "x", "x.txt", "x.tsv.v1"}) {
    base::check_csv_name(folder / name);
  }
}

}  // namespace roofcast::unit_base_csv_safety
