// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/catch.hpp"
#include "tests/cli/program.hpp"

namespace roofcast::cli::cli_question_recommend_command {
namespace {

using nlohmann::json;

const std::vector<std::string> kQuestion = {
    "recommend", "--model", "llama-3.1-70b", "--precision", "fp8",      "--system", "hgx_h200",
    "--gpus",    "8",       "--input",       "1500",        "--output", "250",      "--quiet"};

std::vector<std::string> with(std::vector<std::string> more) {
  more.insert(more.begin(), kQuestion.begin(), kQuestion.end());
  return more;
}

json answer(const Program& roofcast, std::vector<std::string> more) {
  more.insert(more.end(), {"--format", "json"});
  return json::parse(roofcast.output(with(std::move(more))));
}

std::string refusal(const Program& roofcast, const std::vector<std::string>& arguments) {
  const Outcome outcome = roofcast.run(arguments);
  CHECK(outcome.code == 2);
  return outcome.err;
}

}  // namespace

TEST_CASE("The scenario that recommend saves has the figures of its answer", "[cli][long]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  for (const char* pools : {"one", "two"}) {
    const json found = answer(roofcast, {"--ttft-p95", "1s", "--tpot-p95", "30ms", "--pools", pools,
                                         "--no-replay", "--save", "best.yaml", "--force"});
    REQUIRE(found["found"] == true);
    const json& metrics = found["answers"][0]["metrics"];
    const json again = json::parse(roofcast.output({"estimate", "best.yaml", "--format", "json"}));
    for (const char* metric : {"ttft_p95_s", "tpot_p95_s", "cost_usd_per_mtok", "gpus",
                               "throughput_tok_per_s_per_gpu", "memory_b_per_gpu"}) {
      INFO(pools << " " << metric);
      CHECK(again[metric].get<double>() == metrics[metric].get<double>());
    }
    CHECK(contains(roofcast.output({"simulate", "best.yaml"}), "TTFT"));
  }
}

TEST_CASE("recommend says its answer, the runner-up, the price and the commands that start it",
          "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const std::string text = roofcast.output(with({"--ttft-p95", "1s", "--tpot-p95", "30ms"}));
  for (const char* part :
       {"clients searched", "at most 8 GPUs", "the least Cost with prompts",
        "USD/Mtok output, prompts included", "confirmed: the conditions hold in a replay of",
        "runner-up: hgx_h200", "third: hgx_h200", "is nearest to its limit", "decode server",
        "vllm serve MODEL --tensor-parallel-size", "--kv-cache-dtype fp8",
        "GPU price of hgx_h200: 3.59 USD/h", "the serving stack is vllm (no --stack was given)"}) {
    INFO(text);
    CHECK(contains(text, part));
  }
  const std::size_t others = text.find("no other precision was tried");
  REQUIRE(others != std::string::npos);
  const std::string proposed = text.substr(others, text.find('\n', others) - others);
  INFO(proposed);
  CHECK(contains(proposed, "fp8_block"));
  CHECK(contains(proposed, "w4a16"));
  CHECK(!contains(proposed, "nemotron"));  // formats of other models' checkpoints
  CHECK(!contains(proposed, "mxfp4_experts"));
}

TEST_CASE("What recommend answers is confirmed, within the budget and best first", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const json found =
      answer(roofcast, {"--rate", "4 /s", "--ttft-p95", "500ms", "--minimize", "gpus"});
  REQUIRE(found["answers"].size() >= 2);
  double before = 0.0;
  for (const json& row : found["answers"]) {
    CHECK(row["replay"]["verdict"] == "confirmed");
    CHECK(row["metrics"]["ttft_p95_s"].get<double>() <= 0.5);
    CHECK(row["metrics"]["gpus"].get<double>() <= 8.0);
    CHECK(row["metrics"]["gpus"].get<double>() >= before);
    before = row["metrics"]["gpus"].get<double>();
  }
}

