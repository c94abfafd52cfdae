// SPDX-License-Identifier: Apache-2.0
//
// LoRA (arXiv 2106.09685): the model's weights stay as they are, and beside some linear layers out = x·w two narrow ones are
// trained: out + (x·a)·b.
//
//   lora:
//     rank: 16
//     layers: [qkv, out, up, down]     # all of them without it
//
// qkv and out are those of attention, up (with the gate) and down those of dense feed-forwards. Other linear layers (latent
// attention, recurrent layers, experts) stay as they are and have none.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "workloads/architecture/architecture.hpp"
#include "workloads/architecture/mapping.hpp"
#include "workloads/graph/operator.hpp"

namespace roofcast::workloads {

enum class AdaptedLayer : std::uint8_t { qkv, out, up, down };
inline constexpr std::array<std::string_view, 4> kAdaptedLayerNames = {"qkv", "out", "up", "down"};

struct Adapters {
  std::int64_t rank = 0;  // 0: the whole model is trained
  std::uint8_t layers = 0;

  bool trains() const { return rank > 0; }
  bool has(AdaptedLayer layer) const { return (layers >> static_cast<unsigned>(layer) & 1U) != 0; }
  void add(AdaptedLayer layer) {
    layers = static_cast<std::uint8_t>(layers | 1U << static_cast<unsigned>(layer));
  }
};

// Parameters of the adapters of one layer on one rank. The wide side of an adapter is cut as its linear layer is.
double adapter_parameters(const Adapters& adapters, const Architecture& model,
                          const LayerGroup& layer, const Mapping& mapping);

// The same of all layers, uncut.
double adapter_parameters(const Adapters& adapters, const Architecture& model);

// The graph of a forward pass with adapters: after each of their layers its two products and the sum, called "lora".
Graph with_adapters(const Adapters& adapters, const Graph& forward);

}  // namespace roofcast::workloads
