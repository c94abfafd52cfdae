// SPDX-License-Identifier: Apache-2.0
//
// The format in which the weights of a Hugging Face configuration are published.
#pragma once

#include <string_view>

#include "base/document/node.hpp"
#include "workloads/hugging_face/hugging_face_parts.hpp"

namespace roofcast::workloads {

// Sets native_precision: the id of a precision of the catalog, or `{base: id}` with what the file has in another format.
// Leaves it out, with a note, where no precision can say what the file says. Reads the layers of the document, so they
// must be known. `outer` may hold the keys that the configuration of the language model lacks.
void native_precision(HuggingFaceModel& m, const base::Node& outer);

// Parts of a precision (workloads/architecture/precision.hpp) that are or are not quantised.
struct HuggingFaceParts {
  bool known = true;  // false: a part is quantised in some layers only, or a name says nothing
  std::vector<std::string> plain;  // parts of this model that are not quantised
  std::vector<std::string> quantised;
  bool is_plain(std::string_view part) const;
  bool is_quantised(std::string_view part) const;
};

// Which parts the lists of modules in `quantization` leave out. Modules have the names that transformers gives them.
// Norms, routers, embeddings, head, convolutions, images and multi-token prediction are no parts: they are small, or are
// in 16 bits anyway.
HuggingFaceParts parts_left_out(const HuggingFaceModel& m, const base::Node& quantization);

}  // namespace roofcast::workloads
