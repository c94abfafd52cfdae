// SPDX-License-Identifier: Apache-2.0
//
// Partial pooling: what the measured chips say about one that was not measured.
//
// A parameter of a chip under a stack is taken as a random effect around an unknown mean m,
//
//   ln p = m + deviation,   correlation of two deviations = exp(−(d / 3)^0.75) · s
//
//   d  generations  distance of the two chips (hardware/chip_distance.hpp); of the weights without the figures of the die
//                   (hardware/nearest_calibration.hpp)
//   s  –            1 for one stack, 0.9 for two that run the same kernels, else 0.5
//
// so chips of an architecture share most of their deviation, neighbours a part of it, and the stacks of a chip half of
// it. The best linear unbiased prediction (BLUP; C. R. Henderson, Biometrics 31, 1975; in spatial statistics ordinary
// kriging, N. Cressie, Statistics for Spatial Data, 1993, section 3.2) is a weighted mean of the measured values,
//
//   K·w + λ·1 = k,   Σ w = 1,   w ≥ 0 (negative weights become 0, the others are scaled)
//   variance = 1 − 2·w·k + wᵀ·K·w
//
//   K  –  correlations of the measured ones with each other
//   k  –  their correlations with the chip
//   w  –  weights
//   λ  –  multiplier of the condition on the weights
//
// in shares of the variance between unrelated architectures. A measured chip has weight 1 and variance 0. Both are
// continuous in the distance. The reach of 3 generations and the share of stacks were chosen by leaving each architecture
// out in turn; medians move by less than 2 % between reaches of 1 and 6 and shares of 0.3 and 0.7. The power (the
// stable family of covariances) makes twins less alike than a plain exponential: it was chosen by leaving each chip out, so
// that intervals hold H100 by H200 and B200 by GB200.
#pragma once

#include <string>
#include <vector>

#include "hardware/chip_distance.hpp"

namespace roofcast::hardware {

inline constexpr double kSharedByStacks = 0.5;  // s of two stacks with kernels of their own

struct PoolMember {
  const ChipKind* chip = nullptr;
  std::string stack;
  std::string kernels;  // kernels_of
};

struct Pooled {
  std::vector<double> weights;  // of the members; they add up to 1
  double variance = 1.0;        // share of that between unrelated architectures
};

// At least one member; no two of the same chip and stack. `apart`: distance, or host_distance for what hosts do.
Pooled pooled(const PoolMember& target, const std::vector<PoolMember>& members,
              double (*apart)(const ChipKind&, const ChipKind&) = distance);

// What a chip takes of a deviation around 0, such as a correction, that was measured on others: simple kriging (Cressie,
// section 3.2.1),
//
//   C·w = c,   C, c: correlations exp(−d / 1.5) of the measured ones with each other and with the chip;   w ≥ 0
//
// One measured chip alone gives exp(−d / 1.5). A chip behind another one gives next to nothing. A measured chip has weight 1.
std::vector<double> faded_weights(const ChipKind& target,
                                  const std::vector<const ChipKind*>& members);

// The kernels that a stack runs for a group of parameters ("attention") on a chip. Stacks other than TensorRT-LLM take
// the attention and the experts of TensorRT-LLM, through FlashInfer, on chips with tcgen05 instructions (vLLM and SGLang
// documentation, attention backends by compute capability). The tables of calibrate/measurements/ops name them so in
// kernel_source.
std::string kernels_of(const std::string& stack, const ChipKind& chip, std::string_view group);

}  // namespace roofcast::hardware
