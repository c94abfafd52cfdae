// SPDX-License-Identifier: Apache-2.0
//
// The number format in which each part of a model is stored and multiplied.
//
// `weights` and `activations` hold for every linear layer unless a component says otherwise. Shared experts
// follow mlp. The residual stream, norms, convolutions, embedding, router and output head stay in 16 bits
// unless they are named, as published quantised checkpoints keep them. Their format is that of the
// activations if it has 16 bits, else bf16.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/document/catalog.hpp"
#include "base/document/fields.hpp"
#include "base/units/number_format.hpp"
#include "base/units/weight_storage.hpp"

namespace roofcast::workloads {

struct LinearFormat {
  base::NumberFormat weights = base::NumberFormat::bf16;
  base::NumberFormat activations = base::NumberFormat::bf16;
  base::WeightStorage storage = {};
  bool operator==(const LinearFormat&) const = default;
};

struct Precision {
  std::string id;
  // The models that were published in it. Others can run so, but nobody publishes them so. Empty: a format for any model.
  std::vector<std::string> published_for;
  LinearFormat attention;         // projections
  LinearFormat attention_output;  // the last of them
  LinearFormat recurrent;         // projections of Mamba and delta-net layers
  LinearFormat mlp;
  LinearFormat experts;  // routed experts
  LinearFormat shared;   // shared experts
  LinearFormat latent;   // projections to and from the width of the experts
  LinearFormat head;     // head and embedding
  LinearFormat plain;    // parts that are never quantised: router, MLA's absorbed weights
  base::NumberFormat kv_cache = base::NumberFormat::bf16;
  base::NumberFormat state = base::NumberFormat::fp32;  // states of recurrent layers
  base::NumberFormat index = base::NumberFormat::fp8;   // keys of the index of sparse attention
};

void read(base::Fields& f, Precision& precision);

// Of the precision that a document names as an id, or as `{base: id}` with changes: the id. The changes are read where
// the precision is used. Empty where the key is absent.
std::string read_named(base::Fields& f, std::string_view key);

// B, the weights of a linear layer.
constexpr base::Bytes weight_bytes(double elements, const LinearFormat& format) {
  return base::bytes_of(elements, format.weights, format.storage);
}

// Whether any weights are 2:4 sparse.
bool has_sparse_weights(const Precision& precision);

// Whether it is a format for any model, or the model was published in it.
bool is_meant_for(const Precision& precision, std::string_view model);

// Whether every part has the same formats in both. Their names may differ.
bool same_formats(const Precision& a, const Precision& b);

base::Catalog precision_catalog();

}  // namespace roofcast::workloads
