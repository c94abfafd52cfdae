// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "tests/catch.hpp"
#include "tests/cli/program.hpp"

namespace roofcast::cli::cli_solve_command {
namespace {

using nlohmann::json;

json solve(const Program& roofcast, std::vector<std::string> options) {
  options.insert(options.begin(), {"solve", example("llama-70b_arrivals"), "--format", "json"});
  return json::parse(roofcast.output(options));
}

json estimate(const Program& roofcast, const std::string& setting) {
  return json::parse(roofcast.output(
      {"estimate", example("llama-70b_arrivals"), "--set", setting, "--format", "json"}));
}

}  // namespace

// Requests of an estimate are followed one by one, so a tail moves in steps of some percent.
TEST_CASE("The answer of solve by estimates alone, put back, meets the condition narrowly",
          "[cli][long]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const struct {
    const char* knob;
    const char* metric;
    double bound;
    double least;  // of the bound
  } questions[] = {{"traffic.arrivals.rate", "ttft_p95_s", 0.4, 0.95},
                   {"traffic.arrivals.rate", "tpot_p95_s", 0.02, 0.95},
                   {"system.chip.hbm.bandwidth", "tpot_mean_s", 0.01, 0.999}};
  for (const auto& q : questions) {
    const json answer = solve(
        roofcast,
        {"--vary", q.knob, "--until", fmt::format("{} <= {}", q.metric, q.bound), "--no-replay"});
    CHECK(answer["replay"]["verdict"] == "estimated only");
    INFO(answer.dump(2));
    REQUIRE(answer["found"] == true);
    const std::string value = answer["values"][q.knob].get<std::string>();
    const double met =
        estimate(roofcast, fmt::format("{}={}", q.knob, value))[q.metric].get<double>();
    CHECK(met <= q.bound);
    CHECK(met > q.least * q.bound);
  }
}

TEST_CASE("solve says that its answer is confirmed, what was simulated, and what the estimate says",
          "[cli][long]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const json answer =
      solve(roofcast, {"--vary", "traffic.arrivals.rate", "--until", "ttft_p95_s <= 0.3"});
  INFO(answer.dump(2));
  REQUIRE(answer["found"] == true);
  CHECK(answer["replay"]["verdict"] == "confirmed");
  CHECK(answer["simulated"]["ttft_p95_s"].get<double>() <= 0.3);
  CHECK(answer["conditions"][0]["slack"].get<double>() >= 0.0);
  CHECK(contains(answer["notes"].dump(), "the estimate says"));
}

TEST_CASE("A condition on a metric that nothing has is refused in words", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const Outcome solved = roofcast.run({"solve", example("llama-70b"), "--vary",
                                       "traffic.concurrency=1..512", "--until", "step_s <= 10"});
  CHECK(solved.code == 2);
  CHECK(contains(solved.err, "it is of training, and the scenario serves"));
  roofcast.write("sweep.yaml", fmt::format("base: {}\naxes: {{traffic.concurrency: [1, 2]}}\n"
                                           "where: ['task_p95_s <= 1']\n",
                                           example("llama-70b")));
  const Outcome swept = roofcast.run(
      {"sweep", roofcast.path("sweep.yaml"), "--csv", roofcast.path("out.csv"), "--quiet"});
  CHECK(swept.code == 2);
  CHECK(contains(swept.err, "it needs traffic.agents"));
}

TEST_CASE("solve tries every combination of several knobs for the least of a metric", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const json answer = solve(
      roofcast, {"--set", "system=h200_cluster_128", "--set", "traffic.arrivals.rate=40 /s",
                 "--vary", "serving.replicas=1..8", "--vary", "deployment.tensor_parallel=4,8",
                 "--until", "ttft_p95_s <= 0.5", "--minimize", "gpus"});
  REQUIRE(answer["found"] == true);
  CHECK(answer["metrics"]["ttft_p95_s"].get<double>() <= 0.5);
  const double replicas = std::stod(answer["values"]["serving.replicas"].get<std::string>());
  const double ranks = std::stod(answer["values"]["deployment.tensor_parallel"].get<std::string>());
  CHECK(answer["metrics"]["gpus"] == replicas * ranks);
}

TEST_CASE("solve says what comes nearest where nothing meets the conditions", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const std::vector<std::string> arguments = {"solve",   example("llama-70b_arrivals"),
                                              "--vary",  "traffic.arrivals.rate=1 /s..10 /s",
                                              "--until", "tpot_mean_s <= 0.001"};
  const Outcome outcome = roofcast.run(arguments);
  CHECK(outcome.code == 0);
  CHECK(contains(outcome.out, " places that were looked at meets the conditions; the nearest"));
  CHECK(contains(outcome.out, "'traffic.arrivals.rate=1"));
  CHECK(contains(outcome.out, "misses tpot_mean_s <= 0.001"));
  std::vector<std::string> strict = arguments;
  strict.push_back("--strict");
  CHECK(roofcast.run(strict).code == 3);
}

