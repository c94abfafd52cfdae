// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/catch.hpp"
#include "tests/cli/printed.hpp"
#include "tests/cli/program.hpp"

namespace roofcast::cli::cli_terminal {
namespace {

constexpr const char* kSweep =
    "axes:\n"
    "  system: [hgx_h100, hgx_h200]\n"
    "  traffic.concurrency: [4, 64]\n"
    "where: ['ttft_p95 <= 2 s']\n"
    "pareto: {minimize: [cost_usd_per_mtok, tpot_mean_s]}\n";

void write_sweep(const Program& roofcast) {
  roofcast.write("sweep.yaml", "base: " + example("llama-70b") + "\n" + kSweep);
}

std::string expected_file(std::size_t width, const char* color) {
  return (std::filesystem::path(example("any")).parent_path().parent_path() / "tests" / "golden" /
          "terminal" / fmt::format("{}_{}.txt", width, color))
      .string();
}

std::string without_color(const std::string& text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\x1b') {
      i = text.find('m', i);
    } else {
      plain += text[i];
    }
  }
  return plain;
}

std::size_t characters(const std::string& line) {
  std::size_t count = 0;
  for (const char c : line) {
    count += (static_cast<unsigned char>(c) & 0xC0U) != 0x80U ? 1 : 0;
  }
  return count;
}

}  // namespace

TEST_CASE("Tables on terminals of 80 and 160 columns, with and without colour, are as they were",
          "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  write_sweep(roofcast);
  const std::vector<std::vector<std::string>> commands = {
      {"list", "metrics"},
      {"explain", "cost_usd_per_mtok"},
      {"estimate", example("llama-70b"), "--no-replay"},
      {"recommend", "--model", "llama-3.1-70b", "--precision", "fp8", "--system",
       "hgx_h100,hgx_h200", "--gpus", "8", "--input", "1500", "--output", "250", "--clients", "32",
       "--no-replay"},
      {"sweep", "sweep.yaml", "--csv", "o.csv", "--force"},
      {"pareto", "o.csv", "--minimize", "tpot_mean_s", "--by", "system"}};
  for (const std::size_t width : {std::size_t{80}, std::size_t{160}}) {
    for (const char* color : {"always", "never"}) {
      std::string now;
      for (std::vector<std::string> arguments : commands) {
        now += fmt::format("$ roofcast {}\n", arguments.front());
        arguments.insert(arguments.end(),
                         {"--color", color, "--columns", fmt::format("{}", width)});
        now += roofcast.output(arguments);
      }
      const std::string file = expected_file(width, color);
      if (std::getenv("ROOFCAST_REGENERATE") != nullptr) {
        std::filesystem::create_directories(std::filesystem::path(file).parent_path());
        std::ofstream(file) << now;
        continue;
      }
      std::stringstream expected;
      expected << std::ifstream(file).rdbuf();
      INFO(file << "; when it was meant to change: ROOFCAST_REGENERATE=1, and read the diff\n"
                << now);
      CHECK(same_print(expected.str(), now));
      CHECK(contains(now, "\x1b[1;32m") == (std::string(color) == "always"));
    }
  }
}

TEST_CASE("Colour changes no letter, and NO_COLOR and pipes have none", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const std::string plain = roofcast.output({"list", "metrics"});
  CHECK_FALSE(contains(plain, "\x1b"));
  const std::string colored = roofcast.output({"list", "metrics", "--color", "always"});
  CHECK(colored != plain);
  CHECK(without_color(colored) == plain);
  const Outcome forbidden = roofcast.shell("NO_COLOR=1 roofcast list metrics --color auto");
  CHECK(forbidden.out == plain);
}

TEST_CASE("No line of a table is wider than the terminal", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  for (const std::size_t width : {std::size_t{80}, std::size_t{100}, std::size_t{160}}) {
    for (const char* kind : {"metrics", "systems", "questions", "models"}) {
      for (const std::string& line :
           lines_of(roofcast.output({"list", kind, "--columns", fmt::format("{}", width)}))) {
        if (line.starts_with('(') || contains(line, "active parameters")) {
          continue;  // the notes below a table
        }
        INFO(kind << ": " << line);
        CHECK(characters(line) <= width);
      }
    }
  }
}

