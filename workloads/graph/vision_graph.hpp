// SPDX-License-Identifier: Apache-2.0
//
// The operators of a vision encoder in front of a decoder.
//
// The tensor-parallel ranks of the decoder share the images. Each has the whole encoder (vLLM's
// --mm-encoder-tp-mode data), and the ranks gather the tokens of all images. The encoder runs in the format
// of the parts that are never quantised.
#pragma once

#include "workloads/graph/graph.hpp"

namespace roofcast::workloads {

// The precision of every part of an encoder that belongs to a model of this precision.
Precision vision_precision(const Precision& precision);

// Appends the calls of a rank for so many images, outside the layers and each `runs` times. Their names begin with
// "vision.".
void append_vision(const VisionEncoder& vision, std::int64_t hidden, const Precision& precision,
                   const Mapping& mapping, Fusion fusion, std::int64_t images, double runs,
                   Graph& graph);

}  // namespace roofcast::workloads