TEST_CASE("The CSV of recommend has the columns of a sweep and no row beyond the budget",
          "[cli][long]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const json found = answer(roofcast, {"--ttft-p95", "1s", "-o", "rows.csv"});
  const base::CsvTable rows = base::parse_csv(roofcast.read("rows.csv"), "rows.csv");
  CHECK(rows.rows() == found["rows"].get<std::size_t>());
  std::size_t confirmed = 0;
  for (std::size_t row = 0; row < rows.rows(); ++row) {
    if (cell(rows, row, "fits") == "true") {
      CHECK(number(rows, row, "gpus") <= 8.0);
    }
    confirmed += cell(rows, row, "replay") == "confirmed" ? 1 : 0;
    CHECK((cell(rows, row, "replay") != "broken" || cell(rows, row, "meets") == "false"));
  }
  CHECK(confirmed >= found["answers"].size());
  CHECK(contains(roofcast.output({"pareto", "rows.csv", "--minimize", "cost_usd_per_mtok",
                                  "--minimize", "ttft_p95_s"}),
                 "TP"));
}

TEST_CASE("The page of recommend cites the rows that its CSV has in these places", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const json found = answer(roofcast, {"--tpot-p95", "30ms", "--pools", "one", "-o", "rows.csv",
                                       "--report", "page.html"});
  const base::CsvTable rows = base::parse_csv(roofcast.read("rows.csv"), "rows.csv");
  const std::string page = roofcast.read("page.html");
  const auto from = page.find("id=\"data\">") + 10;
  const json data = json::parse(page.substr(from, page.find("</script>", from) - from));
  CHECK(data["question"] == found["question"]);
  CHECK(data["total_rows"] == rows.rows());
  const std::string said = data["answer"][0];
  CHECK(contains(said, "the least Cost with prompts"));
  REQUIRE(data["best"].size() == 1);
  const auto open = said.rfind('[');
  const std::size_t cited = std::stoul(said.substr(open + 1));
  CHECK(contains(data["best"][0].get<std::string>(), fmt::format("[{}]", cited)));
  CHECK(cell(rows, cited - 1, "deployment") == found["answers"][0]["deployment"]);
  CHECK(cell(rows, cited - 1, "traffic.concurrency") ==
        fmt::format("{}", found["answers"][0]["traffic.concurrency"].get<std::string>()));
  const json& shown = data["points"][0];
  CHECK(data["rows"][shown["row"].get<std::size_t>()][0] == cited - 1);
  CHECK(shown["phases"].size() == 2);
}

TEST_CASE("A scenario file is the base of recommend, and the options say what differs", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const json found = json::parse(roofcast.output(
      {"recommend", example("llama-70b_arrivals"), "--gpus", "8", "--stack", "trtllm", "--where",
       "attainment >= 0.9", "--no-replay", "--format", "json", "--quiet"}));
  REQUIRE(found["found"] == true);
  CHECK(contains(found["question"].get<std::string>(), "4 requests a second"));
  CHECK(found["answers"][0]["serving.stack"] == "trtllm");
  CHECK(found["answers"][0]["metrics"]["attainment"].get<double>() >= 0.9);
  CHECK(contains(found["launch"].get<std::string>(), "trtllm-serve MODEL --tp_size"));
  CHECK(contains(found["notes"].dump(), "the deployment of the scenario is replaced"));
}

TEST_CASE("Each stack's commands have its own options, and attention DP is of all its ranks",
          "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const auto launch = [&](const char* stack) {
    return json::parse(roofcast.output({"recommend",
                                        "--model",
                                        "deepseek-v3",
                                        "--system",
                                        "hgx_h200",
                                        "--gpus",
                                        "8",
                                        "--input",
                                        "1000",
                                        "--output",
                                        "500",
                                        "--stack",
                                        stack,
                                        "--clients",
                                        "512",
                                        "--pools",
                                        "one",
                                        "--set",
                                        "serving.max_sequences=64",
                                        "--no-replay",
                                        "--format",
                                        "json",
                                        "--quiet"}))["launch"]
        .get<std::string>();
  };
  const std::string vllm = launch("vllm");
  CHECK(contains(vllm, "--max-num-seqs 64"));
  const std::string sglang = launch("sglang");
  CHECK(contains(sglang, "--mem-fraction-static 0.85"));
  CHECK(contains(sglang, "--tp-size 8"));
  CHECK(contains(launch("trtllm"), "--max_batch_size 64"));
  if (contains(sglang, "--dp-size 8")) {
    CHECK(contains(sglang, "--enable-dp-attention"));
    CHECK(contains(sglang, "--max-running-requests 512"));
  }
}

