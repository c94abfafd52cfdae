// SPDX-License-Identifier: Apache-2.0
//
// docs/kernels.md says how far its kernels are from published figures. documentation_test.cpp compares what the
// commands print; this adds that the differences follow from it.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>

#include "tests/catch.hpp"
#include "tests/cli/program.hpp"

namespace roofcast::cli::cli_kernels_kernels_page {
namespace {

// "1.157 PFLOP/s"
double value(const std::string& text) {
  const double number = std::stod(text);
  const std::string unit = text.substr(text.find(' ') + 1);
  return number * (unit.starts_with('P')   ? 1e15
                   : unit.starts_with('T') ? 1e12
                   : unit.starts_with('G') ? 1e9
                                           : 1.0);
}

struct Compared {
  std::string published;
  std::string ours;
  double difference = 0.0;  // %
  std::string before;       // the page between the last heading and this line
};

std::vector<Compared> compared(const std::filesystem::path& page) {
  const std::regex form(R"(Published: (.+)\. Ours: (.+), ([-+][0-9.]+) %\.)");
  std::vector<Compared> all;
  std::string section;
  std::ifstream in(page);
  for (std::string line; std::getline(in, line);) {
    std::smatch match;
    if (std::regex_match(line, match, form)) {
      all.push_back({match[1], match[2], std::stod(match[3]), section});
    }
    section = line.starts_with("### ") ? "" : section + line + "\n";
  }
  return all;
}

}  // namespace

TEST_CASE("The page of kernels has at least ten, and each difference is ours over the published",
          "[cli]") {
  const char* source = std::getenv("ROOFCAST_SOURCE_DIR");
  if (source == nullptr) {
    WARN("ROOFCAST_SOURCE_DIR is not set; the page is not looked at");
    return;
  }
  const std::filesystem::path page = std::filesystem::path(source) / "docs/kernels.md";
  const std::vector<Compared> kernels = compared(page);
  CHECK(kernels.size() >= 10);
  std::ifstream in(page);
  const std::string text((std::istreambuf_iterator<char>(in)), {});
  for (const Compared& k : kernels) {
    INFO(k.published << " and " << k.ours);
    CHECK(std::abs(100.0 * (value(k.ours) / value(k.published) - 1.0) - k.difference) < 0.16);
    CHECK((k.ours.ends_with("times") || contains(k.before, k.ours)));
    // The table has the same.
    CHECK(contains(text, "| " + k.published + " | " + k.ours + " |"));
  }
}

}  // namespace roofcast::cli::cli_kernels_kernels_page
