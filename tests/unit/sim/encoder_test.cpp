// SPDX-License-Identifier: Apache-2.0
//
// Models that are not decoders: encoders, diffusion transformers, vision encoders in front of decoders.
#include <cmath>

#include "models/footprint.hpp"
#include "models/work.hpp"
#include "sim/estimate.hpp"
#include "sim/iteration/iteration.hpp"
#include "sim/result/feasibility.hpp"
#include "sim/scenario/knob.hpp"
#include "sim/scenario/sections.hpp"
#include "tests/catch.hpp"
#include "tests/laws/catalog.hpp"
#include "workloads/architecture/parameters.hpp"
#include "workloads/graph/vision_graph.hpp"

namespace roofcast::unit_sim_encoder {
namespace {

using laws::model;
using laws::precision;

workloads::AttentionHeads bidirectional(std::int64_t window) {
  workloads::AttentionHeads heads{16, 16, 64, 64, window, 2048};
  heads.bidirectional = true;
  return heads;
}

double brute_pairs(std::int64_t tokens, std::int64_t window) {
  double pairs = 0.0;
  for (std::int64_t query = 0; query < tokens; ++query) {
    for (std::int64_t key = 0; key < tokens; ++key) {
      pairs += window == 0 || std::abs(query - key) <= window ? 1.0 : 0.0;
    }
  }
  return pairs;
}

double linear_flop(const workloads::Graph& graph) {
  double flop = 0.0;
  for (const workloads::Call& call : graph) {
    if (std::holds_alternative<workloads::Gemm>(call.op)) {
      flop += call.count * models::work_of(call.op).flop.si();
    }
  }
  return flop;
}

double attention_flop(const workloads::Graph& graph) {
  double flop = 0.0;
  for (const workloads::Call& call : graph) {
    if (std::holds_alternative<workloads::PrefillAttention>(call.op)) {
      flop += call.count * models::work_of(call.op).flop.si();
    }
  }
  return flop;
}

workloads::Graph graph_of(const workloads::Architecture& m, const workloads::Batch& batch) {
  workloads::Graph graph;
  workloads::build_graph(m, precision("bf16"), {}, {}, batch, graph);
  return graph;
}

bool has(const workloads::Graph& graph, std::string_view name) {
  return std::any_of(graph.begin(), graph.end(),
                     [&](const workloads::Call& call) { return call.name == name; });
}

sim::ServingEstimate estimate_of(const std::string& system, const std::string& model_id,
                                 const std::string& traffic,
                                 const std::vector<std::string>& changes = {}) {
  base::Node document = base::parse_document(
      "test", "system: " + system + "\nmodel: " + model_id +
                  "\nprecision: bf16\ndeployment: {}\nserving: {stack: vllm}\ntraffic: " + traffic +
                  "\n");
  base::Problems problems;
  for (const std::string& change : changes) {
    sim::set_knob(document, {"--set", change, {}}, problems);
  }
  problems.throw_if_any();
  const sim::Scenario s = sim::read_scenario(std::move(document));
  sim::Workspace workspace;
  return sim::estimate(sim::view(s), workspace);
}

}  // namespace

TEST_CASE("Every token of a bidirectional sequence sees those within its window on both sides",
          "[unit]") {
  for (const std::int64_t tokens : {1, 2, 7, 64, 100}) {
    for (const std::int64_t window : {0, 1, 5, 63, 64, 200}) {
      CHECK(models::attended_pairs(bidirectional(window), tokens, 0) ==
            brute_pairs(tokens, window));
    }
  }
  // A rank of two that share the sequence has half of the queries, all of the keys.
  CHECK(models::attended_pairs(bidirectional(0), 50, 50) == 5000.0);
}

TEST_CASE("An encoder keeps no keys, makes no logits and answers in one iteration", "[unit]") {
  const auto& bert = model("bge-large-en-v1.5");
  CHECK(models::cache_bytes(512.0, bert, precision("bf16"), {}, 16) == base::Bytes{});
  const auto graph = graph_of(bert, {0, 1, 0, 32, 512, 0});
  CHECK_FALSE(has(graph, "head.logits"));
  CHECK_FALSE(has(graph, "attention.decode"));
  // 24 layers of 12 * 1024^2 weights.
  CHECK(linear_flop(graph) == Approx(2.0 * 32.0 * 512.0 * 24.0 * 12.0 * 1024.0 * 1024.0));
  const std::string traffic = "{input_tokens: 512, output_tokens: 1, concurrency: 64}";
  const auto e = estimate_of("hgx_h100", "bge-large-en-v1.5", traffic);
  REQUIRE(e.fits());
  CHECK(e.steady.requests_per_second > 0.0);
  CHECK(e.steady.tpot == base::Seconds{});
  CHECK(std::isfinite(e.max_running));
  const auto two = estimate_of("hgx_h100", "bge-large-en-v1.5",
                               "{input_tokens: 256, output_tokens: 2, concurrency: 64}");
  CHECK(std::holds_alternative<sim::infeasible::NoDecodes>(two.infeasible));
  CHECK(sim::reason(two) ==
        "the model answers in one iteration: output_tokens must be 1, cached_tokens 0");
}

TEST_CASE("Seen from both sides, n tokens take 2n / (n + 1) times the causal FLOP of attention",
          "[laws]") {
  std::size_t encoders = 0;
  for (const workloads::Architecture& each : laws::models()) {
    if (each.autoregressive) {
      continue;
    }
    workloads::Architecture both = each;
    for (workloads::LayerGroup& layer : both.layers) {
      layer.window = 0;
    }
    workloads::Architecture causal = both;
    for (workloads::LayerGroup& layer : causal.layers) {
      layer.mixer = workloads::Mixer::attention;
    }
    for (const std::int64_t n : {1, 100, 512}) {
      INFO(each.name << ", " << n);
      const workloads::Batch batch{0, 1, 0, 4, n, 0};
      const workloads::Graph seen = graph_of(both, batch);
      const workloads::Graph before = graph_of(causal, batch);
      const auto tokens = static_cast<double>(n);
      CHECK(attention_flop(seen) == Approx(2.0 * tokens / (tokens + 1.0) * attention_flop(before)));
      CHECK(linear_flop(seen) == linear_flop(before));
    }
    ++encoders;
  }
  CHECK(encoders >= 4);
}

TEST_CASE("What answers in one pass keeps nothing: with half the memory it is as fast", "[laws]") {
  for (const workloads::Architecture& each : laws::models()) {
    if (each.autoregressive) {
      continue;
    }
    INFO(each.name);
    const std::string traffic = "{input_tokens: 512, output_tokens: 1, concurrency: 32}";
    const auto whole = estimate_of("hgx_h200", each.id, traffic);
    const auto half = estimate_of("hgx_h200", each.id, traffic, {"system.chip.hbm.capacity=x0.5"});
    REQUIRE(half.fits());
    CHECK(half.output_rate == whole.output_rate);
    CHECK(half.steady.ttft_mean == whole.steady.ttft_mean);
  }
}

// 59.5 TFLOP of linear layers for an image of 1024 x 1024: diffusers/benchmarks collated_results.csv.
TEST_CASE("A pass of a diffusion transformer has the published FLOP, an image so many passes",
          "[unit]") {
  const auto& flux = model("flux.1-dev");
  const auto graph = graph_of(flux, {0, 1, 0, 1, 4608, 0});
  CHECK(linear_flop(graph) == Approx(59.53e12).epsilon(0.005));
  const std::string image = "{input_tokens: 4608, output_tokens: 1, concurrency: 1}";
  const auto seconds = [&](const std::string& steps) {
    const auto e = estimate_of("hgx_h100", "flux.1-dev", image, {"model.denoising_steps=" + steps});
    REQUIRE(e.fits());
    return e.steady.ttft_mean.si();
  };
  const double one = seconds("1");
  const double four = seconds("4");
  CHECK(seconds("28") - four == Approx(8.0 * (four - one)).epsilon(0.01));
}

TEST_CASE("Streams hold weights of their own, and a token passes one of them", "[unit]") {
  auto twin = model("flux.1-dev");
  const double before = workloads::parameters(twin).total();
  for (auto& layer : twin.layers) {
    layer.streams = 1;
  }
  const double single = workloads::parameters(twin).total();
  const double h = 3072.0 * 3072.0;
  CHECK(before - single == Approx(19.0 * (12.0 + 6.0) * h));
  const workloads::Batch image{0, 1, 0, 1, 4608, 0};
  const double modulation = 2.0 * 19.0 * 6.0 * h;
  CHECK(linear_flop(graph_of(model("flux.1-dev"), image)) - linear_flop(graph_of(twin, image)) ==
        Approx(modulation));
}

TEST_CASE("Images are encoded before a prompt, on the ranks that share it", "[unit]") {
  const auto& vl = model("qwen2.5-vl-7b");
  const auto& vision = vl.vision.front();
  CHECK(vision.tokens() == 1024);
  workloads::Graph graph;
  workloads::append_vision(vision, vl.hidden, precision("bf16"), {}, {}, 1, 1.0, graph);
  // Projections of 32 layers, and two to the width of the decoder.
  const double layer = 4.0 * 1280.0 * 1280.0 + 3.0 * 1280.0 * 3420.0;
  const double project = 5120.0 * (5120.0 + 3584.0);
  CHECK(linear_flop(graph) == Approx(2.0 * (4096.0 * 32.0 * layer + 1024.0 * project)));
  workloads::Graph shared;
  workloads::Mapping two;
  two.tensor_parallel = 2;
  workloads::append_vision(vision, vl.hidden, precision("bf16"), two, {}, 4, 1.0, shared);
  CHECK(linear_flop(shared) == Approx(2.0 * linear_flop(graph)));
  CHECK(has(shared, "vision.gather"));

  const auto with = [](const std::string& images) {
    return estimate_of(
        "hgx_h100", "qwen2.5-vl-7b",
        "{input_tokens: 2048, output_tokens: 128, concurrency: 8, images: " + images + "}");
  };
  CHECK(with("1").steady.ttft_mean > with("0").steady.ttft_mean);
  CHECK(with("2").steady.ttft_mean > with("1").steady.ttft_mean);
  CHECK(with("0").footprint.weights == with("1").footprint.weights);
  CHECK(sim::reason(with("3")) == "images of 3072 tokens in an input of 2048");
  CHECK(sim::reason(estimate_of("hgx_h100", "llama-3.1-8b",
                                "{input_tokens: 2048, output_tokens: 128, concurrency: 8, "
                                "images: 1}")) == "the model has no vision encoder");
}

TEST_CASE("A model that decodes nothing has nothing to draft", "[unit]") {
  for (const char* method : {"eagle", "ngram", "mtp"}) {
    const auto e = estimate_of(
        "hgx_h100", "bge-m3", "{input_tokens: 256, output_tokens: 1, concurrency: 64}",
        {fmt::format("serving.speculative={{method: {}, draft_tokens: 3, acceptance: 0.8}}",
                     method)});
    CHECK(std::holds_alternative<sim::infeasible::NothingToDraft>(e.infeasible));
  }
}

}  // namespace roofcast::unit_sim_encoder
