// SPDX-License-Identifier: Apache-2.0
//
// The place of an operator in the corrections of a calibration (hardware/correction.hpp).
//
//   operator     grids are told apart by                   axes, logarithms to base 2
//   gemm         formats of activations and weights        m, n, k
//   experts      formats of activations and weights,       rows an expert, experts, n · k
//                alternative kernel
//   prefill      head dimension, window, cache format,     sequences, keys, KV heads, queries a KV head
//                format multiplied
//   decode       head dimension, window, cache format      sequences · KV heads, keys, queries a KV head
//   scan         recurrence, key and value dimension       sequences, tokens, heads
//   update       recurrence, key and value dimension       sequences, heads
//   convolution  taps                                      bytes written, FLOP a byte
//   collective   kind, kernels, ranks, stride, copies,     bytes
//                SMs of kernels that deduplicate
//
// Beyond its grid a correction fades. But all heads share a latent in decode, and fewer heads than any that were measured
// fill the same tile of rows: there it stays what it is for the fewest. With keys for each KV head, one query has
// kernels of its own.
//
// Attention in a window is interpolated in ln w between measured windows wᵢ < K and all keys K:
//
//   g(w) = (1 − t)·gᵢ + t·gⱼ,   t = ln(w / wᵢ) / ln(wⱼ / wᵢ),   wᵢ ≤ w < wⱼ
//
//   gᵢ        s·own + (1 − s)·g(K),   s = min(1, ln(K / wᵢ) / ln 1.25)
//   g(K)      prefill: g₀; decode, also in windows that hide no key: the shortest measured window of at least K keys, or g₀
//   own       the grid of window wᵢ; below the shortest one it is level
//   g₀        what the grid without a window says; of prefill less by a quarter for each octave of K / w
//
// Kernels of prefill leave a mask that hides no key away. Decode of vLLM on L40S takes a third longer in a window that hides
// none. So nothing jumps between two windows, and a measured window has its own correction from K = 1.25·w on. With
// the grids left out, an H100 in a window of 8192 under vLLM is forecast within a median of 3 % in prefill of 16384 tokens (own
// grid: 4 %), and of 12 to 15 % in decode of 32768 and 65536 (own: 1 to 2 %), too short. Intervals do not know this.
//
// Operators of other kinds that were not measured have no grid. A GEMM with widened weights takes the correction of the one
// without widening, as far as its products take the time. A collective of the library that leaves its domain has none.
// A corrected time stays above what the datasheet of the chip allows: FLOP / dense peak, DRAM bytes / bandwidth.
#pragma once

#include <optional>
#include <string>

#include "hardware/calibration.hpp"
#include "hardware/correction.hpp"
#include "models/cost.hpp"
#include "models/machine.hpp"
#include "workloads/graph/operator.hpp"

namespace roofcast::models {

// The grid of an operator, and its place in that grid.
struct CorrectionSite {
  hardware::CorrectionKey key = 0;
  hardware::LogShape shape{};
  bool latent = false;  // decode whose heads share a latent
};
std::optional<CorrectionSite> correction_site(const workloads::Operator& op);

// The logarithm of the factor there.
double log_factor(const hardware::CorrectionGrid& grid, const CorrectionSite& site);

// The grid that would correct the operator, without nodes: its texts and the number of its axes.
hardware::CorrectionGrid correction_grid(const workloads::Operator& op);

// An operator like this one with the shape of a node of its grid, as a model would run it.
workloads::Operator operator_at(const workloads::Operator& like, const hardware::LogShape& shape);

// The logarithm of corrected time / physical time; 0 where nothing like the operator was measured.
double correction_log(const workloads::Operator& op, const hardware::Calibration& calibration);

// Scales every term of a physical cost by the correction.
void correct(const workloads::Operator& op, const Machine& machine, Cost& cost);

}  // namespace roofcast::models
