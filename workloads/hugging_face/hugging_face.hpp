// SPDX-License-Identifier: Apache-2.0
//
// Translates the configurations with which models are published on Hugging Face (config.json) to documents of
// our own schema (workloads/architecture/architecture.hpp). Knobs, derived parts and sweeps work on them as
// on any model of the catalog.
//
// Dimensions must be in the file. A switch that is not in the file has the default of its class in
// huggingface/transformers (src/transformers/models/*/configuration_*.py). Every value keeps the place that
// it was read from. A key that would change the work in a way that is not modelled is an error; where the
// rest holds without it, it is a note in the document. Keys that do not change the work are ignored.
#pragma once

#include "base/document/node.hpp"

namespace roofcast::workloads {

// Whether a document is such a configuration: it names its model_type or its architectures.
bool is_hugging_face(const base::Node& document);

// Throws InputError with every problem. A family that is not supported is a problem too.
base::Node from_hugging_face(const base::Node& config);

}  // namespace roofcast::workloads
