// SPDX-License-Identifier: Apache-2.0
//
// What a training framework computes in kernels of its own where none fuses it (workloads/training/training.hpp), as bytes
// and FLOP of one Elementwise. Those of the backward pass follow from them (workloads/graph/training_graph.hpp).
//
//   rope      t · cos + rotated · sin of queries and keys: five kernels and a copy. Reads 13 and writes 11 bytes an element
//   clamp     of what an expert's activation reads: two kernels and a copy. 4 and 4 bytes
//   bias      of an expert's output, times the router's weight, in fp32: four kernels. 14 and 14 bytes
//             The kernels of PyTorch cut and broadcast: 1.7 times as long as these bytes. On an H100, PyTorch 2.11, forward and
//             backward: rope 1.90, 1.36; of 16,384 and 65,536 rows clamp 1.58, 1.95, 1.6, 2.1, bias 1.55, 1.98, 1.36, 1.18
//   loss      cross entropy in eight kernels (NVIDIA/Megatron-LM core/tensor_parallel/cross_entropy.py): both passes
//             together move 60 bytes a logit, of 131,072 tokens on the same H100. A fused one moves 32
//   dropout   Random numbers of attention are computed inside its kernel, one for each score. cuDNN's takes 0.94 ps longer
//             for each in the forward pass on the same H100, 0.58 in the backward pass, with heads of 64 and of 128: 4.3
//             FLOP each, at the pace of the vector units (Calibration::vector_efficiency). Those of the residual branches
//             write a mask of bytes: of 3 bytes an element, 5 in the backward pass, that no kernel without dropout moves
//
// calibrate/bench/torch/unfused.py measures all of these.
//
// FP8 with a scale for each 128 elements along the sum of a product (DeepSeek-V3, arXiv 2412.19437 sections 3.3.2 and 3.5.2):
//
//   requantise  of the gradients that a product of the backward pass reads: 16 bits are quantised along the columns, and for the
//               gradients of weights, whose sum is over the tokens, again along the rows. 2 read and 1 written, each time. The
//               inputs in FP8 that were kept are read, quantised along the rows and written transposed: 1 and 1 byte
//               These kernels move 1.6 to 2.6 TB/s on an H800, eight shapes of one trace: 1.4 times as long as their bytes take
//               others (deepseek-ai/profile-data@4496024 train.json, per_channel_cast_and_transpose and
//               per_token_cast_to_fp8_with_channels)
#pragma once

#include "workloads/graph/operator.hpp"

namespace roofcast::workloads {

inline constexpr double kUnfusedPace = 1.7;
inline constexpr double kDropoutFlop = 4.3;  // a score

inline constexpr double kRequantisePace = 1.4;

// `inputs`: elements that products of gradients of weights read too; 0 without such products.
inline Elementwise requantise(double gradients, double inputs) {
  const double times = inputs > 0.0 ? 2.0 : 1.0;
  return {kRequantisePace * (2.0 * times * gradients + inputs),
          kRequantisePace * (times * gradients + inputs), times * gradients + inputs};
}
inline Elementwise unfused_rope(double elements) {
  return {kUnfusedPace * 13.0 * elements, kUnfusedPace * 11.0 * elements, elements};
}
inline Elementwise unfused_clamp(double elements) {
  return {kUnfusedPace * 4.0 * elements, kUnfusedPace * 4.0 * elements, elements};
}
inline Elementwise unfused_bias(double elements) {
  return {kUnfusedPace * 14.0 * elements, kUnfusedPace * 14.0 * elements, elements};
}
inline Elementwise unfused_loss(double logits) { return {12.0 * logits, 12.0 * logits, logits}; }
inline Elementwise dropout_of_scores(double scores) { return {0.0, 0.0, kDropoutFlop * scores}; }
inline Elementwise dropout(double elements) { return {2.0 * elements, elements, elements}; }

}  // namespace roofcast::workloads