TEST_CASE("The manifest that recommend writes is that of the scenario that it saves", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  for (const char* pools : {"one", "two"}) {
    roofcast.output(
        with({"--tpot-p95", "30ms", "--pools", pools, "--no-replay", "--save", "best.yaml",
              "--kubernetes", "pods.yaml", "--image", "registry/vllm:1", "--force"}));
    roofcast.output({"estimate", "best.yaml", "--no-replay", "--kubernetes", "again.yaml",
                     "--image", "registry/vllm:1", "--force"});
    const auto objects = [&](const char* file) {
      const std::string text = roofcast.read(file);
      return text.substr(text.find("apiVersion"));
    };
    CHECK(objects("pods.yaml") == objects("again.yaml"));
    CHECK(contains(objects("pods.yaml"), "image: 'registry/vllm:1'"));
    CHECK(contains(roofcast.read("pods.yaml"), "Written by roofcast recommend."));
  }
}

TEST_CASE("No manifest is written of what cannot be started, and the reason is said",
          "[bad_input]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  roofcast.write("own.yaml", roofcast.output({"show", "stack", "vllm"}));
  CHECK(contains(refusal(roofcast, {"estimate", example("llama-70b"), "--stack", "own.yaml",
                                    "--no-replay", "--kubernetes", "pods.yaml"}),
                 "error: --kubernetes: vLLM: its options are not known here"));
  CHECK(contains(refusal(roofcast, {"estimate", example("llama-70b"), "--no-replay", "--kubernetes",
                                    "pods.yaml", "--image", "a\nb"}),
                 "an image with a line end has no place in a manifest"));
  CHECK_FALSE(std::filesystem::exists(roofcast.path("pods.yaml")));
}

TEST_CASE("recommend that finds nothing says what comes nearest and by how much it misses",
          "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const Outcome none =
      roofcast.run(with({"--ttft-p95", "20ms", "--pools", "one", "--strict", "--save", "no.yaml"}));
  CHECK(none.code == 3);
  CHECK(contains(none.out, "Nothing meets the conditions."));
  CHECK(contains(none.out,
                 "hgx_h200, one pool: nearest is fp8, TP8, clients 1, which misses "
                 "ttft_p95_s <= 0.02 by "));
  CHECK_FALSE(std::filesystem::exists(roofcast.path("no.yaml")));
  const Outcome too_small =
      roofcast.run({"recommend", "--model", "llama-3.1-405b", "--system", "hgx_h100", "--gpus", "2",
                    "--input", "100", "--output", "100"});
  CHECK(too_small.code == 0);
  CHECK(contains(too_small.out, "hgx_h100, one pool: weights, activations and reserve need"));
}

