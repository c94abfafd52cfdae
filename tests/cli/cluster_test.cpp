// SPDX-License-Identifier: Apache-2.0
//
// `scale` and `blast-radius`.
#include <nlohmann/json.hpp>

#include "base/csv/csv.hpp"
#include "tests/catch.hpp"
#include "tests/cli/program.hpp"

namespace roofcast::cli::cli_cluster {

using nlohmann::json;

TEST_CASE("scale says in text, JSON and CSV what more GPUs bring", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const std::vector<std::string> command = {
      "scale", example("llama-405b_run"), "--gpus", "16384..131072", "--csv", "o.csv"};
  const std::string text = roofcast.output(command);
  CHECK(contains(text, "Weak scaling"));
  CHECK(contains(text, "131,072"));
  CHECK(contains(text, "describes 16,384 GPUs; more are taken to have the same fabric"));
  std::vector<std::string> in_json = command;
  in_json.insert(in_json.end(), {"--format", "json", "--force"});
  const json answer = json::parse(roofcast.output(in_json));
  const base::CsvTable table = base::read_csv(roofcast.path("o.csv"));
  CHECK(answer["described_gpus"] == 16384);
  REQUIRE(answer["steps"].size() == 4);
  REQUIRE(table.rows() == 4);
  for (std::size_t row = 0; row < 4; ++row) {
    const json& step = answer["steps"][row];
    CHECK(step["fits"] == true);
    CHECK(step["efficiency"].get<double>() == number(table, row, "efficiency"));
    CHECK(step["run_efficiency"] < step["efficiency"]);
  }
  // So many GPUs fail so often that the run takes longer.
  CHECK(answer["steps"][3]["run_s"] > answer["steps"][2]["run_s"]);
  CHECK(answer["steps"][3]["efficiency"].get<double>() > 0.98);
}

TEST_CASE("scale says nothing of a larger system where it needs none", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  CHECK_FALSE(contains(
      roofcast.output({"scale", example("llama-405b_run"), "--gpus", "8192,16384"}), "describes"));
}

TEST_CASE("scale writes a report of days against dollars", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  roofcast.output(
      {"scale", example("llama-405b_run"), "--gpus", "8192,16384", "--report", "o.html"});
  const std::string page = roofcast.read("o.html");
  CHECK(contains(page, "Weak scaling to 16,384 GPUs"));
  CHECK(!contains(page, "limited by ."));  // a step has no bound
  CHECK(!contains(page, "limited by ,"));
  CHECK(contains(page, "run_usd"));
  // The curves of what scaling loses, and to what.
  const auto curves = page.find("\"curves\"");
  REQUIRE(curves != std::string::npos);
  for (const char* line : {"efficiency", "with failures", "exposed", "bubble", "interruptions"}) {
    INFO(line);
    CHECK(page.find("\"name\":\"" + std::string(line) + "\"", curves) != std::string::npos);
  }
  CHECK(!contains(page, "\"slowest rank\""));  // without training.jitter
  roofcast.output({"scale", example("llama-405b_run"), "--gpus", "8192,16384", "--report", "o.html",
                   "--force", "--set", "training.jitter.deviation=0.015"});
  CHECK(contains(roofcast.read("o.html"), "\"slowest rank\""));
}

TEST_CASE("Counts that scale cannot make are refused in words", "[bad_input]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const auto refused = [&](const std::vector<std::string>& more, const char* why) {
    std::vector<std::string> command = {"scale", example("llama-405b_run")};
    command.insert(command.end(), more.begin(), more.end());
    const Outcome output = roofcast.run(command);
    INFO(output.err);
    CHECK(output.code == 2);
    CHECK(contains(output.err, why));
  };
  refused({"--gpus", "100"}, "no multiple of the 128 GPUs");
  refused({"--gpus", "8192..16"}, "upside down");
  refused({"--gpus", "many"}, "no whole number");
  refused({"--gpus", "1e9"}, "no whole number");
  refused({"--gpus", "128,"}, "no whole number");
  const Outcome serving = roofcast.run({"scale", example("llama-70b")});
  CHECK(serving.code == 2);
  CHECK(contains(serving.err, "`training`"));
  const Outcome no_run = roofcast.run({"blast-radius", example("llama-8b_training")});
  CHECK(no_run.code == 2);
  CHECK(contains(no_run.err, "`run`"));
}

TEST_CASE("blast-radius prints a row for each part, and its JSON the same", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const std::string text = roofcast.output({"blast-radius", example("llama-405b_run")});
  CHECK(contains(text, "leaf switch"));
  CHECK(contains(text, "racks of 2 hosts"));
  const json answer =
      json::parse(roofcast.output({"blast-radius", example("llama-405b_run"), "--format", "json"}));
  REQUIRE(answer["parts"].size() == 4);
  CHECK(answer["parts"][0]["replicas"] == 1);
  CHECK(answer["parts"][1]["part"] == "rack");
  CHECK(answer["parts"][1]["gpus"] == 16);
  CHECK(answer["parts"][3]["stops"] == false);
}

}  // namespace roofcast::cli::cli_cluster
