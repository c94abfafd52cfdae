// SPDX-License-Identifier: Apache-2.0
//
// The parameters of a model by component, counted from its dimensions.
//
// Biases are counted where the architecture names them (qkv_bias). Learned positions, attention sinks and
// router biases are not counted. Multi-token-prediction modules are counted apart: published totals leave
// them out.
#pragma once

#include "workloads/architecture/architecture.hpp"
#include "workloads/architecture/mapping.hpp"

namespace roofcast::workloads {

// The parameters of one layer.
struct LayerParameters {
  double attention = 0;         // projections
  double attention_output = 0;  // of these, the last
  double modulation = 0;        // weights that make vectors from the condition of a sequence
  double index = 0;             // index of sparse attention
  double recurrent = 0;         // projections
  double mlp = 0;
  double experts = 0;  // routed experts
  double shared = 0;   // shared experts
  double latent = 0;   // projections to and from the width of the experts
  double router = 0;
  double norms = 0;  // norms, biases, convolutions, scalars of heads
  double total() const {
    return attention + modulation + index + recurrent + mlp + experts + shared + latent + router +
           norms;
  }
};
LayerParameters layer_parameters(const Architecture& architecture, const LayerGroup& group);

// Parameters of the projections of a layer's mixer that a rank holds beyond its 1/tensor_parallel: down projections to
// latents and gates, and the copies of heads of keys where there are fewer heads than ranks.
double repeated_parameters(const Architecture& architecture, const LayerGroup& group,
                           const Mapping& mapping);

// The parameters of the whole model.
struct ParameterCount {
  LayerParameters layers;
  double embedding = 0;
  double head = 0;  // 0 when tied to the embedding
  double final_norm = 0;
  double vision = 0;
  double tables = 0;  // embedding tables of a recommender
  double towers = 0;  // bottom and top networks of a recommender
  double mtp = 0;     // not in total()
  double total() const {
    return layers.total() + embedding + head + final_norm + vision + tables + towers;
  }
};
ParameterCount parameters(const Architecture& architecture);

// The parameters that one token uses: top_k of the experts and the head, without the embedding tables. The encoder
// counts for models that read images.
double active_parameters(const Architecture& architecture);

}  // namespace roofcast::workloads
