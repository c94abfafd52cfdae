// SPDX-License-Identifier: Apache-2.0
//
// The operators of a vision encoder in front of a decoder.
//
// Images are dealt out to the tensor-parallel ranks of the decoder, each of which has the whole encoder (vLLM's
// --mm-encoder-tp-mode data); their tokens are gathered. It runs in the format of what is never quantised.
#pragma once

#include "workloads/graph/graph.hpp"

namespace roofcast::workloads {

// The precision of every part of an encoder beside a model of this precision.
Precision vision_precision(const Precision& precision);

// Appends, outside the layers, the calls of a rank for so many images, each `runs` times. Their names begin with
// "vision.".
void append_vision(const VisionEncoder& vision, std::int64_t hidden, const Precision& precision,
                   const Mapping& mapping, Fusion fusion, std::int64_t images, double runs,
                   Graph& graph);

}  // namespace roofcast::workloads