TEST_CASE("What stands in a pipe is whole: without --columns no column is left out", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const Outcome piped = roofcast.shell("COLUMNS=40 roofcast list models | cat");
  CHECK(contains(piped.out, "FLOP/token"));
  CHECK_FALSE(contains(piped.out, "left out"));
}

TEST_CASE("A dash is stdin where a file is read, and stdout where one is written", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  write_sweep(roofcast);
  const std::string named = roofcast.output({"estimate", example("llama-70b"), "--no-replay"});
  CHECK(
      roofcast.shell("cat '" + example("llama-70b") + "' | roofcast estimate - --no-replay").out ==
      named);
  CHECK(contains(roofcast.shell("echo 'sistem: x' | roofcast estimate -").err, "stdin:1:1: error"));
  roofcast.output({"sweep", "sweep.yaml", "--csv", "o.csv"});
  const Outcome written = roofcast.shell("roofcast sweep sweep.yaml --csv -");
  CHECK(written.code == 0);
  CHECK((written.out == roofcast.read("o.csv")));
  CHECK(contains(written.err, "on the Pareto front"));
  CHECK_FALSE(std::filesystem::exists(roofcast.path("-")));
  CHECK_FALSE(std::filesystem::exists(roofcast.path("-.sweep.yaml")));
  const Outcome piped = roofcast.shell(
      "roofcast sweep sweep.yaml --csv - --quiet | roofcast pareto - --minimize "
      "tpot_mean_s --csv - 2>/dev/null");
  CHECK(lines_of(piped.out).size() == 2);
  CHECK(roofcast.shell("roofcast report o.csv -o - | head -c 9").out == "<!-- SPDX");
}

TEST_CASE(
    "JSON of every command is one document that begins with the version, units and what was asked",
    "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  write_sweep(roofcast);
  const std::vector<std::vector<std::string>> commands = {
      {"list", "metrics", "--json"},
      {"list", "--json"},
      {"explain", "ttft_mean_s", "--json"},
      {"check", example("llama-70b"), "--json"},
      {"sweep", "sweep.yaml", "--csv", "o.csv", "--json"},
      {"pareto", "o.csv", "--minimize", "tpot_mean_s", "--json"},
      {"estimate", example("llama-70b"), "--json", "--no-replay"},
      {"estimate", example("llama-70b"), "--format", "json", "--no-replay"},
      {"simulate", example("llama-70b"), "--json"},
      {"simulate", example("llama-405b_run"), "--json"},
      {"solve", example("llama-70b"), "--vary", "traffic.concurrency=1..64", "--until",
       "tpot_p95_s <= 0.03", "--no-replay", "--json"},
      {"sensitivity", example("llama-70b"), "--metric", "tpot_mean_s", "--json"},
      {"recommend", "--model", "llama-3.1-8b", "--system", "hgx_h100", "--gpus", "1", "--input",
       "1000", "--output", "100", "--no-replay", "--json"},
      {"scale", example("llama-405b_run"), "--gpus", "16384", "--json"},
      {"blast-radius", example("llama-405b_run"), "--json"},
      {"pack", "--lengths", "{uniform: [100, 4000]}", "--count", "50", "--tokens", "8192",
       "--json"},
      {"compare", "o.csv", "o.csv", "--json"},
      {"compare", example("roadmap_features"), "--json"},
      {"brief", example("llama-70b"), "--no-replay", "--json"},
      {"show", "chip", "h200_sxm", "--json"},
      {"show", "calibration", "h200_sxm", "--json"},
      {"schema", "chip", "--json"},
      {"report", "o.csv", "-o", "o.html", "--json"},
      {"reproduce", "o.csv", "--json"},
      {"calibrate", "validate", "simulation", "--scenarios", "2", "--json"},
      {"kernel", "gemm", "--chip", "h100_sxm", "--m", "512", "--n", "4096", "--k", "4096",
       "--json"}};
  for (const std::vector<std::string>& arguments : commands) {
    INFO(arguments.front());
    const auto json = nlohmann::json::parse(roofcast.output(arguments));
    CHECK(roofcast.output({"-V"}) == "roofcast " + json["roofcast"].get<std::string>() + "\n");
    CHECK(json.contains("units"));
  }
  const auto front = nlohmann::json::parse(
      roofcast.output({"pareto", "o.csv", "--minimize", "tpot_mean_s", "--json"}));
  CHECK(front["on_front"] == 1);
  CHECK(front["front"][0]["tpot_mean_s"].is_number());
}

