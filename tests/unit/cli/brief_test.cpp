// SPDX-License-Identifier: Apache-2.0
#include "cli/pages/brief.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <regex>

#include "base/csv/csv.hpp"
#include "cli/compare/compare_roadmap.hpp"
#include "cli/text/roadmap_text.hpp"
#include "tests/catch.hpp"

namespace roofcast::unit_cli_brief {

using Catch::Matchers::ContainsSubstring;

namespace {

std::string roadmap_text(double weight) {
  return fmt::format(R"(
question: Which | first?
workloads:
  chat:
    weight: {}
    base: {{system: hgx_h200, model: llama-3.1-8b, precision: fp8, deployment: {{tensor_parallel: 1}},
      serving: {{stack: vllm}}, traffic: {{input_tokens: 1024, output_tokens: 256, concurrency: 16}}}}
  prompts:
    metric: ttft_mean_s
    base: {{system: hgx_h200, model: llama-3.1-8b, precision: fp8, deployment: {{tensor_parallel: 1}},
      serving: {{stack: vllm}}, traffic: {{input_tokens: 8192, output_tokens: 16, concurrency: 1}}}}
options:
  bandwidth: {{system.chip.hbm.bandwidth: x1.3}}
  tensor: {{'system.chip.tensor.*': x1.35}}
features:
  more bandwidth: {{system.chip.hbm.bandwidth: x1.3}}
  more tensor: {{'system.chip.tensor.*': x1.35}}
)",
                     weight);
}

struct Made {
  explicit Made(double weight)
      : roadmap(sim::read_roadmap(base::parse_document("roadmap.yaml", roadmap_text(weight)))),
        result(sim::run_roadmap(roadmap, {.replay = false})),
        brief(cli::brief_of(roadmap, result)) {}
  sim::Roadmap roadmap;
  sim::RoadmapResult result;
  cli::Brief brief;
};

}  // namespace

TEST_CASE("Every gain in a brief's tables stands in the row of the CSV that it names", "[unit]") {
  const Made made(2.0);
  const auto file = std::filesystem::temp_directory_path() / "roofcast_brief_test.csv";
  cli::write_roadmap_csv(made.roadmap, made.result, file.string());
  const base::CsvTable csv = base::read_csv(file);
  std::filesystem::remove(file);
  std::size_t checked = 0;
  for (const cli::Brief::Evidence& evidence : made.brief.evidence) {
    const auto& rows = evidence.table.rows();
    for (std::size_t i = 1; i < rows.size(); ++i) {
      const std::string& cited = rows[i].back();
      const std::size_t row = std::stoul(cited.substr(1)) - 1;
      INFO(evidence.heading << " " << cited);
      REQUIRE(row < csv.rows());
      const double gain = base::parse_number(csv.cell(row, csv.column("gain"))).value();
      const std::string text = cli::gain_text(gain);
      bool stands = false;
      bool named = false;
      for (const std::string& cell : rows[i]) {
        stands = stands || cell == text || cell.starts_with(text + " (");
        named = named || cell == csv.cell(row, csv.column("name"));
      }
      CHECK(stands);
      CHECK(named);
      ++checked;
    }
  }
  CHECK(checked == 2 + 4 + 2);
}

TEST_CASE("At the weight that a brief names another comes first, and not before", "[unit]") {
  const Made made(1.0);
  const std::regex pattern(
      "(\\w+) would come before (\\w+) if (chat|prompts) weighed (less than )?([0-9.]+) ");
  std::size_t found = 0;
  for (const std::string& line : made.brief.changes) {
    std::smatch match;
    if (!std::regex_search(line, match, pattern) || match[3] != "chat") {
      continue;
    }
    const double at = std::stod(match[5]);
    const bool up = !match[4].matched;
    CHECK(Made(at * (up ? 1.1 : 0.9)).result.options.front().name == match[1]);
    CHECK(Made(at * (up ? 0.9 : 1.1)).result.options.front().name == match[2]);
    ++found;
  }
  CHECK(found >= 1);
}

TEST_CASE("A best that lies on the edge of a list of numbers is told, and one inside is not",
          "[unit]") {
  const auto notes = [](const char* clients) {
    const sim::Roadmap roadmap =
        sim::read_roadmap(base::parse_document("roadmap.yaml", fmt::format(R"(
workloads:
  chat:
    base: {{system: hgx_h200, model: llama-3.1-8b, precision: fp8, deployment: {{tensor_parallel: 1}},
      serving: {{stack: vllm}}, traffic: {{input_tokens: 1024, output_tokens: 256}}}}
    axes: {{traffic.concurrency: {}}}
    where: ['tpot_mean_s <= 0.02']
options:
  bandwidth: {{system.chip.hbm.bandwidth: x1.3}}
features:
  more bandwidth: {{system.chip.hbm.bandwidth: x1.1}}
)",
                                                                           clients)));
    return cli::edge_notes(roadmap, sim::run_roadmap(roadmap, {.replay = false}));
  };
  const auto told = notes("[4, 8]");
  REQUIRE(told.size() == 1);
  CHECK_THAT(told.front(), ContainsSubstring("chat is best at concurrency 8, the most of its list, "
                                             "with no option, bandwidth, features"));
  CHECK(notes("[8]").empty());
  CHECK(notes("[4, 64, 128, 16384]").empty());
}

TEST_CASE("A brief's marks are not taken for those of the page", "[unit]") {
  const Made made(2.0);
  CHECK_THAT(cli::markdown(made.brief), ContainsSubstring("Which \\| first?"));
  cli::Brief brief;
  brief.question = "a < b & c";
  CHECK_THAT(cli::html(brief), ContainsSubstring("<h1>a &lt; b &amp; c</h1>"));
}

}  // namespace roofcast::unit_cli_brief
