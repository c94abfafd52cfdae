// SPDX-License-Identifier: Apache-2.0
#include "sim/scenario/usual_sections.hpp"

namespace roofcast::sim {
namespace {

void fill(base::Node& document, const char* section, const char* key, const char* value) {
  if (const base::Node* said = document.find(section); said == nullptr || said->is_null()) {
    document[section][key] = base::scalar_node(value, document.place);
  }
}

}  // namespace

void fill_usual_sections(base::Node& document) {
  if (!document.is_map()) {
    return;
  }
  fill(document, "deployment", "tensor_parallel", "1");
  if (const base::Node* training = document.find("training");
      training == nullptr || training->is_null()) {
    fill(document, "serving", "stack", kUsualStack);
  }
}

}  // namespace roofcast::sim
