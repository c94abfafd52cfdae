// SPDX-License-Identifier: Apache-2.0
//
// Every number in [brackets] of the brief of every example is a row of the CSV beside it, and that row is of what the
// brief names.
#include <algorithm>
#include <filesystem>
#include <regex>
#include <string>
#include <vector>

#include "base/csv/csv.hpp"
#include "sim/result/metrics.hpp"
#include "tests/catch.hpp"
#include "tests/cli/program.hpp"

namespace roofcast::cli::cli_pages_brief_citations {
namespace {

std::vector<std::size_t> citations(const std::string& text) {
  static const std::regex cited("\\[([0-9]+)\\]");
  std::vector<std::size_t> rows;
  for (auto it = std::sregex_iterator(text.begin(), text.end(), cited);
       it != std::sregex_iterator(); ++it) {
    rows.push_back(std::stoul((*it)[1]));
  }
  return rows;
}

std::vector<std::string> split(const std::string& text, const std::string& by) {
  std::vector<std::string> parts;
  std::size_t from = 0;
  for (std::size_t to = 0; to != std::string::npos; from = to + by.size()) {
    to = text.find(by, from);
    parts.push_back(text.substr(from, to == std::string::npos ? to : to - from));
  }
  return parts;
}

// What a line with citations is of: the first cell of a table's row, or the subject of a sentence. Empty where the
// citation is of something else.
std::string subject_of(const std::string& line) {
  std::string subject;
  if (line.starts_with("| ")) {
    subject = line.substr(2, line.find(" |") - 2);
  }
  for (const char* verb : {" has the ", " comes next ", " would come first "}) {
    if (const auto at = line.find(verb); at != std::string::npos && !line.starts_with("|")) {
      subject = line.substr(line.starts_with("- ") ? 2 : 0, at - (line.starts_with("- ") ? 2 : 0));
    }
  }
  std::erase(subject, '\\');  // of Markdown
  return subject;
}

bool has_cell(const base::CsvTable& table, std::size_t row, const std::string& text) {
  for (std::size_t column = 0; column < table.columns().size(); ++column) {
    if (table.cell(row, column) == text) {
      return true;
    }
  }
  return false;
}

// Whether a row is of a group ("gb200_nvl72, owned"), of one name, or of a metric, which is called by its label.
bool is_of(const base::CsvTable& table, std::size_t row, const std::string& subject) {
  const auto metrics = table.find_column("metric");
  const sim::Metric* metric =
      metrics ? sim::find_metric(std::string(table.cell(row, *metrics))) : nullptr;
  const std::vector<std::string> parts = split(subject, ", ");
  return has_cell(table, row, subject) || (metric != nullptr && metric->label == subject) ||
         std::all_of(parts.begin(), parts.end(),
                     [&](const std::string& part) { return has_cell(table, row, part); });
}

}  // namespace

TEST_CASE("Every citation of the brief of every example is the row that it is of", "[cli][long]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  std::size_t followed = 0;
  std::size_t named = 0;
  for (const std::string& name : example_names()) {
    if (name == "llama70b_million") {  // as the others, and a million rows
      continue;
    }
    const std::string file = example(name);
    if (roofcast.run({"brief", file, "--no-replay", "--force", "-o", "brief.md"}).code != 0) {
      continue;  // a training run has no brief
    }
    const base::CsvTable table = base::read_csv(roofcast.path("brief.csv"));
    for (const std::string& line : lines_of(roofcast.read("brief.md"))) {
      INFO(name << ": " << line);
      const auto rows = citations(line);
      for (const std::size_t row : rows) {
        REQUIRE(row >= 1);
        REQUIRE(row <= table.rows());
        ++followed;
      }
      const std::string subject = subject_of(line);
      if (!rows.empty() && !subject.empty()) {
        CHECK(is_of(table, rows.front() - 1, subject));
        ++named;
      }
    }
  }
  CHECK(followed > 100);
  CHECK(named > 100);
}

TEST_CASE("A brief that is printed cites no rows, and writes no file", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const std::string file = example("token_prices");
  const std::string text = roofcast.output({"brief", file, "--no-replay"});
  const std::string markdown = roofcast.output({"brief", file, "--no-replay", "-o", "-"});
  for (const char* written : {"-", "-.csv", "-.provenance.json"}) {
    CHECK(!std::filesystem::exists(roofcast.path(written)));
  }
  CHECK(citations(text).empty());
  CHECK(citations(markdown).empty());
  CHECK(!contains(text, "\\"));
  CHECK(markdown.starts_with("# "));
  CHECK(contains(markdown, "\n## Confidence\n"));
  CHECK(contains(text, "\nConfidence:\n"));
}

}  // namespace roofcast::cli::cli_pages_brief_citations
