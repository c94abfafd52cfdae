// SPDX-License-Identifier: Apache-2.0
#include "calibrate/servers/server_settings.hpp"

#include "calibrate/servers/row_settings.hpp"
#include "tests/catch.hpp"

namespace roofcast::calibrate::unit_calibrate_server_settings {
namespace {

// DeepSeek in NVFP4 by TensorRT-LLM on eight B200, of InferenceX, 1024/1024.
Facts server(std::int64_t clients, std::int64_t data_parallel = 1) {
  Facts facts;
  for (const auto& [name, text] : {std::pair{"source", "inferencex"},
                                   {"mode", "agg"},
                                   {"model", "deepseek-v3"},
                                   {"chip", "b200_sxm"},
                                   {"chip.architecture", "blackwell"},
                                   {"stack", "trtllm"},
                                   {"version", ""},
                                   {"year", ""},
                                   {"date", ""},
                                   {"input", "1024"},
                                   {"output", "1024"},
                                   {"gpus", "8"},
                                   {"tensor_parallel", "1"},
                                   {"expert_parallel", "1"},
                                   {"table.model_path", ""},
                                   {"table.precision", "fp4"},
                                   {"table.gemm_quant_mode", ""}}) {
    facts.set(name, text);
  }
  facts.set("clients", clients);
  facts.set("data_parallel", data_parallel);
  return facts;
}

Facts with(Facts facts, std::string_view name, std::string_view text) {
  facts.set(name, text);
  return facts;
}

const ServerSettings& settings(const Facts& facts) {
  static ServerConventions conventions;
  return conventions.of(*facts.find("stack"), facts);
}

}  // namespace

TEST_CASE("A measured server drafts as deep as its settings say", "[unit]") {
  const auto speculation = [](const Facts& facts) {
    return settings(with(facts, "run.speculates", "yes")).serving.speculation;
  };
  CHECK(speculation(with(server(16), "stack", "sglang")).draft_tokens == 2);
  const workloads::Speculation three = speculation(server(16));
  CHECK(three.draft_tokens == 3);
  CHECK(three.method == workloads::DraftMethod::mtp);
  CHECK(three.tokens_per_iteration() > 2.5);
  CHECK(three.tokens_per_iteration() < 3.0);
  CHECK(speculation(server(16, 8)).tokens_per_iteration() == Approx(1.85));
  CHECK(!settings(server(16)).serving.speculation.drafts());
}

TEST_CASE("A step of TensorRT-LLM's DeepSeek holds one prompt beside its decodes where it must",
          "[unit]") {
  const auto step = [](const Facts& facts, std::int64_t clients, std::int64_t prompt) {
    return settings(facts).of(clients, 1, prompt).limits.max_tokens_per_iteration;
  };
  const auto of = [](const char* version, std::int64_t clients = 16) {
    return with(server(clients), "version", version);
  };
  CHECK(step(of("1.2.0rc6.post2"), 16, 1024) == 8192);
  CHECK(step(of("1.1.0rc2.post2"), 16, 1024) == 1152);  // 1024 + 16 + 64, in units of 64
  CHECK(step(of(""), 16, 1024) == 1152);
  CHECK(step(with(of("1.2.0rc6.post2", 64), "input", "8192"), 64, 8192) == 8320);
  const auto predicting =
      settings(with(server(16), "run.speculates", "yes")).of(16, 1, 1024).limits;
  CHECK(predicting.max_sequences == 16);
  CHECK(predicting.max_tokens_per_iteration == 1152);  // 4 · 16 + 1024 + 64
}

TEST_CASE("Whether a DeepSeek server predicted is known from its image, its date and its clients",
          "[unit]") {
  const auto speculates = [](const Facts& facts) { return settings(facts).run.speculates; };
  CHECK(speculates(with(server(16), "version", "1.2.0rc6.post2")) == Speculates::no);
  CHECK(speculates(with(server(16), "version", "1.2.0rc6.post3")) == Speculates::yes);
  CHECK(speculates(with(server(16), "stack", "vllm")) == Speculates::no);
  CHECK(speculates(with(server(16), "date", "20251215")) == Speculates::no);
  CHECK(speculates(with(server(16), "date", "20260114")) == Speculates::yes);
  CHECK(speculates(with(server(16), "date", "20260128")) == Speculates::perhaps);
  const auto sglang = [&](std::int64_t clients, const char* precision, const char* date) {
    return with(with(with(server(clients), "stack", "sglang"), "table.precision", precision),
                "date", date);
  };
  CHECK(speculates(sglang(64, "fp4", "20260325")) == Speculates::no);
  CHECK(speculates(sglang(64, "fp8", "20251118")) == Speculates::no);
  CHECK(speculates(sglang(64, "fp8", "20260325")) == Speculates::perhaps);
  CHECK(speculates(sglang(128, "fp8", "20260325")) == Speculates::yes);
  CHECK(speculates(with(sglang(64, "fp8", "20260325"), "source", "inferencex 2026-04-27")) ==
        Speculates::no);
}

TEST_CASE("A server of SGLang began cold until its client warmed it up", "[unit]") {
  const auto cold = [](const char* stack, const char* date) {
    return settings(with(with(server(16), "stack", stack), "date", date)).run.began_cold;
  };
  CHECK(cold("sglang", "20251110"));
  CHECK_FALSE(cold("sglang", "20260325"));
  CHECK_FALSE(cold("trtllm", "20251110"));
}

TEST_CASE("Rows whose client had more connections than its server had places are left out",
          "[unit]") {
  RowConventions conventions;
  const auto unknown = [&](std::int64_t clients, const char* date) {
    Facts facts = with(with(with(server(clients), "stack", "vllm"), "model", "gpt-oss-120b"),
                       "chip", "h100_sxm");
    facts = with(facts, "date", date);
    facts.set("decode_ranks", "");
    return conventions.of(facts).unknown_places;
  };
  CHECK(unknown(512, "20251205"));
  CHECK_FALSE(unknown(512, "20260327"));
  CHECK_FALSE(unknown(64, "20251205"));
}

TEST_CASE(
    "Experts in parallel are not taken for attention in parallel where no configuration asks for "
    "it",
    "[unit]") {
  RowConventions conventions;
  const auto attention = [&](const char* precision, const char* tp, std::int64_t clients,
                             const char* date) {
    Facts facts = with(with(with(server(clients), "stack", "vllm"), "model", "minimax-m2"), "chip",
                       "b200_sxm");
    facts =
        with(with(with(facts, "table.precision", precision), "table.tp_size", tp), "date", date);
    facts.set("version", "0.19.0");
    facts.set("decode_ranks", "");
    return conventions.of(facts).attention_dp;
  };
  CHECK(attention("fp8", "4", 256, "20260422") == AttentionDp::none);
  CHECK(attention("fp4", "4", 128, "20260422") == AttentionDp::none);
  CHECK(attention("fp4", "2", 256, "20260408") == AttentionDp::none);
  CHECK(attention("fp4", "2", 256, "20260422") == AttentionDp::all_or_none);
  CHECK(attention("fp4", "2", 512, "20260408") == AttentionDp::all_or_none);
}

TEST_CASE(
    "What InferenceX's scripts chose by the number of clients is known where rows do not say it",
    "[unit]") {
  RowConventions conventions;
  const auto row = [&](std::int64_t clients, const char* version, const char* tp) {
    Facts facts = with(with(server(clients), "version", version), "table.tp_size", tp);
    facts.set("decode_ranks", "");
    return conventions.of(facts);
  };
  CHECK(row(256, "", "8").attention_dp == AttentionDp::all);
  CHECK(row(128, "", "8").attention_dp == AttentionDp::all_or_none);
  CHECK(row(256, "1.2.0rc6.post2", "8").attention_dp == AttentionDp::all_or_none);
  CHECK(row(16, "", "8").whole_experts);
  CHECK_FALSE(row(16, "", "4").whole_experts);
  CHECK(row(64, "", "4").whole_experts);
  CHECK_FALSE(row(64, "1.2.0rc6.post2", "4").whole_experts);
}

TEST_CASE("Lengths of InferenceX are 90 % of nominal, and a vendor's are nominal", "[unit]") {
  const RunSettings& inferencex = settings(server(16)).run;
  CHECK(inferencex.input.mean(1024) == 922);
  CHECK(inferencex.input.of(1024).least == 819);
  CHECK(inferencex.input.of(1024).most == 1024);
  const RunSettings& vendor = settings(with(server(16), "source", "vendor")).run;
  CHECK(vendor.input.mean(1000) == 1000);
  CHECK(vendor.output.of(1000).least == 1000);
}

TEST_CASE("gpt-oss multiplies its experts in FP8 on Blackwell alone, whatever the row says",
          "[unit]") {
  const Facts gpt_oss = with(server(16), "model", "gpt-oss-120b");
  CHECK(settings(gpt_oss).precision->id == "mxfp4_experts_fp8");
  CHECK(settings(with(gpt_oss, "chip.architecture", "hopper")).precision->id == "mxfp4_experts");
  CHECK(!settings(with(server(16), "table.precision", "ternary")).precision);
}

}  // namespace roofcast::calibrate::unit_calibrate_server_settings
