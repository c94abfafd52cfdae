// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <filesystem>
#include <regex>

#include "base/csv/csv.hpp"
#include "cli/pages/brief.hpp"
#include "cli/pages/front_chart.hpp"
#include "cli/tables/result_csv.hpp"
#include "cli/tables/text_table.hpp"
#include "sim/decide/overridden_scenario.hpp"
#include "sim/decide/sweep_run.hpp"
#include "tests/catch.hpp"

namespace roofcast::unit_cli_sweep_brief {

using Catch::Matchers::ContainsSubstring;

namespace {

// H100 asks 2.69 USD/h, H200 3.59.
const char* const kSystems = "system: [hgx_h100, hgx_h200]";
// Two clients come sooner to their first token than 256, whose tokens cost less.
const char* const kPlans =
    "plan: {many: {traffic.concurrency: 256}, few: {traffic.concurrency: 2}}";

std::string sweep_text(const std::string& where, const char* axis = kSystems) {
  return fmt::format(R"(
base: {{system: hgx_h100, model: llama-3.1-8b, precision: fp8, deployment: {{tensor_parallel: 1}},
  serving: {{stack: vllm}}, traffic: {{input_tokens: 1024, output_tokens: 256, concurrency: 16}}}}
axes:
  {}
  traffic.input_tokens: [512, 1024]
where: [fits, '{}']
pareto: {{minimize: [cost_usd_per_mtok, ttft_p95_s]}}
)",
                     axis, where);
}

struct Made {
  explicit Made(const std::string& text)
      : points(sim::read_sweep(base::parse_document("sweep.yaml", text))),
        result(sim::run_sweep(points, 1)),
        brief(cli::brief_of(points, result, *sim::find_metric("cost_usd_per_mtok"))) {}
  std::string first() const { return brief.evidence.front().table.rows()[1].front(); }
  sim::SweepPoints points;
  sim::ResultTable result;
  cli::Brief brief;
};

}  // namespace

TEST_CASE("A sweep's brief tells the least of each group, as it stands in the row that it names",
          "[unit]") {
  const Made made(sweep_text("ttft_p95_s <= 10"));
  const auto file = std::filesystem::temp_directory_path() / "roofcast_sweep_brief_test.csv";
  base::CsvWriter writer(file, sim::result_columns(made.points));
  cli::write_results(made.result, 1, writer);
  const base::CsvTable csv = base::read_csv(file);
  std::filesystem::remove(file);
  const std::size_t cost = csv.column("cost_usd_per_mtok");
  const auto& rows = made.brief.evidence.front().table.rows();
  REQUIRE(rows.size() == 3);
  for (std::size_t i = 1; i < rows.size(); ++i) {
    const std::size_t row = std::stoul(rows[i].back().substr(1)) - 1;
    CHECK(csv.cell(row, csv.column("system")) == rows[i].front());
    const double value = base::parse_number(csv.cell(row, cost)).value();
    CHECK(cli::display(value, "USD/Mtok output") == rows[i][1]);
    for (std::size_t other = 0; other < csv.rows(); ++other) {
      if (csv.cell(other, csv.column("system")) == rows[i].front()) {
        CHECK(base::parse_number(csv.cell(other, cost)).value() >= value);
      }
    }
  }
}

TEST_CASE("Two whose ratio may be 1 are said to be the same before one of them is named",
          "[unit]") {
  const Made made(sweep_text(
      "ttft_p95_s <= 10", "plan: {a: {traffic.concurrency: 200}, b: {traffic.concurrency: 200}}"));
  CHECK_THAT(made.brief.answer[0],
             ContainsSubstring("have the same Cost with prompts within the error"));
  CHECK_THAT(made.brief.answer[2], ContainsSubstring("their ratio is x1"));
  const Made apart(sweep_text("ttft_p95_s <= 10", kPlans));
  CHECK_THAT(apart.brief.answer[0], ContainsSubstring(" has the lowest Cost with prompts"));
  CHECK_THAT(apart.brief.answer[1], ContainsSubstring("the first is x"));
}

TEST_CASE(
    "In a brief's chart no number lies on a circle, and a short logarithmic axis has three ticks",
    "[unit]") {
  const sim::ResultTable rows = cli::read_results(base::parse_csv(
      "point,fits,meets,cost_usd_per_mtok,ttft_p95_s\n0,true,true,1,0.3\n1,true,true,1.02,0.31\n"
      "2,true,true,1.04,0.32\n3,true,true,3,0.012\n",
      "rows"));
  const std::string svg =
      cli::front_svg(rows, *sim::find_metric("ttft_p95_s"), *sim::find_metric("cost_usd_per_mtok"),
                     {{1, "a"}, {2, "b"}, {3, "c"}, {4, "d"}});
  const auto all = [&](const char* pattern) {
    const std::regex of(pattern);
    return std::vector<std::smatch>(std::sregex_iterator(svg.begin(), svg.end(), of),
                                    std::sregex_iterator());
  };
  const auto circles = all("<circle cx=\"([0-9.]+)\" cy=\"([0-9.]+)\"");
  REQUIRE(circles.size() == 4);
  std::size_t numbers = 0;
  for (const std::smatch& text :
       all("<text x=\"([0-9.]+)\" y=\"([0-9.]+)\" text-anchor=\"(start|end)\">[1-4]</text>")) {
    const double to = text[3] == "start" ? 11.0 : -11.0;
    for (const std::smatch& circle : circles) {
      const double across = std::stod(circle[1]) - (std::stod(text[1]) + 0.5 * to);
      const double up = std::stod(circle[2]) - (std::stod(text[2]) - 7.0);
      CHECK((std::abs(across) >= 5.5 || std::abs(up) >= 7.0));
    }
    ++numbers;
  }
  CHECK(numbers >= 2);
  CHECK(all("text-anchor=\"middle\"").size() >= 3);
}

