// SPDX-License-Identifier: Apache-2.0
#include "sim/scenario/named_files.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "base/document/catalog.hpp"
#include "sim/scenario/references.hpp"

namespace roofcast::sim {
namespace {

bool is_of_trace(std::string_view path) {
  return path == "traffic.trace" || path == "traffic.trace.file";
}

bool is_relative_path(const base::Node& node, std::string_view path) {
  constexpr std::string_view kBase = ".base";
  const std::string_view part =
      path.ends_with(kBase) ? path.substr(0, path.size() - kBase.size()) : path;
  return node.is_scalar() && !node.text.empty() &&
         (is_of_trace(path) || (reference_at(part) != nullptr && base::names_file(node.text))) &&
         std::filesystem::path(node.text).is_relative();
}

// Calls what(node) of each relative path.
template <class AnyNode, class What>
void for_each_relative_path(AnyNode& node, std::string_view path, const What& what) {
  if (is_relative_path(node, path)) {
    what(node);
  }
  for (auto& [key, key_place, value] : node.entries) {
    for_each_relative_path(value, path.empty() ? std::string(key) : fmt::format("{}.{}", path, key),
                           what);
  }
}

}  // namespace

void make_paths_absolute(base::Node& node, std::string_view path) {
  for_each_relative_path(node, path, [](base::Node& scalar) {
    scalar.text = std::filesystem::absolute(base::named_file(scalar)).lexically_normal().string();
  });
}

bool has_relative_paths(const base::Node& node, std::string_view path) {
  bool has = false;
  for_each_relative_path(node, path, [&](const base::Node&) { has = true; });
  return has;
}

}  // namespace roofcast::sim
