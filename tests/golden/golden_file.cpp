// SPDX-License-Identifier: Apache-2.0
#include "tests/golden/golden_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "tests/catch.hpp"

namespace roofcast::golden {
namespace {

constexpr std::size_t kShown = 12;  // moved numbers in a failure message

std::filesystem::path path_of(const std::string& file) {
  const char* root = std::getenv("ROOFCAST_SOURCE_DIR");
  return root != nullptr ? std::filesystem::path(root) / "tests" / "golden" / file
                         : std::filesystem::absolute(__FILE__).parent_path() / file;
}

bool regenerate() { return std::getenv("ROOFCAST_REGENERATE") != nullptr; }

bool same(const std::string& before, const std::string& now) {
  const auto a = base::parse_number(before);
  const auto b = base::parse_number(now);
  if (!a || !b) {
    return before == now;
  }
  return *a == *b || std::abs(*a - *b) <= kTolerance * std::max(std::abs(*a), std::abs(*b));
}

std::string rounded(const std::string& cell) {
  const auto value = base::parse_number(cell);
  return value ? fmt::format("{:.7g}", *value) : cell;
}

std::string moved(const std::string& column, const std::string& before, const std::string& now) {
  std::string text = fmt::format("    {}: {} -> {}", column, before.empty() ? "nothing" : before,
                                 now.empty() ? "nothing" : rounded(now));
  const auto a = base::parse_number(before);
  const auto b = base::parse_number(now);
  if (a && b && *a != 0.0) {
    text += fmt::format("  ({:+.3g} %)", 100.0 * (*b / *a - 1.0));
  }
  return text + "\n";
}

bool is_result(const std::vector<std::string>& results, const std::string& column) {
  return std::find(results.begin(), results.end(), column) != results.end();
}

// "system=hgx_h100 model=llama-3.1-8b …", and its line in the file.
std::string describe(const base::CsvTable& table, std::size_t row,
                     const std::vector<std::string>& results) {
  std::string text = fmt::format("  line {}:", row + 2);
  for (std::size_t c = 0; c < table.columns().size(); ++c) {
    const std::string_view cell = table.cell(row, c);
    if (!is_result(results, table.columns()[c]) && !cell.empty()) {
      text += fmt::format(" {}={}", table.columns()[c], cell);
    }
  }
  return text + "\n";
}

}  // namespace

std::vector<std::string> golden_columns(const std::string& file) {
  return base::read_csv(path_of(file)).columns();
}

std::string number(double value) { return std::isnan(value) ? "" : fmt::format("{}", value); }

void check_golden(const std::string& file, const std::vector<std::string>& results,
                  const Evaluate& evaluate) {
  const std::filesystem::path path = path_of(file);
  const base::CsvTable table = base::read_csv(path);
  std::vector<std::size_t> columns;
  for (const std::string& result : results) {
    columns.push_back(table.column(result));
  }
  std::vector<std::vector<std::string>> now;
  std::string message;
  std::size_t numbers = 0;
  std::size_t rows = 0;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    now.push_back(evaluate(Row(table, row)));
    REQUIRE(now.back().size() == results.size());
    std::string changes;
    const std::size_t before_row = numbers;
    for (std::size_t i = 0; i < results.size(); ++i) {
      const std::string before(table.cell(row, columns[i]));
      if (!same(before, now.back()[i])) {
        changes += ++numbers <= kShown ? moved(results[i], before, now.back()[i]) : "";
      }
    }
    rows += numbers > before_row ? 1 : 0;
    message += changes.empty() ? "" : describe(table, row, results) + changes;
  }
  if (regenerate()) {
    base::CsvWriter csv(path, table.columns());
    for (std::size_t row = 0; row < table.rows(); ++row) {
      for (std::size_t c = 0; c < table.columns().size(); ++c) {
        const auto at = std::find(columns.begin(), columns.end(), c);
        at == columns.end()
            ? csv.append(table.cell(row, c))
            : csv.append(rounded(now[row][static_cast<std::size_t>(at - columns.begin())]));
      }
      csv.end_row();
    }
    csv.close();
    WARN(path.string() << " written");
  } else if (numbers > 0) {
    FAIL(numbers << " values in " << rows << " rows of tests/golden/" << file << " moved:\n"
                 << message << (numbers > kShown ? "  ...\n" : "")
                 << "When they were meant to: scripts/regenerate-golden, and read the diff");
  }
  SUCCEED();
}

}  // namespace roofcast::golden
