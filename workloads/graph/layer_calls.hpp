// SPDX-License-Identifier: Apache-2.0
//
// Which calls of a graph are of which layer. A graph has one call for equal operators of all layers; this takes them
// apart again, for who draws the layers one after the other.
#pragma once

#include <cstddef>
#include <vector>

#include "workloads/graph/graph.hpp"

namespace roofcast::workloads {

struct LayerCalls {
  std::size_t first = 0;  // call of the layers; before it come those of the embedding
  struct Kind {
    std::size_t calls = 0;
    std::int64_t layers = 0;
  };
  std::vector<Kind> mixers;  // in the order of their calls; then the calls of the feed-forwards
  std::vector<Kind> ffns;
  struct Run {
    std::size_t mixer = 0;
    std::size_t ffn = 0;
    std::int64_t layers = 0;
  };
  std::vector<Run> runs;  // of equal layers, from the first layer to the last
};

LayerCalls layer_calls(const Architecture& model, const Precision& precision,
                       const Mapping& mapping, Fusion fusion, const Batch& batch);

}  // namespace roofcast::workloads
