// SPDX-License-Identifier: Apache-2.0
//
// Parameters of a model by component, counted from its dimensions.
//
// Biases are counted where the architecture names them (qkv_bias); learned positions, attention sinks
// and router biases are not. Multi-token-prediction modules are counted apart: published totals leave
// them out.
#pragma once

#include "workloads/architecture/architecture.hpp"

namespace roofcast::workloads {

// Of one layer.
struct LayerParameters {
  double attention = 0;   // projections
  double modulation = 0;  // of a sequence's condition
  double index = 0;       // of sparse attention
  double recurrent = 0;   // projections
  double mlp = 0;
  double experts = 0;  // routed
  double shared = 0;   // shared experts
  double latent = 0;   // projections to and from the experts' width
  double router = 0;
  double norms = 0;  // biases, convolutions, scalars of heads
  double total() const {
    return attention + modulation + index + recurrent + mlp + experts + shared + latent + router +
           norms;
  }
};
LayerParameters layer_parameters(const Architecture& architecture, const LayerGroup& group);

// Of the whole model.
struct ParameterCount {
  LayerParameters layers;
  double embedding = 0;
  double head = 0;  // 0 when tied to the embedding
  double final_norm = 0;
  double vision = 0;
  double tables = 0;  // of a recommender
  double towers = 0;  // its bottom and top networks
  double mtp = 0;     // not in total()
  double total() const {
    return layers.total() + embedding + head + final_norm + vision + tables + towers;
  }
};
ParameterCount parameters(const Architecture& architecture);

// Parameters one token touches: top_k of the experts, the head, not the embedding tables; images their encoder.
double active_parameters(const Architecture& architecture);

}  // namespace roofcast::workloads
