// SPDX-License-Identifier: Apache-2.0
#include "workloads/graph/layer_calls.hpp"

#include <algorithm>
#include <cmath>

#include "tests/catch.hpp"
#include "tests/laws/catalog.hpp"

namespace roofcast::unit_workloads_layer_calls {

using workloads::LayerCalls;

TEST_CASE("The layers of every model, one by one, are all of its layers and all calls in layers",
          "[unit]") {
  const workloads::Batch batch{.decode_sequences = 8, .context = 1024};
  for (const workloads::Architecture& m : laws::models()) {
    INFO(m.id);
    workloads::Graph graph;
    workloads::build_graph(m, laws::precision("bf16"), {}, {}, batch, graph);
    const LayerCalls calls = workloads::layer_calls(m, laws::precision("bf16"), {}, {}, batch);
    std::size_t at = calls.first;
    for (const auto* kinds : {&calls.mixers, &calls.ffns}) {
      for (std::size_t kind = 0; kind < kinds->size(); ++kind) {
        const LayerCalls::Kind& of = (*kinds)[kind];
        std::int64_t layers = 0;
        for (const LayerCalls::Run& run : calls.runs) {
          layers += (kinds == &calls.mixers ? run.mixer : run.ffn) == kind ? run.layers : 0;
        }
        CHECK(layers == of.layers);
        for (std::size_t i = 0; i < of.calls; ++i, ++at) {
          REQUIRE(at < graph.size());
          CHECK(graph[at].in_layers);
          const double each = graph[at].count / static_cast<double>(of.layers);
          CHECK(std::abs(each - std::round(each)) < 1e-9);
        }
      }
    }
    const auto in_layers =
        std::count_if(graph.begin(), graph.end(), [](const auto& call) { return call.in_layers; });
    CHECK(at - calls.first == static_cast<std::size_t>(in_layers));
  }
}

TEST_CASE("Interleaved layers are spread evenly, others come as the model lists them", "[unit]") {
  workloads::Architecture m = laws::model("gpt-oss-120b");
  const auto runs = [&] {
    return workloads::layer_calls(m, laws::precision("bf16"), {}, {}, {.decode_sequences = 1}).runs;
  };
  CHECK(runs().size() == 36);
  m.interleaved = false;
  REQUIRE(runs().size() == 2);
  CHECK(runs().front().layers == 18);
}

}  // namespace roofcast::unit_workloads_layer_calls
