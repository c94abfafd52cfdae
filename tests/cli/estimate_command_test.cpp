// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "sim/result/metrics.hpp"
#include "tests/catch.hpp"
#include "tests/cli/program.hpp"

namespace roofcast::cli::cli_estimate_command {
namespace {

using nlohmann::json;

// llama-70b with settings; the metrics as JSON.
json estimate(const Program& roofcast, const std::vector<std::string>& settings,
              const std::vector<std::string>& options = {}) {
  std::vector<std::string> arguments = {"estimate", example("llama-70b"), "--format", "json"};
  for (const std::string& setting : settings) {
    arguments.insert(arguments.end(), {"--set", setting});
  }
  arguments.insert(arguments.end(), options.begin(), options.end());
  json answer = json::parse(roofcast.output(arguments));
  answer.erase("made_by");
  return answer;
}

}  // namespace

TEST_CASE("estimate prints every metric's label, once with its interval, and nothing on stderr",
          "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const Outcome outcome = roofcast.run({"estimate", example("llama-70b")});
  CHECK(outcome.code == 0);
  CHECK(outcome.err.empty());
  CHECK(contains(outcome.out, "Llama-3.1-70B on "));
  CHECK(!contains(outcome.out, "Utilisation"));
  for (const sim::Metric& metric : sim::metrics()) {
    if (!metric.of_prices && !metric.of_objectives && !metric.of_arrivals &&
        !metric.of_clocks) {  // shown where they are known, or not full
      CHECK(contains(outcome.out, "\n" + std::string(metric.label)) ==
            (metric.bounds.empty() && !metric.of_answers && !metric.of_agents &&
             !metric.of_training && !metric.of_causes));  // causes stand beside what they limit
    }
  }
  CHECK(contains(outcome.out, "90 % interval"));
}

TEST_CASE("estimate replays what it estimates, and names the metrics that the replay contradicts",
          "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const json agrees = estimate(roofcast, {});
  CHECK(agrees["replay"]["requests"] > 100);
  CHECK(agrees["replay"]["disagrees"].empty());
  CHECK(agrees["replay"]["tpot_mean_s"].get<double>() ==
        Approx(agrees["tpot_mean_s"].get<double>()).epsilon(0.1));
  CHECK(!agrees["replay"].contains("weights_b_per_gpu"));  // a replay says nothing of it
  // Prompts of equal clients wait for other iterations in the estimate than in the replay.
  const std::vector<std::string> in_step = {
      "traffic={input_tokens: 2048, output_tokens: 512, concurrency: 512}",
      "deployment.tensor_parallel=2", "model=llama-3.1-70b", "precision=fp8", "system=hgx_b200"};
  const json contradicted = estimate(roofcast, in_step);
  CHECK(!contradicted["replay"]["disagrees"].empty());
  for (const json& name : contradicted["replay"]["disagrees"]) {
    const auto metric = name.get<std::string>();
    const double ratio =
        contradicted["replay"][metric].get<double>() / contradicted[metric].get<double>();
    CHECK(std::abs(1.0 / ratio - 1.0) > 0.1);
    if (contradicted.contains("low90_" + metric)) {
      CHECK(contradicted["low90_" + metric] < contradicted["replay"][metric]);
      CHECK(contradicted["high90_" + metric] > contradicted["replay"][metric]);
    }
  }
  std::vector<std::string> command = {"estimate", example("llama-70b")};
  for (const std::string& set : in_step) {
    command.insert(command.end(), {"--set", set});
  }
  const std::string text = roofcast.output(command);
  CHECK(contains(text, "times the estimate. Take the replayed values"));
  CHECK(estimate(roofcast, {}, {"--no-replay"})["replay"]["why_not"] == "--no-replay");
}

TEST_CASE("--before has the figures without --set, and refuses to stand without it", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const std::vector<std::string> faster = {"system.chip.hbm.bandwidth=x1.5"};
  const json changed = estimate(roofcast, faster, {"--before"});
  const json plain = estimate(roofcast, {});
  CHECK(changed["before"]["tpot_mean_s"] == plain["tpot_mean_s"]);
  CHECK(changed["tpot_mean_s"] == estimate(roofcast, faster)["tpot_mean_s"]);
  const double change = changed["tpot_mean_s"].get<double>() / plain["tpot_mean_s"].get<double>();
  CHECK(change < 0.95);
  const std::string text = roofcast.output(
      {"estimate", example("llama-70b"), "--set", faster[0], "--before", "--columns", "200"});
  CHECK(contains(text, "without --set"));
  CHECK(contains(text, fmt::format("{:+.1f} %", 100.0 * (change - 1.0))));
  const Outcome alone = roofcast.run({"estimate", example("llama-70b"), "--before"});
  CHECK(alone.code == 2);
  CHECK(contains(alone.err, "--before shows what --set changes"));
  const std::string apart = roofcast.output(
      {"estimate", example("llama-70b"), "--before", "--set", "deployment.tensor_parallel=4"});
  CHECK(contains(apart, "change"));
}

TEST_CASE("The formats of estimate say the same", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const json values = estimate(roofcast, {});
  const base::CsvTable table = base::parse_csv(
      roofcast.output({"estimate", example("llama-70b"), "--format", "csv"}), "stdout");
  REQUIRE(table.rows() == 1);
  CHECK(values["fits"] == true);
  CHECK(cell(table, 0, "fits") == "true");
  for (const sim::Metric& metric : sim::metrics()) {
    const std::string name(metric.name);
    INFO(name);
    REQUIRE(values.contains(name));
    if (metric.of_answers || metric.of_agents || metric.of_training || metric.of_objectives ||
        metric.of_arrivals) {
      CHECK(values[name].is_null());  // nothing is asked of answers, nor of arrivals
      CHECK(cell(table, 0, name).empty());
      continue;
    }
    // A wait is no cause, so it has no share.
    if ((metric.of_prices || name == "limited_share_ttft") && values[name].is_null()) {
      CHECK(cell(table, 0, name).empty());
      continue;
    }
    REQUIRE(values[name].is_number());
    CHECK(values[name].get<double>() == number(table, 0, name));
  }
  for (const sim::TextMetric& text : sim::text_metrics()) {
    if (text.of_parents) {
      CHECK_FALSE(values.contains(std::string(text.name)));
      continue;
    }
    CHECK(values[std::string(text.name)] == cell(table, 0, text.name));
  }
  // SI: a step of a 70B model takes milliseconds, its weights gigabytes.
  CHECK(values["tpot_mean_s"] < 1.0);
  CHECK(values["weights_b_per_gpu"] > 1e9);
  CHECK(values["weights_b_per_gpu"] < values["memory_b_per_gpu"]);
}

TEST_CASE("estimate names every cut of the replica and the cached part of the prompt", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const auto first_lines = [&](const std::string& deployment) {
    return roofcast.output({"estimate", example("llama-70b"), "--set", "deployment=" + deployment,
                            "--set", "traffic.cached_tokens=500"});
  };
  const std::string plain = first_lines("{tensor_parallel: 8}");
  CHECK(contains(plain, " · TP8 PP1 EP1 DP1 · "));
  CHECK(contains(plain, "2048 tokens in (500 of them cached), 512 out"));
  CHECK(contains(first_lines("{tensor_parallel: 4, context_parallel: 2, sequence_parallel: true}"),
                 " · TP4 PP1 EP1 DP1 CP2 (ring) SP · "));
}

TEST_CASE("A part is chosen before it is changed, in whatever order that was typed", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const std::string system = "system=hgx_h100";
  const std::string faster = "system.chip.hbm.bandwidth=x2";
  CHECK(estimate(roofcast, {faster, system}) == estimate(roofcast, {system, faster}));
  CHECK(estimate(roofcast, {faster, system}) != estimate(roofcast, {system}));
}

TEST_CASE("What has no value is null in JSON and empty in CSV", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const json one = estimate(roofcast, {"traffic.output_tokens=1"});
  CHECK(one["tpot_mean_s"].is_null());
  CHECK(one["interactivity_tok_per_s_per_user"].is_null());
  CHECK(one["ttft_p50_s"].is_number());
  const json none =
      estimate(roofcast, {"system=hgx_h100", "deployment.tensor_parallel=1", "precision=bf16"});
  CHECK(none["fits"] == false);
  CHECK(contains(none["reason"].get<std::string>(), "weights"));
  for (const sim::Metric& metric : sim::metrics()) {
    CHECK(none[std::string(metric.name)].is_null());
  }
}

TEST_CASE("A scenario that does not fit is a result, and exit code 3 under --strict", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const std::vector<std::string> big = {"estimate", example("llama-70b"),
                                        "--set",    "deployment.tensor_parallel=1",
                                        "--set",    "precision=bf16"};
  const Outcome lax = roofcast.run(big);
  CHECK(lax.code == 0);
  CHECK(contains(lax.out, "does not run: "));
  for (const char* format : {"text", "json", "csv"}) {
    auto strict = big;
    strict.insert(strict.end(), {"--strict", "--format", format});
    const Outcome outcome = roofcast.run(strict);
    CHECK(outcome.code == 3);
    CHECK(!outcome.out.empty());
    CHECK(outcome.err.empty());
  }
  CHECK(roofcast.run({"estimate", example("llama-70b"), "--strict"}).code == 0);
}

TEST_CASE("The operators of --explain add up to the step, in every format", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  for (const char* name : {"llama-70b", "deepseek-v3_h200_ep8"}) {
    INFO(name);
    const json whole =
        json::parse(roofcast.output({"estimate", example(name), "--explain", "--format", "json"}));
    const base::CsvTable table = base::parse_csv(
        roofcast.output({"estimate", example(name), "--explain", "--format", "csv"}), "stdout");
    std::size_t row = 0;
    REQUIRE(whole["iterations"].size() == 2);
    for (const json& step : whole["iterations"]) {
      double sum = 0.0;
      for (const json& op : step["operators"]) {
        sum += op["time_s"].get<double>();
        REQUIRE(row < table.rows());
        CHECK(cell(table, row, "iteration") == step["name"]);
        CHECK(cell(table, row, "operator") == op["name"]);
        CHECK(number(table, row, "time_s") == op["time_s"].get<double>());
        CHECK(number(table, row, "flop") == op["flop"].get<double>());
        CHECK(number(table, row, "bytes_b") == op["bytes"].get<double>());
        ++row;
      }
      CHECK(sum == Approx(step["time_s"].get<double>()).epsilon(1e-12));
    }
    CHECK(row == table.rows());
    // TPOT lies between the step of decodes alone and the one slowed by prompts.
    CHECK(whole["tpot_mean_s"] >= whole["iterations"][0]["time_s"]);
    CHECK(whole["tpot_mean_s"] <= whole["iterations"][1]["time_s"]);
    const std::string text = roofcast.output({"estimate", example(name), "--explain"});
    CHECK(contains(text, "decode iteration: "));
    CHECK(contains(text, "iteration with prompts: "));
    for (const json& op : whole["iterations"][0]["operators"]) {
      CHECK(contains(text, op["name"].get<std::string>()));
    }
  }
}

TEST_CASE("--set reaches through references and moves the forecast the right way", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const std::string alone = "traffic.concurrency=1";
  const json before = estimate(roofcast, {alone});
  const auto tpot = [](const json& values) { return values["tpot_mean_s"].get<double>(); };
  const json faster = estimate(roofcast, {alone, "system.chip.hbm.bandwidth=x2"});
  CHECK(tpot(faster) < tpot(before));
  CHECK(tpot(estimate(roofcast, {alone, "system.chip.hbm.bandwidth=x0.5"})) > tpot(before));
  CHECK(tpot(estimate(roofcast, {alone, "system.chip.hbm.bandwidth=9.6 TB/s"})) ==
        Approx(tpot(faster)).epsilon(0.01));
  CHECK(tpot(estimate(roofcast, {alone, "precision=bf16"})) > tpot(before));
  CHECK(tpot(estimate(roofcast, {alone, "deployment.tensor_parallel=4"})) > tpot(before));
  CHECK(tpot(estimate(roofcast, {alone, "precision.weights=bf16"})) > tpot(before));
  // The price is a knob like others.
  const json dear = estimate(roofcast, {alone, "system.price.per_gpu_hour=x2"});
  CHECK(dear["cost_usd_per_mtok"].get<double>() ==
        Approx(2.0 * before["cost_usd_per_mtok"].get<double>()));
  CHECK(tpot(dear) == tpot(before));
}

TEST_CASE("More memory holds more requests and makes no step slower", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const json before = estimate(roofcast, {"traffic.concurrency=1"});
  const json roomy = estimate(roofcast, {"traffic.concurrency=1", "system.chip.hbm.capacity=x2"});
  CHECK(roomy["max_running"].get<double>() > 1.5 * before["max_running"].get<double>());
  CHECK(roomy["tpot_mean_s"] == before["tpot_mean_s"]);
}

TEST_CASE("A mistaken --set is bad input that says what may stand there", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const std::pair<std::string, std::string> mistakes[] = {
      {"deployment.tensor_paralel=4", "did you mean \"tensor_parallel\"?"},
      {"deployment.tensor_parallel", "path=value"},
      {"deployment.tensor_parallel=", "path=value"},
      {"deployment.tensor_parallel=many", "many"},
      {"system.chip.hbm.bandwith=x2", "did you mean \"bandwidth\"?"},
      {"system.chip.hbm.bandwidth=x", "x"},
      {"system=hgx_h1000", "hgx_h100"},
      {"trafic.concurrency=1", "traffic"}};
  for (const auto& [setting, part] : mistakes) {
    const Outcome outcome = roofcast.run({"estimate", example("llama-70b"), "--set", setting});
    INFO(setting << "\n" << outcome.err);
    CHECK(outcome.code == 2);
    CHECK(outcome.out.empty());
    CHECK(contains(outcome.err, part));
    CHECK(outcome.err.ends_with('\n'));
  }
}

TEST_CASE("estimate compares speculative decoding with none at the same load", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const auto speculate = [](const std::string& acceptance) {
    return "serving.speculative={method: eagle, draft_tokens: 3, acceptance: " + acceptance + "}";
  };
  const json plain = estimate(roofcast, {});
  CHECK(!plain.contains("speculation"));
  const json good = estimate(roofcast, {speculate("0.8")});
  CHECK(good["tokens_per_iteration"] == Approx(2.952));
  const double ratio = plain["tpot_mean_s"].get<double>() / good["tpot_mean_s"].get<double>();
  CHECK(good["speculation"]["interactivity_ratio"] == Approx(ratio));
  const json bad = estimate(roofcast, {speculate("0")});
  CHECK(bad["speculation"]["interactivity_ratio"] < 1.0);
  CHECK(bad["speculation"]["break_even_batch"] == 1);
  const Outcome text =
      roofcast.run({"estimate", example("llama-70b"), "--set", speculate("0"), "--explain"});
  CHECK(contains(text.out, "3 draft tokens, 1 tokens an iteration"));
  CHECK(contains(text.out, "Break-even: with 1 sequences"));
  CHECK(contains(text.out, "decode iteration, each further pass of the draft: 2 times "));
}

TEST_CASE("The timeline of a training step's pipeline is drawn in letters and as SVG", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const auto scenario = [](const char* schedule) {
    return std::string(
               "system: hgx_h100\nmodel: llama-2-13b\nprecision: bf16\ndeployment: "
               "{pipeline_parallel: 4}\ntraining: {sequence_length: 2048, recompute: full, "
               "global_batch: 8, trainer: megatron, schedule: ") +
           schedule + "}\n";
  };
  roofcast.write("plain.yaml", scenario("1f1b"));
  const std::string text = roofcast.output({"estimate", "plain.yaml", "--explain"});
  CHECK(contains(text, "pipeline of "));
  CHECK(contains(text, "\n   0  00112233"));   // four forward passes first
  CHECK(contains(text, "\n   3  ......00a"));  // the last stage turns back at once
  roofcast.output({"estimate", "plain.yaml", "--timeline", "pipeline.svg"});
  const std::string svg = roofcast.read("pipeline.svg");
  CHECK(svg.starts_with("<svg "));
  CHECK(contains(svg, "forward of micro-batch 7, rank 3, chunk 0"));
  CHECK(contains(svg, "backward of micro-batch 0, rank 0, chunk 0"));
  roofcast.write("dual.yaml", scenario("dualpipe"));
  CHECK(contains(roofcast.output({"estimate", "dual.yaml", "--explain"}), "w"));
  roofcast.write(
      "alone.yaml",
      "system: hgx_h100\nmodel: llama-3.1-8b\nprecision: bf16\ndeployment: "
      "{data_parallel: 8}\ntraining: {sequence_length: 2048, global_batch: 8, recompute: "
      "full, trainer: megatron}\n");
  const Outcome none = roofcast.run({"estimate", "alone.yaml", "--timeline", "none.svg"});
  CHECK(none.code == 2);
  CHECK(contains(none.err, "--timeline: the scenario has no pipeline"));
}

TEST_CASE("A number of L2 slices without an old one is said to change nothing", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const Outcome outcome = roofcast.run(
      {"estimate", example("llama-70b"), "--no-replay", "--set", "system.chip.l2.slices=48"});
  CHECK(outcome.code == 0);
  CHECK(contains(outcome.err, "l2.slices: the chip did not say how many it has"));
}

TEST_CASE("A factor of L2 slices whose number nobody published acts, and is said", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const Outcome outcome = roofcast.run(
      {"estimate", example("llama-70b"), "--no-replay", "--set", "system.chip.l2.slices=x2"});
  CHECK(outcome.code == 0);
  CHECK(contains(outcome.err, "2 times as many are taken"));
}

TEST_CASE("More GPUs than a system describes are said, but for a description with its own name",
          "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const auto notes = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"estimate", example("llama-8b_training"), "--no-replay"});
    const Outcome outcome = roofcast.run(more);
    CHECK(outcome.code == 0);
    return outcome.err;
  };
  const char* const kBeyond = "4096 GPUs are beyond the 128 that";
  CHECK(contains(notes({"--set", "system.chips=4096"}), kBeyond));
  CHECK(contains(notes({"--set", "system={base: h100_cluster_128, chips: 4096}"}), kBeyond));
  CHECK(!contains(notes({"--set", "system={base: h100_cluster_128, chips: 4096, name: mine}"}),
                  kBeyond));
  CHECK(!contains(notes({"--set", "system.chips=128"}), "are beyond"));
}

