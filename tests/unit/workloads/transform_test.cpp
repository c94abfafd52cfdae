// SPDX-License-Identifier: Apache-2.0
#include "workloads/architecture/transform.hpp"

#include <fmt/format.h>

#include "sim/scenario/references.hpp"
#include "sim/scenario/section_readers.hpp"
#include "tests/catch.hpp"
#include "workloads/architecture/parameters.hpp"

namespace roofcast::unit_workloads_transform {

using namespace roofcast::workloads;
using Catch::Matchers::ContainsSubstring;

namespace {

Architecture model_of(const std::string& text) {
  base::Problems problems;
  base::Node document = base::parse_document("test", "model: " + text);
  sim::load_references(document, problems);
  problems.throw_if_any();
  Architecture model = sim::read_model(document, problems);
  problems.throw_if_any();
  return model;
}

}  // namespace

TEST_CASE("LatentMoE of Qwen3-235B at a quarter of the width has the sizes derived by hand",
          "[unit]") {
  // 94 layers of 128 experts of 3 · 4096 · 1536 parameters; router 128 · 4096; no shared expert.
  const double added = 94.0 * (2.0 * 4096 * 1024 + 3.0 * 128 * 4096);
  const Architecture base = model_of("qwen3-235b-a22b");
  const Architecture acc =
      model_of("{base: qwen3-235b-a22b, latent_moe: {ratio: 4, variant: acc}}");
  CHECK(acc.moe.experts == 512);
  CHECK(acc.moe.top_k == 32);
  CHECK(acc.moe.latent == 1024);
  CHECK(acc.moe.intermediate == 1536);
  CHECK(parameters(acc).total() - parameters(base).total() == Approx(added));
  CHECK(active_parameters(acc) - active_parameters(base) == Approx(added));
  const Architecture eff =
      model_of("{base: qwen3-235b-a22b, latent_moe: {ratio: 4, variant: eff}}");
  CHECK(eff.moe.experts == 512);
  CHECK(eff.moe.top_k == 8);
  CHECK(parameters(eff).total() == parameters(acc).total());
  const double routed = 94.0 * 8.0 * 3.0 * 4096 * 1536;
  CHECK(active_parameters(base) + added - active_parameters(eff) == Approx(0.75 * routed));
}

TEST_CASE("Every keep_every-th attention layer stays, the others have the new mixer", "[unit]") {
  const Architecture hybrid =
      model_of("{base: deepseek-v3, replace_attention: {by: mamba, keep_every: 8}}");
  // Layers 0 to 2 have dense feed-forwards; of 61, numbers 7, 15, …, 55 stay.
  REQUIRE(hybrid.layers.size() == 3);
  CHECK(hybrid.layers[0].mixer == Mixer::mamba);
  CHECK(hybrid.layers[0].ffn == Ffn::mlp);
  CHECK(hybrid.layers[0].count == 3);
  CHECK(hybrid.layers[1].mixer == Mixer::mamba);
  CHECK(hybrid.layers[1].count == 51);
  CHECK(hybrid.layers[2].mixer == Mixer::attention);
  CHECK(hybrid.layers[2].count == 7);
  CHECK(hybrid.mamba.inner() == 2 * hybrid.hidden);
}

TEST_CASE("Qwen3-Next's delta net is what its width makes of the usual proportions", "[unit]") {
  const RecurrentShape published = model_of("qwen3-next-80b-a3b").delta_net;
  const RecurrentShape usual =
      model_of("{base: qwen3-8b, hidden: 2048, replace_attention: {by: delta_net, keep_every: 4}}")
          .delta_net;
  CHECK(usual.heads == published.heads);
  CHECK(usual.key_heads == published.key_heads);
  CHECK(usual.key_dim == published.key_dim);
  CHECK(usual.value_dim == published.value_dim);
  CHECK(usual.conv_kernel == published.conv_kernel);
  CHECK(usual.chunk == published.chunk);
}

TEST_CASE("Dimensions that a model gives of the new mixer are kept", "[unit]") {
  const Architecture model = model_of(
      "{base: gpt-oss-120b, replace_attention: {by: mamba, keep_every: 2}, mamba: {heads: 96, "
      "head_dim: 64, state: 64, groups: 8, conv_kernel: 4, chunk: 128}}");
  CHECK(model.mamba.heads == 96);
  CHECK(model.has(Mixer::sliding_attention));
}

TEST_CASE("Windows in place of full attention keep their KV heads and no more tokens", "[unit]") {
  const Architecture model = model_of(
      "{base: llama-3.1-70b, replace_attention: {by: sliding_attention, keep_every: 4, window: "
      "1024}}");
  REQUIRE(model.layers.size() == 2);
  CHECK(model.layers[0].count == 60);
  CHECK(model.layers[0].window == 1024);
  CHECK(model.layers[0].kv_heads == 8);
}

TEST_CASE("Holding the cache makes up for replaced layers with more KV heads", "[unit]") {
  const Architecture model = model_of(
      "{base: llama-3.1-70b, replace_attention: {by: mamba, keep_every: 4}, hold: {what: cache}}");
  for (const LayerGroup& group : model.layers) {
    CHECK(group.kv_heads == (group.mixer == Mixer::attention ? 32 : 0));
  }
}

TEST_CASE("A model is made of a given size by its widths, to a multiple of what is asked",
          "[unit]") {
  const Architecture model = model_of(
      "{base: llama-3.1-70b, attention.kv_heads: 64, hold: {what: total parameters, at: 70.55e9, "
      "multiple_of: 128}}");
  CHECK(model.layers.front().intermediate % 128 == 0);
  // 128 columns of three matrices of 8192 in 80 layers.
  CHECK(std::abs(parameters(model).total() - 70.55e9) <= 0.5 * 128 * 3 * 8192 * 80);
  CHECK(model.layers.front().intermediate < model_of("llama-3.1-70b").layers.front().intermediate);
}

TEST_CASE("What a change cannot make whole is told where it stands", "[unit]") {
  CHECK_THROWS_WITH(model_of("{base: qwen3-235b-a22b, latent_moe: {ratio: 3, variant: eff}}"),
                    ContainsSubstring("1365.33 of 4096 columns of the hidden width") &&
                        ContainsSubstring("test:1:52"));
  CHECK_THROWS_WITH(model_of("{base: qwen3-32b, expert_granularity: 2}"),
                    ContainsSubstring("the model has no moe: group"));
  CHECK_THROWS_WITH(
      model_of("{base: nemotron-3-super-120b-a12b, latent_moe: {ratio: 2, variant: eff}}"),
      ContainsSubstring("the experts already work at a latent width, 1024"));
  CHECK_THROWS_WITH(
      model_of("{base: llama-3.1-70b, replace_attention: {by: mamba, keep_every: 16}, hold: {what: "
               "cache}}"),
      ContainsSubstring("128 KV heads, which do not divide 64 query heads"));
  CHECK_THROWS_WITH(model_of("{base: llama-3.1-70b, hold: {what: total parameters, at: 1e9}}"),
                    ContainsSubstring("the widths of the feed-forwards cannot make up for it"));
}

TEST_CASE("A knob reaches the layers of a kind, whatever list they stand in", "[unit]") {
  const Architecture model = model_of(
      "{base: gpt-oss-120b, 'layers[sliding_attention].window': 256, "
      "'layers[moe].kv_heads': 4, 'layers[attention].count': x2}");
  CHECK(model.layers[0].window == 256);
  CHECK(model.layers[0].kv_heads == 4);
  CHECK(model.layers[1].kv_heads == 4);
  CHECK(model.layers[1].count == 36);
  CHECK_THROWS_WITH(model_of("{base: gpt-oss-120b, 'layers[atention].kv_heads': 4}"),
                    ContainsSubstring("did you mean \"attention\"?"));
  CHECK_THROWS_WITH(model_of("{base: gpt-oss-120b, 'moe[attention].top_k': 4}"),
                    ContainsSubstring("\"moe\" is not a list of groups"));
}

}  // namespace roofcast::unit_workloads_transform
