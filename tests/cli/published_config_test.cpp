// SPDX-License-Identifier: Apache-2.0
//
// A config.json as the user meets it: on the command line, in a scenario and in a sweep.
#include <string>

#include "tests/catch.hpp"
#include "tests/cli/program.hpp"

namespace roofcast::cli::cli_published_config {
namespace {

// Llama-3.1-8B, of Meta's model card.
const std::string kLlama = R"({
  "architectures": ["LlamaForCausalLM"],
  "model_type": "llama",
  "hidden_size": 4096,
  "intermediate_size": 14336,
  "num_hidden_layers": 32,
  "num_attention_heads": 32,
  "num_key_value_heads": 8,
  "vocab_size": 128256,
  "max_position_embeddings": 131072,
  "rope_theta": 500000.0,
  "torch_dtype": "bfloat16"
}
)";

std::string after_title(const std::string& text) { return text.substr(text.find('\n')); }

}  // namespace

TEST_CASE("check says what a published configuration is, with a note on what is left out",
          "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  roofcast.write("config.json", kLlama);
  CHECK(roofcast.output({"check", "config.json"}) ==
        "config.json: ok, LlamaForCausalLM, 8.03 B parameters, 7.505 B active, 131.1 kB of cache a "
        "token (bf16)\n");
  roofcast.write("gptq.json",
                 kLlama.substr(0, kLlama.rfind('}')) +
                     ", \"quantization_config\": {\"quant_method\": \"gptq\", \"bits\": 3}}");
  CHECK(contains(roofcast.output({"check", "gptq.json"}), "(in bf16: no precision is named)\n"));
  roofcast.write("image.json", "{\"model_type\": \"llava\", \"text_config\": " + kLlama + "}\n");
  const std::string text = roofcast.output({"check", "image.json"});
  CHECK(contains(text, "8.03 B parameters"));
  CHECK(contains(text, "  note: Only the language model (text_config) is described"));
}

TEST_CASE("show prints a published configuration as a document that gives the same forecast",
          "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  roofcast.write("config.json", kLlama);
  const std::string text = roofcast.output({"show", "model", "config.json"});
  CHECK(contains(text, "\n  kv_heads: 8\n"));
  roofcast.write("mine.yaml", text);
  const auto estimate = [&](const std::string& model) {
    return roofcast.output({"estimate", example("llama-70b"), "--set", "model=" + model});
  };
  CHECK(estimate("mine.yaml") == estimate("config.json"));
  CHECK(after_title(estimate("config.json")) == after_title(estimate("llama-3.1-8b")));
}

TEST_CASE("A scenario beside a published configuration runs in the precision it names", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  roofcast.write("config.json", kLlama);
  roofcast.write("mine.yaml",
                 "system: hgx_h200\nmodel: ./config.json\ndeployment: {tensor_parallel: 1}\n"
                 "serving: {stack: vllm}\n"
                 "traffic: {input_tokens: 1024, output_tokens: 128, concurrency: 8}\n");
  CHECK(contains(roofcast.output({"estimate", "mine.yaml"}), "LlamaForCausalLM on HGX"));
  CHECK(contains(roofcast.output({"estimate", "mine.yaml"}), "bf16"));
}

TEST_CASE("A sweep goes over a published configuration and the catalog", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  roofcast.write("config.json", kLlama);
  roofcast.write("sweep.yaml", "base: " + example("llama-70b") +
                                   "\naxes: {model: [config.json, llama-3.1-8b, llama-3.1-70b]}\n");
  roofcast.output({"sweep", "sweep.yaml", "--csv", "o.csv", "--quiet"});
  const base::CsvTable table = base::read_csv(roofcast.path("o.csv"));
  REQUIRE(table.rows() == 3);
  CHECK(cell(table, 0, "model") == "config.json");
  CHECK(number(table, 0, "tpot_mean_s") == number(table, 1, "tpot_mean_s"));
  CHECK(number(table, 0, "tpot_mean_s") < number(table, 2, "tpot_mean_s"));
}

TEST_CASE("A mistake in a published configuration points into its file", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  std::string bad = kLlama;
  bad.replace(bad.find("\"num_key_value_heads\": 8"), 24, "\"num_key_value_heads\": 5");
  roofcast.write("config.json", bad);
  const Outcome heads = roofcast.run({"check", "config.json"});
  CHECK(heads.code == 2);
  CHECK(
      contains(heads.err, "config.json:8:26: error: attention.kv_heads: must divide query_heads"));
  const Outcome estimate =
      roofcast.run({"estimate", example("llama-70b"), "--set", "model=config.json"});
  CHECK(estimate.code == 2);
  CHECK(contains(estimate.err, "config.json:8:26: error: model.attention.kv_heads"));
  bad.replace(bad.find("\"llama\""), 7, "\"lama\"");
  bad.replace(bad.find("LlamaForCausalLM"), 16, "LamaForCausalLM");
  roofcast.write("unknown.json", bad);
  const Outcome unknown = roofcast.run({"show", "model", "unknown.json"});
  CHECK(unknown.code == 2);
  CHECK(unknown.out.empty());
  CHECK(contains(unknown.err, "unknown.json:3:17: error: model_type: models of type \"lama\""));
  CHECK(contains(unknown.err, "the nearest that is: \"llama\""));
  CHECK(contains(unknown.err, "nemotron_h"));
}

}  // namespace roofcast::cli::cli_published_config