TEST_CASE("recommend refuses wrong names, units and options with their place", "[bad_input]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const std::string bare = refusal(roofcast, {"recommend", "--gpus", "8"});
  for (const char* option : {"--model", "--system", "--input", "--output"}) {
    CHECK(contains(bare, fmt::format("error: {} is needed, or a scenario file", option)));
  }
  const struct {
    std::vector<std::string> options;
    const char* message;
  } wrong[] = {
      {{"--model", "llama-3.1-7b"}, "no model is called \"llama-3.1-7b\"; did you mean"},
      {{"--system", "gb200_nvl7"}, "did you mean \"gb200_nvl72\""},
      {{"--system", "hgx_h200,,hgx_h100"}, "--system:1:10: error: expects a list without gaps"},
      {{"--system", "hgx_h200,hgx_h200"}, "--system:1:10: error: has hgx_h200 twice"},
      {{"--ttft-p95", "1"}, "--ttft-p95:1:1: error: \"1\" has no unit"},
      {{"--tpot-p95", "30 GB"}, "is a size, but a time is expected"},
      {{"--tpot-p95", "0s"}, "must be more than 0"},
      {{"--rate", "4"}, "traffic.arrivals.rate: \"4\" has no unit"},
      {{"--rate", "4 /s", "--clients", "3"}, "--rate or --clients, not both"},
      {{"--clients", "many"}, "--clients:1:21: error: traffic.concurrency"},
      {{"--precision", "fp9"}, "--precision:1:1: error: precision: no precision is called"},
      {{"--stack", "vlm"}, "no stack is called \"vlm\"; did you mean \"vllm\"?"},
      {{"--minimize", "costs"}, "--minimize: there is no metric \"costs\""},
      {{"--maximize", "ttft_p95_s"}, "ttft_p95_s is better when it is lower"},
      {{"--minimize", "cost", "--maximize", "throughput"}, "--minimize or --maximize, not both"},
      {{"--where", "ttft <= 1"}, "there is no metric \"ttft\""},
      {{"--where", "step_s <= 1"}, "no point has a value of step_s"},
      {{"--set", "deployment.tensor_parallel=2"}, "deployment.tensor_parallel: is searched"},
      {{"--system", "hgx_h200,hgx_b200", "--set", "system.chip.tensor.fp4=x2"},
       "none here (system: hgx_h200)"},
      {{"--gpus", "0"}, "not in range 1 to 1000000"},
      {{"--gpus", "4097"}, "--gpus: at most 4096 serve"},
  };
  for (const auto& each : wrong) {
    std::vector<std::string> arguments = kQuestion;
    for (std::size_t i = 0; i < each.options.size(); i += 2) {
      const auto known = std::find(arguments.begin(), arguments.end(), each.options[i]);
      if (known != arguments.end()) {
        *(known + 1) = each.options[i + 1];
      } else {
        arguments.insert(arguments.end(), {each.options[i], each.options[i + 1]});
      }
    }
    const std::string message = refusal(roofcast, arguments);
    INFO(message);
    CHECK(contains(message, each.message));
  }
}

TEST_CASE("A knob of the system is changed in every system that recommend tries", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const auto cost = [&](const std::string& factor) {
    return answer(roofcast, {"--tpot-p95", "20ms", "--no-replay", "--pools", "one", "--set",
                             "system.chip.hbm.bandwidth=" +
                                 factor})["answers"][0]["metrics"]["cost_usd_per_mtok"]
        .get<double>();
  };
  CHECK(cost("x1.5") < cost("x1"));
}

namespace {

constexpr const char* kTrained =
    "system: hgx_h100\nmodel: llama-3.1-8b\nprecision: bf16\ndeployment: {tensor_parallel: "
    "1}\ntraining: {global_batch: 64, sequence_length: 4096, gradients: bf16, trainer: megatron}\n";

}  // namespace

TEST_CASE("The best mapping of a training is no slower than any that is tried, and is saved",
          "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  roofcast.write("trained.yaml", kTrained);
  const std::vector<std::string> question = {"recommend", "trained.yaml", "--gpus", "16",
                                             "--quiet"};
  std::vector<std::string> as_json = question;
  as_json.insert(as_json.end(), {"--format", "json", "--save", "best.yaml", "-o", "rows.csv"});
  const json found = json::parse(roofcast.output(as_json));
  REQUIRE(found["found"] == true);
  const json& best = found["answers"][0];
  const json saved = json::parse(roofcast.output({"estimate", "best.yaml", "--format", "json"}));
  for (const char* metric : {"step_s", "mfu", "memory_b_per_gpu", "gpus"}) {
    INFO(metric);
    CHECK(saved[metric].get<double>() == Approx(best["metrics"][metric].get<double>()));
  }
  CHECK(best["metrics"]["gpus"] == 16);
  for (const json& row : found["answers"]) {
    CHECK(best["metrics"]["step_s"].get<double>() <= row["metrics"]["step_s"].get<double>());
    CHECK(found["least_memory"]["metrics"]["memory_b_per_gpu"].get<double>() <=
          row["metrics"]["memory_b_per_gpu"].get<double>());
  }
  for (const char* mapping :
       {"{data_parallel: 16}", "{tensor_parallel: 2, data_parallel: 8, sequence_parallel: true}",
        "{pipeline_parallel: 2, data_parallel: 8}"}) {
    INFO(mapping);
    const json tried = json::parse(
        roofcast.output({"estimate", "best.yaml", "--set", std::string("deployment=") + mapping,
                         "--set", "training.virtual_stages=1", "--format", "json"}));
    if (tried["fits"] == true) {
      CHECK(best["metrics"]["step_s"].get<double>() <=
            tried["step_s"].get<double>() * (1.0 + 1e-9));
    }
  }
  const std::string text = roofcast.output(question);
  CHECK(contains(text, "the least Step"));
  CHECK(contains(text, "the least memory"));
  CHECK(contains(text, "largest loss"));
}

