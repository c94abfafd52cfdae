// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <regex>

#include "tests/catch.hpp"
#include "tests/cli/program.hpp"
#include "tests/request_run.hpp"

namespace roofcast::cli::cli_report_command {
namespace {

using nlohmann::json;

// What the page's data script holds.
std::string data_text(const std::string& page) {
  const std::string open = "<script type=\"application/json\" id=\"data\">";
  const auto begin = page.find(open);
  REQUIRE(begin != std::string::npos);
  const auto end = page.find("</script>", begin);
  REQUIRE(end != std::string::npos);
  return page.substr(begin + open.size(), end - begin - open.size());
}

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

// But for the command that wrote it.
std::string without_made_by(std::string page) {
  const auto at = page.find("<script type=\"application/json\" id=\"made_by\">");
  REQUIRE(at != std::string::npos);
  return page.erase(at, page.find('\n', at) - at);
}

}  // namespace

TEST_CASE("A report made from the CSV is the one the sweep made, but for its title", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  for (const char* csv : {"o.csv", "o.csv.gz", "o.csv.zst"}) {
    roofcast.output({"sweep", example("llama70b_what_if"), "--csv", csv, "--report", "first.html",
                     "--quiet", "--force"});
    roofcast.output({"report", csv, "-o", "second.html", "--force"});
    const std::string first = roofcast.read("first.html");
    const std::string second = roofcast.read("second.html");
    json a = json::parse(data_text(first));
    json b = json::parse(data_text(second));
    CHECK(a["title"] == "first");
    CHECK(b["title"] == "second");
    a.erase("title");
    b.erase("title");
    CHECK((a == b));
    std::string renamed = without_made_by(first);
    replace_all(renamed, "\"title\":\"first\"", "\"title\":\"second\"");
    CHECK((renamed == without_made_by(second)));
  }
}

TEST_CASE("A report holds the sweep's rows and where the time of its best points goes", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  roofcast.output(
      {"sweep", example("llama70b_what_if"), "--csv", "o.csv", "--report", "o.html", "--quiet"});
  const json data = json::parse(data_text(roofcast.read("o.html")));
  const base::CsvTable table = base::read_csv(roofcast.path("o.csv"));
  CHECK(data["total_rows"] == table.rows());
  REQUIRE(data["rows"].size() == table.rows());
  REQUIRE(data["columns"].size() == table.columns().size());
  for (std::size_t c = 0; c < table.columns().size(); ++c) {
    CHECK(data["columns"][c]["name"] == table.columns()[c]);
  }
  CHECK(data["question"] ==
        "Which of H100, H200 and B200, at which parallelism and precision, "
        "serves Llama-3.1-70B best?");
  REQUIRE(!data["points"].empty());
  for (const json& point : data["points"]) {
    const auto row = point["row"].get<std::size_t>();
    REQUIRE(row < table.rows());
    CHECK(cell(table, row, "pareto_rank") == "1");
    for (const json& phase : point["phases"]) {
      double sum = 0.0;
      for (const json& op : phase["operators"]) {
        sum += op["time_s"].get<double>();
      }
      CHECK(sum == Approx(phase["time_s"].get<double>()));
    }
  }
}

TEST_CASE("A page of a training has the words of trainings", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  roofcast.write("t.yaml", fmt::format("base: {}\naxes: {{system.price.per_gpu_hour: [x1, x2]}}\n"
                                       "pareto: {{minimize: [cost_usd_per_mtok]}}\n",
                                       example("llama-8b_training")));
  roofcast.output({"sweep", "t.yaml", "--csv", "t.csv", "--report", "t.html", "--quiet"});
  const std::string page = roofcast.read("t.html");
  CHECK(contains(page, R"("label":"Cost")"));
  CHECK(!contains(page, R"("label":"Cost with prompts)"));
}

TEST_CASE("A report asks nothing of a network", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  roofcast.output(
      {"sweep", example("llama70b_what_if"), "--csv", "o.csv", "--report", "o.html", "--quiet"});
  roofcast.output({"simulate", example("llama-70b"), "--report", "s.html"});
  roofcast.output({"compare", example("roadmap_features"), "--report", "r.html"});
  roofcast.output({"sensitivity", example("llama-70b"), "--report", "v.html"});
  const std::string page = roofcast.read(GENERATE("o.html", "s.html", "r.html", "v.html"));
  const auto library = page.find("Licensed to the Apache Software Foundation");
  REQUIRE(library != std::string::npos);
  const auto library_end = page.find("</script>", library);
  const auto library_begin = page.rfind("<script", library);
  const std::string around = page.substr(0, library_begin) + page.substr(library_end);
  // Outside the chart library nothing loads: no src, no stylesheet, no import, no url() but data.
  for (const char* pattern : {R"(<(script|img|iframe|link)[^>]*\s(src|href)\s*=)", R"(@import)",
                              R"(url\(\s*['"]?(http|//))", R"(\bfetch\s*\()",
                              R"(XMLHttpRequest|WebSocket|EventSource|sendBeacon)"}) {
    INFO(pattern);
    CHECK(!std::regex_search(around, std::regex(pattern)));
  }
  // The library's own addresses are those of licences and XML names; the page around it has none.
  const std::regex address(R"(https?://[^\s"'`<>\\)]*)");
  for (auto it = std::sregex_iterator(around.begin(), around.end(), address);
       it != std::sregex_iterator(); ++it) {
    INFO(it->str());
    CHECK(it->str().starts_with("http://www.w3.org/"));
  }
}

TEST_CASE("Without the sweep beside its CSV a report has no operator views, and says so", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  roofcast.output({"sweep", example("llama70b_h200_hbm"), "--csv", "o.csv", "--quiet"});
  std::filesystem::remove(roofcast.path("o.sweep.yaml"));
  const Outcome outcome = roofcast.run({"report", "o.csv", "-o", "o.html"});
  CHECK(outcome.code == 0);
  CHECK(contains(outcome.out, "o.html"));
  CHECK(contains(outcome.err, "o.sweep.yaml"));
  const json data = json::parse(data_text(roofcast.read("o.html")));
  CHECK(data["points"].empty());
  CHECK(data["rows"].size() == 60);
}

TEST_CASE("A CSV that is not that of the sweep beside it is refused", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  roofcast.output({"sweep", example("llama70b_h200_hbm"), "--csv", "o.csv", "--quiet"});
  const auto lines = lines_of(roofcast.read("o.csv"));
  roofcast.write("o.csv", lines[0] + "\n" + lines[1] + "\n");
  const Outcome outcome = roofcast.run({"report", "o.csv", "-o", "o.html"});
  CHECK(outcome.code == 2);
  CHECK(contains(outcome.err, "o.sweep.yaml makes 60 points, o.csv has 1 rows"));
}

TEST_CASE("Text of a user's sweep cannot break out of the report's data", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const std::string question = "</script><script>alert(1)</script> & <b>\"quoted\"</b>";
  roofcast.write("odd.yaml", "question: '" + question + "'\nbase: " + example("llama-70b") +
                                 "\naxes:\n  traffic.concurrency: [1, 2]\n");
  roofcast.output({"sweep", "odd.yaml", "--csv", "o.csv", "--report", "o.html", "--quiet"});
  const std::string page = roofcast.read("o.html");
  CHECK(!contains(page, "<script>alert"));
  CHECK(json::parse(data_text(page))["question"] == question);
}

TEST_CASE("A simulation's report holds its distributions, its seconds and the files beside it",
          "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  roofcast.output({"simulate", example("llama-70b"), "--set", "traffic.requests=100", "--set",
                   "traffic.objectives={ttft: 2 s}", "--csv", "o.csv", "--timeline", "t.csv",
                   "--report", "o.html"});
  const json data = json::parse(data_text(roofcast.read("o.html")));
  REQUIRE(data["runs"].size() == 1);
  const json& run = data["runs"][0];
  CHECK(run["files"][0]["text"] == roofcast.read("o.csv"));
  CHECK(run["files"][1]["text"] == roofcast.read("t.csv"));
  CHECK(contains(data["scenario"].get<std::string>(), "requests: 100"));
  CHECK(contains(run["facts"].dump(), "goodput"));
  REQUIRE(run["sides"].size() == 1);
  const base::CsvTable requests = base::read_csv(roofcast.path("o.csv"));
  for (const char* quantity : {"ttft", "tpot"}) {
    std::vector<double> values;
    for (std::size_t row = 0; row < requests.rows(); ++row) {
      values.push_back(number(requests, row, std::string(quantity) + "_s"));
    }
    std::sort(values.begin(), values.end());
    CHECK(run["sides"][0][quantity] == json(values));
  }
  const base::CsvTable seconds = base::read_csv(roofcast.path("t.csv"));
  REQUIRE(run["sides"][0]["running"].size() == seconds.rows());
  for (std::size_t row = 0; row < seconds.rows(); ++row) {
    CHECK(run["sides"][0]["running"][row] == number(seconds, row, "running"));
    CHECK(run["sides"][0]["output"][row] == number(seconds, row, "output_tokens"));
  }
}

TEST_CASE("A report of measured requests has both sides, and says which run it lacks", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  write_run(roofcast.path("runs/RTX4090_tiny"));
  write_run(roofcast.path("runs/TPU9_tiny"));
  roofcast.output({"calibrate", "validate", "requests", "runs", "--report", "o.html"});
  const json data = json::parse(data_text(roofcast.read("o.html")));
  REQUIRE(data["runs"].size() == 1);
  const json& sides = data["runs"][0]["sides"];
  REQUIRE(sides.size() == 2);
  CHECK(sides[0]["name"] == "measured");
  CHECK(sides[0]["ttft"][1].get<double>() == Approx(0.2));
  CHECK(sides[0]["running"] == json({2.0, 0.0}));
  CHECK(sides[0]["cache"].empty());
  CHECK(sides[1]["name"] == "simulated");
  CHECK(sides[1]["ttft"].size() == 2);
  CHECK(data["notes"].size() == 1);
  CHECK(contains(data["notes"][0].get<std::string>(), "TPU9 is not in the catalog"));
  const Outcome gemm =
      roofcast.run({"calibrate", "validate", "gemm", "gemm.csv", "--report", "gemm.html"});
  CHECK(gemm.code == 2);
  CHECK(contains(gemm.err, "--report is of requests"));
}

TEST_CASE("A roadmap's report holds what its CSV does, and is small", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  roofcast.output({"compare", example("roadmap_features"), "--csv", "r.csv", "--report", "r.html"});
  const std::string page = roofcast.read("r.html");
  CHECK(page.size() < 1'500'000);
  const json data = json::parse(data_text(page));
  const base::CsvTable table = base::read_csv(roofcast.path("r.csv"));
  REQUIRE(data["workloads"].size() == 6);
  REQUIRE(data["options"].size() == 2);
  REQUIRE(data["features"].size() == 5);
  const std::size_t block = data["workloads"].size() + 1;
  for (std::size_t o = 0; o < data["options"].size(); ++o) {
    const json& option = data["options"][o];
    for (std::size_t w = 0; w < block; ++w) {
      const std::size_t row = (o + 1) * block + w;
      const json& own = w + 1 == block ? option["portfolio"] : option["workloads"][w];
      CHECK(cell(table, row, "name") == option["name"].get<std::string>());
      for (const char* bound : {"low90", "high90"}) {
        CHECK(own[bound].get<double>() ==
              Approx(number(table, row, std::string(bound) + "_gain")).epsilon(1e-9));
      }
      CHECK(own["gain"].get<double>() == Approx(number(table, row, "gain")).epsilon(1e-9));
      if (w + 1 < block) {
        CHECK(own["limited_by"] == cell(table, row, "limited_by"));
      }
    }
  }
  for (std::size_t f = 0; f < data["features"].size(); ++f) {
    const std::size_t row = (data["options"].size() + 1) * block + f;
    CHECK(data["features"][f]["share"].get<double>() ==
          Approx(number(table, row, "share_of_gain")).epsilon(1e-9));
    const std::string place = cell(table, row, "place_in_order");
    if (!place.empty()) {  // empty where it gains nothing
      CHECK(data["order"][std::stoul(place) - 1] == f);
    }
  }
  for (const json& gains : data["subsets"]) {
    CHECK(gains.size() == 32);
  }
}

TEST_CASE("A sensitivity's report holds what its JSON does, and says why there is none", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  json printed =
      json::parse(roofcast.output({"sensitivity", example("llama-70b"), "--metric", "tpot_mean_s",
                                   "--vary", "system.chip.hbm.bandwidth=x0.8..x2", "--rows", "32",
                                   "--report", "v.html", "--format", "json"}));
  const std::string page = roofcast.read("v.html");
  CHECK(page.size() < 1'500'000);
  const json data = json::parse(data_text(page));
  for (const char* of_every_answer : {"roofcast", "units", "made_by"}) {
    printed.erase(of_every_answer);
  }
  CHECK((data["answer"] == printed));
  CHECK(data["metrics"].size() == 1);
  CHECK(data["metrics"][0]["better"] == -1);
  CHECK(data["notes"].empty());
  roofcast.output({"sensitivity", example("llama-70b"), "--set", "deployment.tensor_parallel=1",
                   "--set", "precision=bf16", "--report", "n.html"});
  const json none = json::parse(data_text(roofcast.read("n.html")));
  CHECK(none["metrics"].empty());
  CHECK(contains(none["notes"][0].get<std::string>(), "Does not run: "));
}

TEST_CASE("Names of a roadmap cannot break out of its report, nor those of two CSVs", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const std::string name = "</script><script>alert(1)</script> & <b>\"quoted\"</b>";
  roofcast.write("odd.yaml", "workloads:\n  '" + name + "': {base: " + example("llama-70b") +
                                 "}\noptions:\n  '" + name +
                                 "': {system.chip.hbm.bandwidth: x1.2}\n");
  roofcast.output({"compare", "odd.yaml", "--report", "o.html"});
  const std::string page = roofcast.read("o.html");
  CHECK(!contains(page, "<script>alert"));
  CHECK(json::parse(data_text(page))["options"][0]["name"] == name);
  roofcast.write("a.csv", "size,us\n" + name.substr(0, 33) + ",10\n");
  roofcast.output(
      {"compare", "a.csv", "a.csv", "--minimize", "us", "--report", "o.html", "--force"});
  CHECK(!contains(roofcast.read("o.html"), "<script>alert"));
}

}  // namespace roofcast::cli::cli_report_command