TEST_CASE("Options of serving are refused where the scenario trains", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  for (const auto& [option, value] :
       {std::pair{"--input", "4000"}, {"--clients", "8"}, {"--stack", "vllm"}}) {
    const Outcome outcome = roofcast.run({"estimate", example("llama-8b_training"), option, value});
    CHECK(outcome.code == 2);
    CHECK(contains(outcome.err, std::string(option) + " is of serving"));
  }
}

TEST_CASE("Limits of estimate and simulate are objectives of the scenario", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const std::string file = example("llama-70b");
  for (const std::string& command :
       {"estimate " + file + " --format csv", "simulate " + file + " --format json"}) {
    const auto figures = [&](const std::string& more) {
      const std::string printed = roofcast.shell("roofcast " + command + more).out;
      return printed.substr(0, printed.find("\"made_by\""));
    };
    const std::string limited = figures(" --ttft-p95 1s --tpot-p95 30ms");
    CHECK(limited == figures(" --set 'traffic.objectives={ttft: 1s, tpot: 30ms}'"));
    CHECK(contains(limited, "attainment"));
  }
  const Outcome trains =
      roofcast.run({"estimate", example("llama-8b_training"), "--ttft-p95", "1s"});
  CHECK(trains.code == 2);
  CHECK(contains(trains.err, "--ttft-p95 is of serving"));
}