TEST_CASE("A training's knob of a listed system or precision is changed in each of the list",
          "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  roofcast.write("trained.yaml", kTrained);
  const auto step = [&](std::vector<std::string> more) {
    more.insert(more.begin(),
                {"recommend", "trained.yaml", "--gpus", "16", "--quiet", "--format", "json"});
    return json::parse(roofcast.output(more))["answers"][0]["metrics"]["step_s"].get<double>();
  };
  const std::vector<std::string> slower = {"--set",
                                           "system.scale_out.bandwidth_per_direction=x0.01"};
  std::vector<std::string> listed = {"--system", "h100_cluster_128"};
  const double before = step(listed);
  listed.insert(listed.end(), slower.begin(), slower.end());
  CHECK(step(listed) > before);
  CHECK(contains(refusal(roofcast, {"recommend", "trained.yaml", "--gpus", "16", "--precision",
                                    "bf16,fp8", "--set", "precision=bf16"}),
                 "has an option of its own"));
  CHECK(step({"--precision", "fp8", "--set", "precision.weights=bf16", "--set",
              "precision.activations=bf16"}) > step({"--precision", "fp8"}));
}

TEST_CASE("Memory can be bounded in a search for a mapping, and serving's options are refused",
          "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  roofcast.write("trained.yaml", kTrained);
  const auto search = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"recommend", "trained.yaml", "--gpus", "8", "--quiet"});
    return more;
  };
  const json bounded = json::parse(roofcast.output(
      search({"--where", "memory_b_per_gpu <= 3e10", "--maximize", "mfu", "--format", "json"})));
  REQUIRE(bounded["found"] == true);
  CHECK(bounded["missed"].get<int>() > 0);
  CHECK(bounded["answers"][0]["metrics"]["memory_b_per_gpu"].get<double>() <= 3e10);
  const std::string none = roofcast.output(search({"--where", "step_s <= 1e-6"}));
  CHECK(contains(none, "Nothing meets the conditions."));
  CHECK(contains(refusal(roofcast, search({"--input", "1000"})),
                 "--input is of serving, and the scenario trains"));
  CHECK(contains(refusal(roofcast, search({"--kubernetes", "pods.yaml"})),
                 "--kubernetes is of serving, and the scenario trains"));
  CHECK(contains(refusal(roofcast, search({"--minimize", "mfu"})),
                 "mfu is better when it is higher"));
}

TEST_CASE("recommend takes the precisions of its option where the model names none", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  roofcast.write("config.json",
                 R"({"architectures": ["LlamaForCausalLM"], "model_type": "llama",
                     "hidden_size": 4096, "intermediate_size": 14336, "num_attention_heads": 32,
                     "num_hidden_layers": 32, "num_key_value_heads": 8, "vocab_size": 128256,
                     "max_position_embeddings": 8192})");
  const std::vector<std::string> question = {
      "recommend", "--model", "config.json", "--system", "hgx_h200", "--gpus",     "1",
      "--input",   "1000",    "--output",    "100",      "--quiet",  "--no-replay"};
  CHECK(contains(refusal(roofcast, question), "the section \"precision\" is required"));
  std::vector<std::string> answered = question;
  answered.insert(answered.end(), {"--precision", "fp8,bf16", "--format", "json"});
  const json found = json::parse(roofcast.output(answered));
  REQUIRE(found["found"] == true);
  CHECK(found["answers"][0]["precision"] == "fp8");
}

}  // namespace roofcast::cli::cli_question_recommend_command
