// SPDX-License-Identifier: Apache-2.0
#include "calibrate/servers/deepseek_servers.hpp"

#include "tests/catch.hpp"

namespace roofcast::calibrate {
namespace {

const workloads::Precision& nvfp4() {
  static const workloads::Precision precision = [] {
    workloads::Precision p;
    p.id = "nvfp4";
    return p;
  }();
  return precision;
}

MeasuredServer server(std::int64_t clients, std::int64_t data_parallel = 1) {
  MeasuredServer s;
  s.stack = "trtllm";
  s.chip = "b200_sxm";
  s.precision = &nvfp4();
  s.mapping.data_parallel = data_parallel;
  s.traffic.concurrency = clients;
  s.stream.input.most = 1024;
  s.stream.output.most = 1024;
  return s;
}

}  // namespace

TEST_CASE("A measured server drafts as deep as its settings say", "[unit]") {
  MeasuredServer s = server(16);
  s.stack = "sglang";
  CHECK(speculating(s).serving.speculation.draft_tokens == 2);
  s.stack = "trtllm";
  const workloads::Speculation three = speculating(s).serving.speculation;
  CHECK(three.draft_tokens == 3);
  CHECK(three.method == workloads::DraftMethod::mtp);
  CHECK(three.tokens_per_iteration() > 2.5);
  CHECK(three.tokens_per_iteration() < 3.0);
  s.mapping.data_parallel = 8;
  CHECK(speculating(s).serving.speculation.tokens_per_iteration() == Approx(1.85));
  // What was measured has no part in it.
  s.tpot_ms = 1.0;
  CHECK(speculating(s).serving.speculation.draft_tokens == 1);
}

TEST_CASE("A step of TensorRT-LLM's DeepSeek holds one prompt beside its decodes where it must",
          "[unit]") {
  const auto step = [](MeasuredServer s, const char* version) {
    configure_deepseek(s, version);
    return s.serving.limits.max_tokens_per_iteration;
  };
  CHECK(step(server(16), "1.2.0rc6.post2") == 8192);
  CHECK(step(server(16), "1.1.0rc2.post2") == 1152);  // 1024 + 16 + 64, in units of 64
  CHECK(step(server(16), "") == 1152);
  MeasuredServer long_prompts = server(64);
  long_prompts.stream.input.most = 8192;
  CHECK(step(long_prompts, "1.2.0rc6.post2") == 8320);
  const MeasuredServer predicting = speculating(server(16));
  CHECK(predicting.serving.limits.max_sequences == 16);
  CHECK(predicting.serving.limits.max_tokens_per_iteration == 1152);  // 4 · 16 + 1024 + 64
}

TEST_CASE("Whether a DeepSeek server predicted is known from its image", "[unit]") {
  CHECK(predicts(server(16), "1.2.0rc6.post2") == Predicts::no);
  CHECK(predicts(server(16), "1.2.0rc6.post3") == Predicts::yes);
  CHECK(predicts(server(16), "") == Predicts::perhaps);
  MeasuredServer h200 = server(128, 8);
  h200.chip = "h200_sxm";
  CHECK(predicts(h200, "1.1.0rc2.post2") == Predicts::yes);
  h200.traffic.concurrency = 64;
  CHECK(predicts(h200, "1.1.0rc2.post2") == Predicts::perhaps);
}

}  // namespace roofcast::calibrate
