// SPDX-License-Identifier: Apache-2.0
#include "base/document/catalog.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/document/problems.hpp"
#include "tests/catch.hpp"

namespace roofcast::unit_base_catalog {

using namespace roofcast::base;
using Catch::Matchers::ContainsSubstring;

namespace fs = std::filesystem;

namespace {

constexpr std::array kEntries = {
    CatalogEntry{"zeta", "fruit/zeta.yaml", "name: Zeta\n"},
    CatalogEntry{"apple", "fruit/apple.yaml", "name: Apple\n"},
    CatalogEntry{"pear", "fruit/pear.yaml", "name: Pear\n"},
};
const Catalog kFruit{"fruit", "fruit", kEntries};

// A directory of its own, removed at the end.
class Directory {
 public:
  Directory() : path_((fs::temp_directory_path() / "roofcast_XXXXXX").string()) {
    REQUIRE(mkdtemp(path_.data()) != nullptr);
  }
  ~Directory() { fs::remove_all(path_); }
  Directory(const Directory&) = delete;
  Directory& operator=(const Directory&) = delete;

  fs::path write(const fs::path& name, const std::string& text) const {
    const fs::path file = fs::path(path_) / name;
    fs::create_directories(file.parent_path());
    std::ofstream(file) << text;
    return file;
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

std::string complaint(const std::string& name) {
  try {
    const Node document = parse_document("test.yaml", "fruit: " + name + "\n");
    load_reference(kFruit, *document.find("fruit"), "fruit");
    return "";
  } catch (const InputError& error) {
    return error.what();
  }
}

}  // namespace

TEST_CASE("the ids of a catalog are sorted", "[unit]") {
  const auto ids = catalog_ids(kFruit);
  CHECK(std::is_sorted(ids.begin(), ids.end()));
  for (const CatalogEntry& entry : kEntries) {
    CHECK(std::count(ids.begin(), ids.end(), entry.id) == 1);
  }
}

TEST_CASE("an entry knows its file, and the id it was asked for by", "[unit]") {
  const Node node = load_entry(kFruit, "pear");
  CHECK(node.find("name")->text == "Pear");
  CHECK(node.reference == "pear");
  CHECK(node.place.source->name == "fruit/pear.yaml");
}

TEST_CASE("an id that is not there is told where it is named, with the nearest one", "[unit]") {
  CHECK(complaint("appel") ==
        "test.yaml:1:8: error: fruit: no fruit is called \"appel\"; did you mean \"apple\"? (see "
        "`roofcast list fruit`)\n  fruit: appel\n         ^\n");
  CHECK_THAT(complaint("cucumber"),
             ContainsSubstring("no fruit is called \"cucumber\" (see `roofcast list fruit`)"));
}

TEST_CASE("a text with a slash or a document's ending is a path", "[unit]") {
  for (const char* path : {"./apple", "basket/apple", "apple.yaml", "apple.yml", "apple.json"}) {
    INFO(path);
    CHECK_THAT(complaint(path), ContainsSubstring(std::string("there is no file ") + path));
  }
}

TEST_CASE("a relative path starts at the file that names it", "[unit]") {
  const Directory directory;
  directory.write("deep/basket/fig.yaml", "name: Fig\n");
  const auto user = directory.write("deep/user.yaml", "fruit: basket/fig.yaml\n");
  const Node document = load_document(user);
  const Node fig = load_reference(kFruit, *document.find("fruit"), "fruit");
  CHECK(fig.find("name")->text == "Fig");
  CHECK(fig.reference == "basket/fig.yaml");
  const Node absolute =
      scalar_node((fs::path(directory.path()) / "deep/basket/fig.yaml").string(), document.place);
  CHECK(load_reference(kFruit, absolute, "fruit").find("name")->text == "Fig");
}

TEST_CASE("a user's directory shadows and extends the embedded catalog", "[unit]") {
  // The directory is asked for once a process, hence a process of its own.
  const char* binary = std::getenv("ROOFCAST_BINARY");
  if (binary == nullptr || !fs::exists(binary)) {
    WARN("ROOFCAST_BINARY is not set; this test needs the program");
    return;
  }
  const Directory directory;
  directory.write("chips/h100_sxm.yaml", "name: [not, a, name]\n");
  directory.write("chips/of_my_own.yaml", "name: Mine\n");
  const auto output = [&](const std::string& arguments) {
    const std::string command =
        "ROOFCAST_CATALOG='" + directory.path() + "' '" + binary + "' " + arguments + " 2>&1";
    std::string text;
    FILE* pipe = popen(command.c_str(), "r");
    REQUIRE(pipe != nullptr);
    std::array<char, 4096> block{};
    while (const std::size_t n = std::fread(block.data(), 1, block.size(), pipe)) {
      text.append(block.data(), n);
    }
    pclose(pipe);
    return text;
  };
  const std::string show = output("show chip h100_sxm");
  CHECK_THAT(show, ContainsSubstring("not"));
  CHECK(show.find("NVIDIA H100") == std::string::npos);
  CHECK_THAT(output("show chip of_my_own"), ContainsSubstring("Mine"));
  CHECK_THAT(output("show chip h200_sxm"), ContainsSubstring("H200"));
}

}  // namespace roofcast::unit_base_catalog
