// SPDX-License-Identifier: Apache-2.0
//
// Which number format each part of a model is stored and multiplied in.
//
// `weights` and `activations` hold for every linear layer unless a component says otherwise; shared
// experts follow mlp. The residual stream, norms, convolutions, embedding, router and output head stay
// in 16 bits unless named, as published quantised checkpoints keep them: in the activations' format when
// that has 16 bits, else in bf16.
#pragma once

#include <string>

#include "base/document/catalog.hpp"
#include "base/document/fields.hpp"
#include "base/units/number_format.hpp"

namespace roofcast::workloads {

struct LinearFormat {
  base::NumberFormat weights = base::NumberFormat::bf16;
  base::NumberFormat activations = base::NumberFormat::bf16;
  bool operator==(const LinearFormat&) const = default;
};

struct Precision {
  std::string id;
  LinearFormat attention;  // projections
  LinearFormat recurrent;  // projections of Mamba and delta-net layers
  LinearFormat mlp;
  LinearFormat experts;  // routed
  LinearFormat shared;   // experts
  LinearFormat latent;   // projections to and from the experts' width
  LinearFormat head;     // and embedding
  LinearFormat plain;    // what is never quantised: router, MLA's absorbed weights
  base::NumberFormat kv_cache = base::NumberFormat::bf16;
  base::NumberFormat state = base::NumberFormat::fp32;  // of recurrent layers
  base::NumberFormat index = base::NumberFormat::fp8;   // keys of the sparse attention's index
};

void read(base::Fields& f, Precision& precision);

// Whether every part is in the same formats, whatever the two are called.
bool same_formats(const Precision& a, const Precision& b);

base::Catalog precision_catalog();

}  // namespace roofcast::workloads
