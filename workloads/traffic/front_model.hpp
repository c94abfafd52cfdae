// SPDX-License-Identifier: Apache-2.0
//
// A model that reads something for each request before its prompt is sent: an embedder the question, a reranker the
// passages that were found.
//
//   embedder: {model: bge-m3, tokens: 32, servers: 1}                # on a GPU of its own
//   reranker: {model: bge-m3, tokens: 544, sequences: 50}            # on the GPUs of the model
#pragma once

#include <cstdint>
#include <optional>

#include "base/document/fields.hpp"
#include "workloads/architecture/architecture.hpp"
#include "workloads/architecture/precision.hpp"

namespace roofcast::workloads {

struct FrontModel {
  std::optional<Architecture> model;
  std::optional<Precision> precision;  // when left out, that in which the model was published
  std::int64_t tokens = 0;             // of a sequence
  std::int64_t sequences = 1;          // of a request, read in one pass
  std::int64_t servers =
      0;  // GPUs of its own, each with the whole model; 0: it has the GPUs of the model
};

void read(base::Fields& f, FrontModel& model);

}  // namespace roofcast::workloads
