// SPDX-License-Identifier: Apache-2.0
#include "sim/training/slowest_stage.hpp"

#include <algorithm>
#include <vector>

#include "base/integers.hpp"

namespace roofcast::sim {

using base::as_double;
using base::Seconds;

//   one     s, a layer
Seconds slowest_stage(const ScenarioView& s, const Pass& pass) {
  const std::int64_t layers = s.model->layer_count();
  const std::int64_t ranks = s.mapping->pipeline_parallel;
  const workloads::PipelineLayout layout = workloads::layout_of(*s.training, layers, ranks);
  const Seconds one = pass.layers / as_double(layers);
  std::vector<Seconds> stages(static_cast<std::size_t>(ranks));
  for (std::size_t chunk = 0; chunk < layout.size(); ++chunk) {
    const workloads::PipelineChunk& own = layout[chunk];
    const std::int64_t rank =
        workloads::rank_of_chunk(s.training->schedule, static_cast<std::int64_t>(chunk), ranks);
    stages[static_cast<std::size_t>(rank)] += as_double(own.layers) * one +
                                              (own.embedding ? pass.embedding : Seconds{}) +
                                              (own.loss ? pass.head : Seconds{});
  }
  if (s.training->schedule ==
      workloads::Schedule::dualpipe) {  // a rank has a stage and its mirror image
    std::transform(stages.begin(), stages.end(), std::vector<Seconds>(stages).rbegin(),
                   stages.begin(), [](Seconds a, Seconds b) { return 0.5 * (a + b); });
  }
  return *std::max_element(stages.begin(), stages.end());
}

}  // namespace roofcast::sim
