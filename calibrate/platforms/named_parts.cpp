// SPDX-License-Identifier: Apache-2.0
#include "calibrate/platforms/named_parts.hpp"

#include <cctype>
#include <map>
#include <optional>

#include "base/document/problems.hpp"
#include "sim/scenario/knob.hpp"
#include "sim/scenario/references.hpp"

namespace roofcast::calibrate {
namespace {

// The part that `path` of a scenario would be with this id, whole, whether it is derived or not.
template <class T>
T read_part(std::string_view path, const std::string& id) {
  base::Problems problems;
  base::Node document;
  sim::set_knob(document, path, {}, base::scalar_node(id, {}), problems);
  sim::load_references(document, problems);
  problems.throw_if_any();
  T part;
  base::Fields fields(*document.find_path(path), id, problems);
  read(fields, part);
  fields.end();
  problems.throw_if_any();
  return part;
}

template <class T>
const T* called(const base::Catalog& catalog, std::string_view path, std::string_view name) {
  static std::map<std::string, std::optional<T>, std::less<>> parts;  // one for each T
  auto known = parts.find(name);
  if (known == parts.end()) {
    const auto id = base::id_called(catalog, name);
    known = parts.emplace(name, id ? std::optional(read_part<T>(path, *id)) : std::nullopt).first;
  }
  return known->second ? &*known->second : nullptr;
}

// Letters and digits alone: "meta-llama/Llama-3.1-70B" and "llama-3.1-70b" are alike.
std::string plain(std::string_view name) {
  std::string letters;
  for (const char c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      letters += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  return letters;
}

}  // namespace

const hardware::Chip* chip_called(std::string_view name) {
  return called<hardware::Chip>(hardware::chip_catalog(), "system.chip", name);
}

const workloads::Architecture* model_called(std::string_view name) {
  return called<workloads::Architecture>(workloads::model_catalog(), "model", name);
}

std::string model_in(std::string_view name) {
  const std::string whole = plain(name);
  std::string found;
  for (const std::string& id : base::catalog_ids(workloads::model_catalog())) {
    if (id.size() > found.size() && whole.find(plain(id)) != std::string::npos) {
      found = id;
    }
  }
  return found;
}

}  // namespace roofcast::calibrate