TEST_CASE("solve tells what a hundredth more of a bound buys, and what it is as it is",
          "[cli][long]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const json answer = solve(
      roofcast, {"--vary", "deployment.tensor_parallel=2,4,8", "--vary",
                 "traffic.arrivals.rate=1 /s..40 /s", "--until", "tpot_p95_s <= 0.03", "--until",
                 "ttft_p95_s <= 2", "--minimize", "cost_usd_per_mtok", "--no-replay"});
  INFO(answer.dump(2));
  REQUIRE(answer["found"] == true);
  CHECK(answer["every_combination"] == false);
  const double cost = answer["metrics"]["cost_usd_per_mtok"].get<double>();
  std::size_t binding = 0;
  for (const json& condition : answer["conditions"]) {
    CHECK(condition["slack"].get<double>() >= 0.0);
    if (condition.contains("one_per_cent_more")) {
      ++binding;
      CHECK(condition["slack"].get<double>() < 0.06);  // a step of a tail
      CHECK(condition["one_per_cent_more"]["cost_usd_per_mtok"].get<double>() < cost);
    }
  }
  CHECK(binding >= 1);
  CHECK(contains(answer["notes"].dump(), "as it is (deployment.tensor_parallel=8"));
}

TEST_CASE("solve's row of CSV has the knobs, and every metric as estimate tells it", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const std::string rows =
      roofcast.output({"solve", example("llama-70b_arrivals"), "--vary",
                       "deployment.tensor_parallel=4,8", "--until", "tpot_mean_s <= 0.02",
                       "--maximize", "throughput_tok_per_s_per_gpu", "--format", "csv"});
  CHECK(contains(rows, "deployment.tensor_parallel,fits,meets,reason,replay,replay_note,"));
  CHECK(contains(rows, "\n4,true,true,,confirmed,"));
}

TEST_CASE("Of combinations that all miss solve shows the nearest, and what limits it", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const Outcome outcome = roofcast.run({"solve", example("llama-70b_arrivals"), "--vary",
                                        "deployment.tensor_parallel=2,4,8", "--until",
                                        "tpot_mean_s <= 0.001", "--minimize", "gpus"});
  CHECK(outcome.code == 0);
  CHECK(contains(outcome.out, "nothing of 3 combinations meets the conditions; the nearest"));
  CHECK(contains(outcome.out, "'deployment.tensor_parallel=8'"));
  CHECK(contains(outcome.out, "missed by"));
  CHECK(contains(outcome.out, "HBM ("));
}

TEST_CASE("solve refuses what it cannot look for, and says why", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const auto complaint = [&](std::vector<std::string> options) {
    options.insert(options.begin(), {"solve", example("llama-70b_arrivals")});
    const Outcome outcome = roofcast.run(options);
    CHECK(outcome.code == 2);
    return outcome.err;
  };
  const std::string fits = "fits";
  CHECK(contains(complaint({"--vary", "traffic.arrivals.rte", "--until", fits}),
                 "has no value to start from"));
  CHECK(contains(complaint({"--vary", "traffic.arrivals.rate=9 /s..1 /s", "--until", fits}),
                 "the low end of the range first"));
  CHECK(contains(complaint({"--vary", "traffic.arrivals.rate", "--until", "ttft_p9_s <= 1"}),
                 "did you mean \"ttft_p95_s\"?"));
  CHECK(contains(complaint({"--vary", "traffic.arrivals.rate=1..2 parsecs", "--until", fits}),
                 "unknown unit"));
  CHECK(contains(
      complaint({"--vary", "serving.replicas=1..4", "--until", fits, "--minimize", "price"}),
      "there is no metric \"price\""));
  CHECK(contains(complaint({"--vary", "serving.replicas=1..4", "--vary",
                            "deployment.tensor_parallel=4,8", "--until", fits}),
                 "need a metric to --minimize"));
  CHECK(contains(complaint({"--vary", "serving.replicas=1..4", "--until", fits, "--minimize",
                            "gpus", "--maximize", "gpus"}),
                 "not both"));
  CHECK(contains(complaint({"--vary", "system.chip.hbm.bandwidth=1e12..2e13", "--until", fits}),
                 "has a unit: 4.8 TB/s; give one"));
  CHECK(contains(complaint({"--vary", "system=hgx_h100,hgx_h2000", "--until", fits}),
                 "did you mean \"hgx_h200\"?"));
  CHECK(contains(complaint({"--vary", "deployment.tensor_parallel=2,02", "--until", fits}),
                 "has 2 twice, as 02 too"));
}

TEST_CASE("solve fills in what a scenario leaves out, as other commands do", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  roofcast.write("bare.yaml",
                 "system: hgx_h200\nmodel: llama-3.1-8b\n"
                 "traffic: {input_tokens: 1000, output_tokens: 300, concurrency: 16}\n");
  for (const char* knob : {"traffic.concurrency=1..64", "serving.max_sequences=8,64"}) {
    const Outcome outcome =
        roofcast.run({"solve", "bare.yaml", "--vary", knob, "--until", "fits", "--maximize",
                      "throughput_tok_per_s_per_gpu", "--no-replay"});
    INFO(outcome.err);
    CHECK(outcome.code == 0);
    CHECK(contains(outcome.out, "the most throughput_tok_per_s_per_gpu"));
  }
}

TEST_CASE("A solve shows how far it is on a terminal, and nowhere else", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const std::string solve = "timeout 2 roofcast solve " + example("llama-70b_arrivals") +
                            " --vary traffic.arrivals.rate --until \"ttft_p95_s <= 0.5\"";
  const auto on_terminal = [&](const std::string& command) {
    return roofcast.shell("script -qec '" + command + "' /dev/null").out;
  };
  CHECK(contains(on_terminal(solve), " estimates and replays, "));
  CHECK_FALSE(contains(on_terminal(solve + " --quiet"), "estimates and replays"));
  CHECK(roofcast.shell(solve).err.empty());
}

}  // namespace roofcast::cli::cli_solve_command