TEST_CASE("explain knows every column that a result has", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const auto listed = nlohmann::json::parse(roofcast.output({"list", "metrics", "--json"}));
  std::vector<std::string> arguments = {"explain", "--json"};
  for (const auto& metric : listed["metrics"]) {
    arguments.push_back(metric["name"]);
  }
  REQUIRE(arguments.size() > 40);
  const auto explained = nlohmann::json::parse(roofcast.output(arguments));
  CHECK(explained["metrics"].size() == arguments.size() - 2);
  const std::string cost = roofcast.output({"explain", "cost_usd_per_mtok"});
  for (const char* part : {"USD/Mtok output", "prompts included", "formula", "right for"}) {
    CHECK(contains(cost, part));
  }
  CHECK(roofcast.output({"explain", "ttft_p95"}) == roofcast.output({"explain", "ttft_p95_s"}));
  CHECK(contains(roofcast.run({"explain", "throughput"}).err,
                 "did you mean \"throughput_tok_per_s_per_gpu\" or \"throughput_tok_per_s\"?"));
  const Outcome wrong = roofcast.run({"explain", "ttft_men_s"});
  CHECK(wrong.code == 2);
  CHECK(contains(wrong.err, "did you mean \"ttft_mean_s\"?"));
}

TEST_CASE("list finds knobs by a word, and the questions that the examples answer", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const std::string knobs = roofcast.output({"list", "knobs", "hbm.band"});
  CHECK(lines_of(knobs).size() == 2);
  CHECK(contains(knobs, "system.chip.hbm.bandwidth"));
  CHECK(contains(knobs, "TB/s"));
  const std::string questions = roofcast.output({"list", "questions"});
  CHECK(contains(questions, "Which of H100, H200 and B200"));
  CHECK(contains(questions, "llama70b_what_if"));
  CHECK(lines_of(roofcast.output({"list", "chips", "B200"})).size() < 6);
  CHECK(contains(roofcast.run({"list", "metrcs"}).err, "did you mean \"metrics\"?"));
}

TEST_CASE("help CMD is CMD --help, and -V is --version", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  CHECK(roofcast.output({"help"}) == roofcast.output({"--help"}));
  CHECK(roofcast.output({"help", "sweep"}) == roofcast.output({"sweep", "--help"}));
  CHECK(roofcast.output({"help", "calibrate", "validate"}) ==
        roofcast.output({"calibrate", "validate", "--help"}));
  CHECK(roofcast.output({"-V"}) == roofcast.output({"--version"}));
  CHECK(contains(roofcast.run({"help", "swep"}).err, "did you mean \"sweep\"?"));
  CHECK(roofcast.run({"swep"}).err.starts_with(roofcast.run({"help", "swep"}).err));
}

TEST_CASE("Too few GPUs, half a name, a misspelt option: each message says what to write",
          "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const std::string file = example("llama-70b");
  const std::string large = roofcast.output(
      {"estimate", file, "--set", "system=hgx_b200", "--set", "deployment.tensor_parallel=32"});
  CHECK(contains(large,
                 "needs 32 GPUs, the system has 8; systems with as many: b200_cluster_128 "
                 "(128, the same chip), "));
  const auto said = [&](const std::vector<std::string>& arguments) {
    std::vector<std::string> all = {"estimate", file};
    all.insert(all.end(), arguments.begin(), arguments.end());
    const Outcome outcome = roofcast.run(all);
    CHECK(outcome.code == 2);
    return outcome.err;
  };
  CHECK(contains(said({"--set", "system=h200"}),
                 "\"hgx_h200\", \"h200_cluster_128\" or \"h200_cluster_128_roce\""));
  CHECK(contains(said({"--set", "model=llama-70b"}), "\"llama-3.1-70b\""));
  CHECK(contains(said({"--explian"}),
                 "error: roofcast estimate takes no option \"--explian\"; did you mean "
                 "\"--explain\"?"));
  CHECK(contains(said({"second.yaml"}), "takes no argument \"second.yaml\""));
}

}  // namespace roofcast::cli::cli_terminal
