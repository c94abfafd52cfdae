// SPDX-License-Identifier: Apache-2.0
#include "sim/scenario/usual_sections.hpp"

namespace roofcast::sim {
namespace {

void fill(base::Node& document, const char* section, const char* key, const char* value) {
  if (document.find(section) == nullptr) {
    document[section][key] = base::scalar_node(value, document.place);
  }
}

}  // namespace

void fill_usual_sections(base::Node& document) {
  if (!document.is_map()) {
    return;
  }
  fill(document, "deployment", "tensor_parallel", "1");
  if (document.find("training") == nullptr) {
    fill(document, "serving", "stack", kUsualStack);
  }
}

}  // namespace roofcast::sim
