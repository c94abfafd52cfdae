// SPDX-License-Identifier: Apache-2.0
//
// The configurations that models are published with on Hugging Face (config.json), as documents of
// our own schema (workloads/architecture/architecture.hpp): knobs, derived parts and sweeps work on them as on any
// model of the catalog.
//
// Dimensions must be in the file; a switch that is not has the default of its class in
// huggingface/transformers (src/transformers/models/*/configuration_*.py). Every value keeps the
// place it was read from. What would change the work and is not modelled is an error, or a note in
// the document where the rest holds without it; keys that do not change the work are ignored.
#pragma once

#include "base/document/node.hpp"

namespace roofcast::workloads {

// Whether a document is such a configuration: it names its model_type or its architectures.
bool is_hugging_face(const base::Node& document);

// Throws InputError with every problem, among them a family that is not supported.
base::Node from_hugging_face(const base::Node& config);

}  // namespace roofcast::workloads
