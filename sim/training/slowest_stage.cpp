// SPDX-License-Identifier: Apache-2.0
#include "sim/training/slowest_stage.hpp"

#include <algorithm>
#include <vector>

#include "base/integers.hpp"

namespace roofcast::sim {
namespace {

using base::as_double;
using base::Seconds;

// The stage of a layout that takes longest, of passes over its chunks.
Seconds slowest_of_layout(const ScenarioView& s, const Pass& pass) {
  const workloads::PipelineLayout& layout = s.training->layout;
  const Seconds one = pass.layers / as_double(s.model->layer_count());
  std::vector<Seconds> stages(static_cast<std::size_t>(s.mapping->pipeline_parallel));
  for (std::size_t chunk = 0; chunk < layout.size(); ++chunk) {
    const workloads::PipelineChunk& own = layout[chunk];
    const std::int64_t rank = workloads::rank_of_chunk(
        s.training->schedule, static_cast<std::int64_t>(chunk), s.mapping->pipeline_parallel);
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

}  // namespace

//   one     s, a layer    last    layers of the last stage    others   layers of the fullest other stage
//   folded  the rank of the last chunk has the first one too
Seconds slowest_stage(const ScenarioView& s, const Pass& pass) {
  const std::int64_t layers = s.model->layer_count();
  const std::int64_t stages = s.mapping->pipeline_parallel;
  Seconds time = pass.all();
  const Seconds one = pass.layers / as_double(layers);
  const bool even = s.training->layout.empty();
  const bool mirrored = s.training->schedule == workloads::Schedule::dualpipe;
  const bool folded = s.training->schedule == workloads::Schedule::zero_bubble_v;
  if (!even) {
    time = slowest_of_layout(s, pass);
  }
  for (std::int64_t last = 1; even && stages > 1 && last <= layers - (stages - 1); ++last) {
    const std::int64_t others = base::ceil_div(layers - last, stages - 1);
    const Seconds first_time = as_double(others) * one + (folded ? Seconds{} : pass.embedding);
    const Seconds last_time =
        as_double(last) * one + pass.head + (folded ? pass.embedding : Seconds{});
    time = base::min(time,
                     base::max(first_time, mirrored ? 0.5 * (first_time + last_time) : last_time));
  }
  return time;
}

}  // namespace roofcast::sim
