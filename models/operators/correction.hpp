// SPDX-License-Identifier: Apache-2.0
//
// Where an operator stands in the corrections that a calibration brings (hardware/correction.hpp).
//
//   operator    of                                        axes, logarithms to base 2
//   gemm        formats of activations and weights        m, n, k
//   experts     formats of activations and weights,       rows an expert, experts, n · k
//               second choice of kernels
//   prefill     head dimension, window, cache format,     sequences, keys, KV heads, queries a KV head
//               format multiplied
//   decode      head dimension, window, cache format      sequences · KV heads, keys, queries a KV head
//   scan        recurrence, key and value dimension       sequences, tokens, heads
//   update      recurrence, key and value dimension       sequences, heads
//   convolution taps                                      bytes written, FLOP a byte
//   collective  kind, kernels, ranks, stride, copies,     bytes
//               SMs of kernels that deduplicate
//
// Other operators have none. The corrected time stays above what the chip's datasheet allows:
// FLOP / dense peak, DRAM bytes / bandwidth.
#pragma once

#include <optional>
#include <string>

#include "hardware/correction.hpp"
#include "models/cost.hpp"
#include "models/machine.hpp"
#include "workloads/graph/operator.hpp"

namespace roofcast::models {

struct CorrectionSite {
  hardware::CorrectionKey key = 0;
  hardware::LogShape shape{};
};
std::optional<CorrectionSite> correction_site(const workloads::Operator& op);

// The grid that would hold it, without nodes: its texts, and how many axes it has.
hardware::CorrectionGrid correction_grid(const workloads::Operator& op);

// An operator of a model, like this one, of the shape that a node of its grid has.
workloads::Operator operator_at(const workloads::Operator& like, const hardware::LogShape& shape);

// Scales every term of a physical cost.
void correct(const workloads::Operator& op, const Machine& machine, Cost& cost);

}  // namespace roofcast::models