TEST_CASE("A mapping that is set is not said to be one tensor-parallel group", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  std::vector<std::string> command = {"estimate", example("llama-70b"), "--gpus", "8"};
  CHECK(contains(roofcast.run(command).err, "one tensor-parallel group"));
  command.insert(command.end(), {"--set", "deployment.tensor_parallel=4"});
  CHECK(!contains(roofcast.run(command).err, "one tensor-parallel group"));
}

TEST_CASE("A figure that cannot be read is one problem, not also one that is not known", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const Outcome outcome =
      roofcast.run({"estimate", example("llama-70b"), "--set", "system.chip.l2.capacity=2x"});
  CHECK(outcome.code == 2);
  CHECK(contains(outcome.err, "is not a number"));
  CHECK(!contains(outcome.err, "is not known of this chip"));
}

TEST_CASE("Beside a cost stands the price of a GPU and its source", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  roofcast.write("s.yaml", base::read_text(example("llama-70b")));
  roofcast.write("sweep.yaml",
                 "base: s.yaml\naxes: {system: [hgx_h100, hgx_h200]}\n"
                 "pareto: {minimize: [cost_usd_per_mtok], by: system}\n");
  const std::string price = "GPU price of hgx_h200: 3.59 USD/h (";
  CHECK(contains(roofcast.output({"estimate", "s.yaml"}), price));
  CHECK(contains(roofcast.output({"solve", "s.yaml", "--vary", "traffic.concurrency=1..64",
                                  "--until", "tpot_p95 <= 30ms"}),
                 price));
  const std::string swept = roofcast.output({"sweep", "sweep.yaml", "--csv", "o.csv"});
  CHECK(contains(swept, price));
  CHECK(contains(swept, "GPU price of hgx_h100: "));
}

}  // namespace roofcast::cli::cli_estimate_command
