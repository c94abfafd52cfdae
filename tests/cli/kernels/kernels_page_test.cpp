// SPDX-License-Identifier: Apache-2.0
//
// docs/kernels.md says how far its kernels are from published figures. documentation_test.cpp compares what the
// commands print; this adds that the differences follow from it. ROOFCAST_REGENERATE=1 writes them anew.
#include <fmt/format.h>

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

// What the command above the line prints now in place of `k.ours`: of its figures in that unit the nearest.
std::string printed_now(const Compared& k) {
  const std::string unit = k.ours.substr(k.ours.find(' '));
  const std::regex figure("[0-9.]+" + unit + "(?![a-zA-Z])");
  const auto distance = [&](const std::string& text) {
    return std::abs(std::log(value(text) / value(k.ours)));
  };
  std::string nearest;
  for (std::sregex_iterator at(k.before.begin(), k.before.end(), figure), end; at != end; ++at) {
    const std::string text = at->str();
    nearest = nearest.empty() || distance(text) < distance(nearest) ? text : nearest;
  }
  return nearest.empty() ? k.ours : nearest;
}

void replace(std::string& page, const std::string& old, const std::string& now) {
  const std::size_t at = page.find(old);
  REQUIRE(at != std::string::npos);
  page.replace(at, old.size(), now);
}

void regenerate(const std::filesystem::path& file, std::string page) {
  for (const Compared& k : compared(file)) {
    const std::string now = contains(k.before, k.ours) ? k.ours : printed_now(k);
    const auto said = [&](const std::string& figure) {
      return fmt::format("{:+.1f} %", 100.0 * (value(figure) / value(k.published) - 1.0));
    };
    const std::string old = fmt::format("{:+.1f} %", k.difference);
    replace(page, fmt::format("Published: {}. Ours: {}, {}.", k.published, k.ours, old),
            fmt::format("Published: {}. Ours: {}, {}.", k.published, now, said(now)));
    replace(page, fmt::format("| {} | {} | {} |", k.published, k.ours, old),
            fmt::format("| {} | {} | {} |", k.published, now, said(now)));
  }
  std::ofstream(file) << page;
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
  if (std::getenv("ROOFCAST_REGENERATE") != nullptr) {
    regenerate(page, text);
    return;
  }
  for (const Compared& k : kernels) {
    INFO(k.published << " and " << k.ours);
    CHECK(std::abs(100.0 * (value(k.ours) / value(k.published) - 1.0) - k.difference) < 0.16);
    CHECK((k.ours.ends_with("times") || contains(k.before, k.ours)));
    // The table has the same.
    CHECK(contains(text, "| " + k.published + " | " + k.ours + " |"));
  }
}

}  // namespace roofcast::cli::cli_kernels_kernels_page
