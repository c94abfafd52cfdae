// SPDX-License-Identifier: Apache-2.0
#include "base/document/output_file.hpp"

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "base/csv/csv.hpp"
#include "base/document/text_file.hpp"
#include "base/fnv.hpp"
#include "tests/catch.hpp"
#include "tests/scratch_file.hpp"

namespace roofcast::base::unit_base_output_file {
namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file, std::ios::binary).rdbuf();
  return text.str();
}

std::size_t files_in(const fs::path& folder) {
  return static_cast<std::size_t>(
      std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

}  // namespace

TEST_CASE("Until it is committed the old file stays, and afterwards no part is left", "[unit]") {
  const Scratch old("old");
  const fs::path file = old.file();
  fs::permissions(file, fs::perms::owner_read | fs::perms::owner_write);
  {
    OutputFile out(file);
    std::ofstream(out.path()) << "new";
    CHECK(text_of(file) == "old");
    CHECK(files_in(file.parent_path()) == 2);
    CHECK(!out.commit());
    CHECK(text_of(file) == "new");
  }
  CHECK(files_in(file.parent_path()) == 1);
  CHECK(fs::status(file).permissions() == (fs::perms::owner_read | fs::perms::owner_write));
}

TEST_CASE("What is not committed leaves nothing", "[unit]") {
  const Scratch old("old");
  const fs::path file = old.file();
  {
    OutputFile out(file);
    std::ofstream(out.path()) << "half";
  }
  CHECK(text_of(file) == "old");
  CHECK(files_in(file.parent_path()) == 1);
}

TEST_CASE("A link keeps its place, and the file that it names is replaced", "[unit]") {
  const Scratch old("old");
  const fs::path file = old.file();
  const fs::path link = file.parent_path() / "latest.txt";
  fs::create_symlink(file, link);
  write_text(link, "new");
  CHECK(fs::is_symlink(link));
  CHECK(text_of(file) == "new");
}

TEST_CASE("The hash of a table is known without reading it, until something else is written there",
          "[unit]") {
  const Scratch old("old");
  const fs::path file = old.file();
  CsvWriter csv(file, {"x"});
  for (int row = 0; row < 100'000; ++row) {
    csv.append(row);
    csv.end_row();
  }
  CHECK(!known_contents(file));
  csv.close();
  REQUIRE(known_contents(file));
  CHECK(known_contents(file)->hash == fnv(kFnvStart, text_of(file)));
  CHECK(known_contents(file)->bytes == fs::file_size(file));
  OutputFile other(file);
  std::ofstream(other.path()) << "new";
  CHECK(!other.commit());
  CHECK(!known_contents(file));
  write_text(file, "newer");
  CHECK(known_contents(file)->hash == fnv(kFnvStart, "newer"));
}

TEST_CASE("Of several who write a file for the first time, the first one's text stays", "[unit]") {
  const Scratch old("old");
  const fs::path file = old.file();
  write_text(file, "later", Output::first);
  CHECK(text_of(file) == "old");
  fs::remove(file);
  OutputFile late(file, Output::first);
  write_text(file, "first", Output::first);
  std::ofstream(late.path()) << "late";
  CHECK(!late.commit());
  CHECK(text_of(file) == "first");
}

TEST_CASE("The files of a set get their names together, and those of one that ends early none",
          "[unit]") {
  const Scratch old("old");
  const fs::path file = old.file();
  const fs::path other = file.parent_path() / "other.txt";
  {
    const OutputSet set;
    write_text(file, "new");
    write_text(other, "new");
    CHECK(text_of(file) == "old");
    CHECK(text_of(lies_at(file)) == "new");
    CHECK(!fs::exists(other));
    CHECK(OutputSet::replaces());
  }
  CHECK(text_of(file) == "old");
  CHECK(files_in(file.parent_path()) == 1);
  const OutputSet set;
  write_text(file, "new");
  write_text(other, "new");
  OutputSet::give_names();
  CHECK(text_of(file) == "new");
  CHECK(text_of(other) == "new");
  CHECK(files_in(file.parent_path()) == 2);
}

TEST_CASE("A table whose writer is given up by an exception leaves the old file", "[unit]") {
  const Scratch old("old");
  const fs::path file = old.file();
  const auto fail = [&] {
    CsvWriter csv(file, {"x"});
    csv.append(1.0);
    csv.end_row();
    throw std::runtime_error("half way");
  };
  CHECK_THROWS(fail());
  CHECK(text_of(file) == "old");
  CHECK(files_in(file.parent_path()) == 1);
}

}  // namespace roofcast::base::unit_base_output_file
