// SPDX-License-Identifier: Apache-2.0
//
// Which layers each chunk of a pipeline has. p stages of v chunks take p · v chunks in turn: chunk c is on stage c mod p.
//
//   training: {layout: "Et*4|(t*4|)*14tL"}      as Megatron writes it (NVIDIA/Megatron-LM,
//                                               megatron/core/transformer/pipeline_parallel_layer_layout.py)
//
//   E, t, L   embedding, a layer, head with its loss        |   the end of a chunk
//   x*n       n times what stands before it, which may be a group in ( )      commas and blanks mean nothing
//
// E is the first, L the last. Without a layout, chunks have as many layers as each other, earlier ones one more.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace roofcast::workloads {

struct PipelineChunk {
  std::int64_t first = 0;  // layer
  std::int64_t layers = 0;
  bool embedding = false;
  bool loss = false;
};
using PipelineLayout = std::vector<PipelineChunk>;  // empty: even

std::int64_t layers_of(const PipelineLayout& layout);

struct ParsedLayout {
  PipelineLayout layout;
  std::string problem;  // empty if the text is a layout
};
ParsedLayout parse_layout(std::string_view text);

PipelineLayout even_layout(std::int64_t layers, std::int64_t chunks);

// Micro-batches whose activations a stage holds in its k-th chunk when it has most, of m in all. A stage runs
//
//   1F1B          p − stage                       forward passes before its first backward pass
//   interleaved   2·(p − stage − 1) + (v−1)·p + 1 of chunks, p micro-batches in a chunk before the next chunk
//
// (arXiv 2104.04473; Megatron-LM, schedules.py). On the first stage that is p and p · (1 + (p−1)/(p·v)) micro-batches.
// With zb_v each rank holds 2p chunks' (sim/training/pipeline.hpp), which is p micro-batches: held_by_v.
std::int64_t held_by_v(std::int64_t stages, std::int64_t stage, std::int64_t k, std::int64_t m);
std::int64_t held_micro_batches(std::int64_t stages, std::int64_t virtual_stages,
                                std::int64_t stage, std::int64_t k, std::int64_t m);

}  // namespace roofcast::workloads
