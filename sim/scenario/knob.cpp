// SPDX-License-Identifier: Apache-2.0
#include "sim/scenario/knob.hpp"

#include <fmt/format.h>

#include <memory>

#include "sim/scenario/references.hpp"

namespace roofcast::sim {

using base::Node;
using base::Problems;

void set_knob(Node& document, std::string_view path, const base::Place& path_place,
              const Node& value, Problems& problems) {
  set_through(document, path, path_place, value, problems);
}

void set_knob(Node& document, const base::Source& assignment, Problems& problems) {
  const auto source = std::make_shared<const base::Source>(assignment);
  const auto equals = source->text.find('=');
  if (equals == std::string::npos || equals + 1 == source->text.size()) {
    problems.add({source, {}}, "", "expects path=value, for example deployment.tensor_parallel=4");
    return;
  }
  const std::string path = source->text.substr(0, equals);
  const std::string text = source->text.substr(equals + 1);
  try {
    // Lists and maps may be typed too; their places point into the value.
    Node value = base::parse_document(fmt::format("{} {}", source->name, path), text);
    if (value.is_scalar()) {
      value.place = {source, {0, static_cast<int>(equals) + 1}};
    }
    set_knob(document, path, {source, {}}, value, problems);
  } catch (const base::InputError& error) {
    problems.add(error);
  }
}

}  // namespace roofcast::sim
