// SPDX-License-Identifier: Apache-2.0
//
// Figures anyone can look up, checked without a data file.
#include <cmath>

#include "models/footprint.hpp"
#include "sim/estimate.hpp"
#include "sim/scenario/sections.hpp"
#include "tests/catch.hpp"
#include "tests/laws/catalog.hpp"
#include "workloads/architecture/parameters.hpp"

namespace roofcast::validation_published_figures {

namespace {

// Median |TPOT error| allowed on measured servers; see measured_servers_test.cpp.
constexpr double kBound = 0.35;

// Weights of the whole model on one rank with its multi-token-prediction modules in bf16, in bytes.
double checkpoint_of(std::string_view model, std::string_view precision) {
  const workloads::Architecture& architecture = laws::model(model);
  const double modules = 2.0 * workloads::parameters(architecture).mtp;
  return models::weight_bytes(architecture, laws::precision(precision), {}).si() + modules;
}

// Recurrent states of one sequence in fp32 without those of the convolutions, in bytes.
double states_of_a_sequence(std::string_view model, double convolution_elements) {
  return models::state_bytes(laws::model(model), laws::precision("bf16"), {}).si() -
         2.0 * convolution_elements;
}

// KV cache of one token on one rank, in bytes.
double cache_of_a_token(std::string_view model, std::string_view precision) {
  return models::cache_bytes(1.0, laws::model(model), laws::precision(precision), {}, 1).si();
}

double tpot_ms(std::string_view system, std::string_view stack, std::int64_t clients) {
  // InferenceX draws lengths uniformly from 80–100 % of 1024.
  sim::Scenario s;
  s.platform = laws::platform(system);
  s.model = laws::model("llama-3.1-70b");
  s.precision = laws::precision("fp8");
  s.deployment.mapping.tensor_parallel = 8;
  s.traffic.input_tokens = 922;
  s.traffic.output_tokens = 922;
  s.traffic.concurrency = clients;
  for (const workloads::Serving& serving : laws::servings()) {
    if (serving.stack.id == stack) {
      s.serving = serving;
    }
  }
  REQUIRE(s.serving.stack.id == stack);
  sim::Workspace workspace;
  const auto e = sim::estimate(sim::view(s), workspace);
  REQUIRE(e.fits());
  return e.steady.tpot.si() * 1e3;
}

struct Measured {
  std::int64_t clients;
  double tpot_ms;
};

void check_tpot(std::string_view system, std::string_view stack,
                const std::vector<Measured>& published) {
  for (const Measured& point : published) {
    const double predicted = tpot_ms(system, stack, point.clients);
    WARN(system << " " << stack << ", " << point.clients << " clients: TPOT " << predicted
                << " ms, measured " << point.tpot_ms);
    CHECK(std::abs(predicted / point.tpot_ms - 1.0) <= kBound);
  }
}

}  // namespace

// Model cards and papers: Llama 3 (arXiv 2407.21783), DeepSeek-V3 (arXiv 2412.19437: 671B, 37B
// active), Qwen3 (arXiv 2505.09388), gpt-oss (arXiv 2508.10925: 116.8B, 5.1B active).
TEST_CASE("Models have the published number of parameters", "[validation]") {
  struct Published {
    std::string_view model;
    double billions, tolerance;
  };
  for (const auto& [model, billions, tolerance] :
       {Published{"llama-3.1-8b", 8.03, 0.01}, Published{"llama-3.1-70b", 70.6, 0.1},
        Published{"llama-3.1-405b", 405.0, 1.0}, Published{"deepseek-v3", 671.0, 1.0},
        Published{"qwen3-32b", 32.8, 0.1}, Published{"qwen3-235b-a22b", 235.0, 1.0},
        Published{"gpt-oss-120b", 116.8, 0.1}}) {
    INFO(model);
    CHECK(std::abs(workloads::parameters(laws::model(model)).total() / 1e9 - billions) <=
          tolerance);
  }
}

// "Insights into DeepSeek-V3" (arXiv 2505.09343), table 1, bf16: DeepSeek-V3 70.272 KB, Llama-3.1
// 405B 516.096 KB a token. Llama-3.1-70B by hand: 2 · 80 layers · 8 heads · 128 · 2 B.
TEST_CASE("A token's KV cache has the published size", "[validation]") {
  CHECK(cache_of_a_token("deepseek-v3", "bf16") == Approx(70'272.0));
  CHECK(cache_of_a_token("llama-3.1-405b", "bf16") == Approx(516'096.0));
  CHECK(cache_of_a_token("llama-3.1-70b", "bf16") == Approx(327'680.0));
  CHECK(cache_of_a_token("llama-3.1-70b", "fp8") == Approx(163'840.0));
}

// Every value of the published checkpoint (560 524 603 904, NVIDIA-NeMo/Megatron-Bridge pull request
// 5809) but what the parameters leave out: 512 biases of each of 49 routers.
TEST_CASE("Nemotron-3-Ultra has every parameter of its checkpoint", "[validation]") {
  const auto count = workloads::parameters(laws::model("nemotron-3-ultra-550b-a55b"));
  CHECK(count.total() + count.mtp == 560'524'603'904.0 - 49.0 * 512.0);
}

// Bytes of the tensors in the published files: Ultra in bf16 as above and in NVFP4
// (doublewordai/inference-lab@7975527 catalog/models/nemotron-3-ultra-550b.toml), Super and Nano
// (6ixLabs-AI/dgpp@7cc561a tests/unit/nemotron_binding_test.cpp), gpt-oss
// (doublewordai/inference-lab@6e68c19 catalog/models/gpt-oss-120b.toml). Not described are Ultra's
// routers in fp32, what of Super's shared experts and Mamba projections stays in bf16, and gpt-oss's
// biases.
TEST_CASE("Checkpoints have the published size in the precision they were published in",
          "[validation]") {
  struct Published {
    std::string_view model, precision;
    double bytes, tolerance;
  };
  for (const auto& [model, precision, bytes, tolerance] :
       {Published{"nemotron-3-ultra-550b-a55b", "bf16", 1'121'049'257'984.0, 0.0001},
        Published{"nemotron-3-ultra-550b-a55b", "nemotron3_nvfp4", 352'284'061'280.0, 0.002},
        Published{"nemotron-3-super-120b-a12b", "nemotron3_nvfp4", 80'297'329'824.0, 0.02},
        Published{"nemotron-3-nano-30b-a3b", "nemotron3_nano_nvfp4", 19'339'781'632.0, 0.005},
        Published{"gpt-oss-120b", "mxfp4_experts", 65'248'815'744.0, 0.002}}) {
    INFO(model << " " << precision);
    CHECK(std::abs(checkpoint_of(model, precision) / bytes - 1.0) <= tolerance);
  }
}

// Nemotron 3 Ultra report: its fp32 states exceed the FP8 KV cache up to 64K tokens. Convolution
// states by hand: layers · (inner + 2 · groups · state) · 3.
TEST_CASE("Recurrent states have the published size", "[validation]") {
  const double ultra = states_of_a_sequence("nemotron-3-ultra-550b-a55b", 48.0 * 18'432.0 * 3.0);
  CHECK(ultra == Approx(48.0 * 256.0 * 64.0 * 128.0 * 4.0));
  CHECK(ultra ==
        Approx(65'536.0 * cache_of_a_token("nemotron-3-ultra-550b-a55b", "nemotron3_nvfp4")));
  CHECK(states_of_a_sequence("nemotron-3-super-120b-a12b", 40.0 * 10'240.0 * 3.0) ==
        Approx(167'772'160.0));
  CHECK(states_of_a_sequence("nemotron-3-nano-30b-a3b", 23.0 * 6'144.0 * 3.0) ==
        Approx(48'234'496.0));
}

// InferenceX, Llama-3.1-70B in FP8, TP8, 1024 tokens in and out, mean TPOT (dump of 2026-04-06 in
// ai-dynamo/aiconfigurator@095f58a).
TEST_CASE("Llama-3.1-70B on eight H100 by vLLM has the published TPOT", "[validation]") {
  check_tpot("hgx_h100", "vllm", {{4, 9.11}, {8, 9.36}, {16, 11.39}, {32, 12.64}, {64, 15.45}});
}
TEST_CASE("Llama-3.1-70B on eight H200 by TensorRT-LLM has the published TPOT", "[validation]") {
  check_tpot("hgx_h200", "trtllm", {{4, 6.26}, {8, 6.72}, {16, 7.69}, {32, 9.30}, {64, 13.51}});
}

}  // namespace roofcast::validation_published_figures
