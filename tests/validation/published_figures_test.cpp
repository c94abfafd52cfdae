// SPDX-License-Identifier: Apache-2.0
//
// Figures anyone can look up, checked without a data file.
#include <cmath>

#include "models/footprint.hpp"
#include "sim/estimate.hpp"
#include "tests/catch.hpp"
#include "tests/laws/catalog.hpp"
#include "workloads/parameters.hpp"

using namespace roofcast;

namespace {

// Median |TPOT error| allowed on measured servers; see measured_servers_test.cpp.
constexpr double kBound = 0.35;

// KV cache of one token on one rank, in bytes.
double cache_of_a_token(std::string_view model, std::string_view precision) {
  return models::cache_bytes(1.0, laws::model(model), laws::precision(precision), {}, 1).si();
}

double tpot_ms(std::string_view system, std::string_view stack, std::int64_t clients) {
  // InferenceX draws lengths uniformly from 80–100 % of 1024.
  const workloads::Traffic traffic{922, 922, clients, 0};
  sim::Scenario s{laws::platform(system), laws::model("llama-3.1-70b"), laws::precision("fp8"),
                  {8, 1, 1, 1, false},    laws::servings().front(),     traffic};
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

// InferenceX, Llama-3.1-70B in FP8, TP8, 1024 tokens in and out, mean TPOT (dump of 2026-04-06 in
// ai-dynamo/aiconfigurator@095f58a).
TEST_CASE("Llama-3.1-70B on eight H100 by vLLM has the published TPOT", "[validation]") {
  check_tpot("hgx_h100", "vllm", {{4, 9.11}, {8, 9.36}, {16, 11.39}, {32, 12.64}, {64, 15.45}});
}
TEST_CASE("Llama-3.1-70B on eight H200 by TensorRT-LLM has the published TPOT", "[validation]") {
  check_tpot("hgx_h200", "trtllm", {{4, 6.26}, {8, 6.72}, {16, 7.69}, {32, 9.30}, {64, 13.51}});
}
