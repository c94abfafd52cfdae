// SPDX-License-Identifier: Apache-2.0
//
// CUDA graphs: without them nothing is faster, and the host bounds every iteration.
#include "tests/catch.hpp"
#include "tests/laws/cases/serving_cases.hpp"

namespace roofcast::laws::laws_kernels_graphs {
namespace {

using workloads::DecodeGraphs;

// Corrections of measured GEMMs are not quite monotone in the rows, and of 48 rows fewer are absent from fixed tiles than of 33.
constexpr double kCorrected = 1.05;

sim::IterationCost with(const ServingCase& c, const workloads::ServingGraphs& graphs,
                        const workloads::Batch& batch, sim::Workspace& workspace) {
  workloads::Serving serving = *c.scenario.serving;
  serving.cuda_graphs = graphs;
  if (graphs.decode == DecodeGraphs::none) {
    serving.stack.graph_tokens = 0;  // as its reader does
  }
  sim::ScenarioView scenario = c.scenario;
  scenario.serving = &serving;
  return sim::iteration_cost(scenario, batch, workspace);
}

}  // namespace

TEST_CASE("An iteration is never faster with fewer or larger CUDA graphs", "[laws]") {
  std::size_t slower = 0;
  sim::Workspace workspace;
  for_each_feasible(7, 400, {16}, [&](const ServingCase& c) {
    INFO(c.text());
    const workloads::Batch decodes{33, 1, 1024, 0, 0, 0, c.scenario.mapping->data_parallel};
    workloads::Batch prompts = decodes;
    prompts.prefill_sequences = 1;
    prompts.prefill_tokens = 256;
    for (const workloads::Batch& batch : {decodes, prompts}) {
      const double full = with(c, {}, batch, workspace).latency.si();
      const double padded = with(c, {DecodeGraphs::full, {32, 48}}, batch, workspace).latency.si();
      const double pieces = with(c, {DecodeGraphs::piecewise, {}}, batch, workspace).latency.si();
      const double eager = with(c, {DecodeGraphs::none, {}}, batch, workspace).latency.si();
      const double beyond = with(c, {DecodeGraphs::full, {32}}, batch, workspace).latency.si();
      CHECK(full <= padded * kCorrected);
      CHECK(full <= pieces * (1.0 + 1e-9));
      CHECK(pieces <= eager * (1.0 + 1e-9));
      CHECK(beyond <= eager * (1.0 + 1e-9));
      slower += eager > full ? 1 : 0;
    }
    const double per_operator = c.scenario.serving->stack.eager_operator.si();
    CHECK(with(c, {DecodeGraphs::none, {}}, decodes, workspace).latency.si() >=
          5.0 * per_operator * static_cast<double>(c.scenario.model->layer_count()) *
              (c.scenario.model->layers_with(workloads::Ffn::none) > 0 ? 0.0 : 1.0));
  });
  CHECK(slower > 10);
}

}  // namespace roofcast::laws::laws_kernels_graphs
