// SPDX-License-Identifier: Apache-2.0
#include "workloads/architecture/architecture.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "sim/scenario/knob.hpp"
#include "sim/scenario/references.hpp"
#include "sim/scenario/section_readers.hpp"
#include "tests/catch.hpp"
#include "tests/laws/catalog.hpp"
#include "workloads/architecture/parameters.hpp"

namespace roofcast::unit_workloads_architecture {

// Llama-3.1-8B, every tensor of the checkpoint:
//   embedding and head      2 · 128256·4096                                      = 1 050 673 152
//   attention, a layer      4096·(4096 + 2·1024) + 4096·4096 = 41 943 040, × 32  = 1 342 177 280
//   mlp, a layer            3·4096·14336 = 176 160 768, × 32                     = 5 637 144 576
//   norms                   32·2·4096 + 4096                                     =       266 240
TEST_CASE("Llama-3.1-8B has the 8 030 261 248 parameters of its checkpoint", "[unit]") {
  const auto count = workloads::parameters(laws::model("llama-3.1-8b"));
  CHECK(count.embedding + count.head == 1'050'673'152.0);
  CHECK(count.layers.attention == 1'342'177'280.0);
  CHECK(count.layers.mlp == 5'637'144'576.0);
  CHECK(count.layers.norms + count.final_norm == 266'240.0);
  CHECK(count.layers.experts + count.layers.shared + count.layers.router == 0.0);
  CHECK(count.total() == 8'030'261'248.0);
}

// DeepSeek-V3, one layer's latent attention:
//   query down, up          7168·1536 + 1536·128·(128+64)     =  11 010 048 + 37 748 736
//   latent down, up         7168·(512+64) + 512·128·(128+128) =   4 128 768 + 16 777 216
//   output                  128·128·7168                      = 117 440 512
// and one MoE layer: 256 routed and 1 shared expert of 3·7168·2048 = 44 040 192, a router 256·7168.
TEST_CASE("DeepSeek-V3 has the parameters of its latent attention and its experts", "[unit]") {
  const auto count = workloads::parameters(laws::model("deepseek-v3"));
  CHECK(count.layers.attention == 61.0 * 187'105'280.0);
  CHECK(count.layers.mlp == 3.0 * 3.0 * 7168.0 * 18432.0);
  CHECK(count.layers.experts == 58.0 * 256.0 * 44'040'192.0);
  CHECK(count.layers.shared == 58.0 * 44'040'192.0);
  CHECK(count.layers.router == 58.0 * 256.0 * 7168.0);
}

namespace {

// Half a unit of the last digit of a published figure: "1.7e9" may be anything from 1.65e9.
double rounding_of(double published) {
  const std::string digits = fmt::format("{:e}", published);  // "1.700000e+09"
  const auto mark = digits.find('e');
  const auto last = digits.find_last_not_of('0', mark - 1);
  const double decimals = digits[last] == '.' ? 0.0 : static_cast<double>(last - 1);
  return 0.5 * std::pow(10.0, std::stod(digits.substr(mark + 1)) - decimals);
}

}  // namespace

TEST_CASE("Every model has the parameters its makers publish, within 2 % or their rounding",
          "[unit]") {
  REQUIRE(rounding_of(1.7e9) == Approx(0.05e9));
  REQUIRE(rounding_of(671e9) == Approx(0.5e9));
  for (const auto& model : laws::models()) {
    INFO(model.id);
    REQUIRE(model.published_total.has_value());
    const double published = *model.published_total;
    const double miss = std::abs(workloads::parameters(model).total() - published);
    CHECK(miss <= std::max(0.02 * published, rounding_of(published)));
  }
}

TEST_CASE("Every model has the active parameters its makers publish, within 2 % or their rounding",
          "[unit]") {
  for (const auto& model : laws::models()) {
    INFO(model.id);
    const double active = workloads::active_parameters(model);
    const double total = workloads::parameters(model).total();
    if (model.published_active) {
      // Some makers count the input embedding as active, some leave out the head as well (see the
      // models' notes).
      const auto count = workloads::parameters(model);
      const double with = active + count.embedding;
      const double without = active - (model.tied_embeddings ? count.embedding : count.head);
      const double published = *model.published_active;
      const double miss = std::min({std::abs(active - published), std::abs(with - published),
                                    std::abs(without - published)});
      CHECK(miss <= std::max(0.02 * published, rounding_of(published)));
    }
    const bool looked_up = !model.tied_embeddings || !model.autoregressive;  // else it is the head
    CHECK((model.moe.experts == 0 && !looked_up ? active == total : active < total));
    if (model.moe.experts == 0 && looked_up) {
      const workloads::ParameterCount count = workloads::parameters(model);
      CHECK(active == total - count.embedding - count.tables);
    }
  }
}

TEST_CASE("Tied embeddings are stored once and multiplied all the same", "[unit]") {
  auto model = laws::model("llama-3.1-8b");
  const double table = 128256.0 * 4096.0;
  const double untied_active = workloads::active_parameters(model);
  model.tied_embeddings = true;
  CHECK(workloads::parameters(model).total() == 8'030'261'248.0 - table);
  CHECK(workloads::active_parameters(model) == untied_active);
}

TEST_CASE("A model whose parts contradict each other is refused", "[unit]") {
  const auto problems_of = [](const std::string& change) {
    base::Problems problems;
    base::Node document = base::parse_document("test", "model: llama-3.1-8b");
    sim::set_knob(document, {"--set", change, {}}, problems);
    sim::load_references(document, problems);
    sim::read_model(document, problems);
    return problems.text();
  };
  using Catch::Matchers::ContainsSubstring;
  CHECK(problems_of("model.max_context=1000").empty());
  CHECK_THAT(problems_of("model.attention.kv_heads=5"),
             ContainsSubstring("must divide query_heads"));
  CHECK_THAT(problems_of("model.layers=[{count: 2, mixer: attention, ffn: moe}]"),
             ContainsSubstring("need a top-level moe: group"));
  CHECK_THAT(problems_of("model.layers=[{count: 2, mixer: sliding_attention, ffn: mlp}]"),
             ContainsSubstring("needs a window"));
  CHECK_THAT(problems_of("model.layers=[{count: 0, mixer: attention, ffn: mlp}]"),
             ContainsSubstring("count"));
}

}  // namespace roofcast::unit_workloads_architecture