TEST_CASE("At the price that a brief names the second costs what the first does", "[unit]") {
  const Made made(sweep_text("ttft_p95_s <= 10"));
  const auto& rows = made.brief.evidence.front().table.rows();
  std::smatch match;
  const std::regex pattern("per_gpu_hour were x([0-9.]+): ([0-9.]+) USD/h in place of");
  REQUIRE(std::regex_search(made.brief.changes.front(), match, pattern));
  const auto point = [&](std::size_t i) { return std::stoul(rows[i].back().substr(1)) - 1; };
  const sim::OverriddenScenario second(made.points.document(point(2)), "--set");
  const double then =
      second.estimate({fmt::format("system.price.per_gpu_hour={} USD/h", match[2].str())})
          .estimate.usd_per_mtok;
  CHECK(then == Approx(made.result.column("cost_usd_per_mtok").number(point(1))).epsilon(1e-3));
}

TEST_CASE("Where two groups pay one price, no price makes them equal, and a brief names none",
          "[unit]") {
  const Made made(sweep_text("ttft_p95_s <= 10", kPlans));
  for (const std::string& line : made.brief.changes) {
    INFO(line);
    CHECK(line.find("per_gpu_hour") == std::string::npos);
  }
}

TEST_CASE("At the bound that a brief names another group comes first, and not before", "[unit]") {
  const Made loose(sweep_text("ttft_p95_s <= 10", kPlans));
  CHECK(loose.first() == "many");
  std::size_t found = 0;
  for (const std::string& line : loose.brief.changes) {
    std::smatch match;
    const std::regex pattern("(\\w+) would come first if .* had to be below ([0-9.]+) ms");
    if (std::regex_search(line, match, pattern)) {
      const double at = std::stod(match[2]) / 1e3;
      CHECK(Made(sweep_text(fmt::format("ttft_p95_s <= {}", 0.999 * at), kPlans)).first() ==
            match[1]);
      CHECK(Made(sweep_text(fmt::format("ttft_p95_s <= {}", 1.001 * at), kPlans)).first() ==
            loose.first());
      ++found;
    }
  }
  CHECK(found == 1);
}

TEST_CASE(
    "Another group that a brief puts first for a bound is first down to the bound that it names",
    "[unit]") {
  const Made loose(sweep_text("ttft_p95_s <= 10", kPlans));
  std::size_t found = 0;
  for (const std::string& line : loose.brief.changes) {
    std::smatch match;
    const std::regex pattern(
        "(\\w+) would come first if .* had to be below ([0-9.]+) ms, and could be ([0-9.]+) ms");
    if (std::regex_search(line, match, pattern)) {
      const double to = std::stod(match[3]) / 1e3;
      CHECK(std::stod(match[2]) > 1.1 * std::stod(match[3]));
      CHECK(Made(sweep_text(fmt::format("ttft_p95_s <= {}", 1.001 * to), kPlans)).first() ==
            match[1]);
      CHECK(Made(sweep_text(fmt::format("ttft_p95_s <= {}", 0.99 * to), kPlans))
                .brief.evidence.empty());
      ++found;
    }
  }
  CHECK(found == 1);
}

TEST_CASE("An objective by which another ties with the first changes no answer", "[unit]") {
  // The same GPUs, rented and owned: prices do not change TTFT.
  const Made made(sweep_text("ttft_p95_s <= 10",
                             "pay: {rented: {}, dear: {system.price.per_gpu_hour: 9 USD/h}}"));
  CHECK(made.first() == "rented");
  for (const std::string& line : made.brief.changes) {
    INFO(line);
    CHECK(line.find("TTFT p95 dear comes first") == std::string::npos);
  }
}

TEST_CASE("A brief of a sweep of which no point counts says why", "[unit]") {
  const Made made(sweep_text("ttft_p95_s <= 1e-9"));
  REQUIRE(made.brief.answer.size() == 1);
  CHECK_THAT(made.brief.answer.front(),
             ContainsSubstring("None of 4 points does; the nearest is "));
  CHECK(made.brief.evidence.empty());
}

}  // namespace roofcast::unit_cli_sweep_brief
