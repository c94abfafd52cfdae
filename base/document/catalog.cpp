// SPDX-License-Identifier: Apache-2.0
#include "base/document/catalog.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <mutex>
#include <utility>

#include "base/document/fields.hpp"
#include "base/document/notes.hpp"
#include "base/document/problems.hpp"
#include "base/document/used_entries.hpp"
#include "base/nearest.hpp"

namespace roofcast::base {
namespace {

std::string& user_directory() {
  static std::string directory = [] {
    const char* value = std::getenv("ROOFCAST_CATALOG");
    std::string named(value != nullptr ? value : "");
    std::error_code error;
    if (!named.empty() && !std::filesystem::is_directory(named, error)) {
      add_note(fmt::format(
          "note: ROOFCAST_CATALOG is {}, which is no directory: the catalog is the built-in one",
          named));
    }
    return named;
  }();
  return directory;
}

std::filesystem::path user_folder(const Catalog& catalog) {
  const std::string& directory = user_catalog_directory();
  return directory.empty() ? std::filesystem::path()
                           : std::filesystem::path(directory) / catalog.kind;
}

// Also where it cannot be read, such as a link to nothing: whoever reads it says so.
bool is_there(const std::filesystem::path& path) {
  std::error_code error;
  return !path.empty() && std::filesystem::symlink_status(path, error).type() !=
                              std::filesystem::file_type::not_found;
}

// Of the user's own entry; empty where there is none.
std::filesystem::path user_file(const Catalog& catalog, const std::string& id) {
  const auto folder = user_folder(catalog);
  const auto file = folder / (id + ".yaml");
  return !folder.empty() && is_there(file) ? file : std::filesystem::path();
}

const CatalogEntry* embedded_entry(const Catalog& catalog, std::string_view id) {
  const auto it = std::find_if(catalog.embedded.begin(), catalog.embedded.end(),
                               [&](const CatalogEntry& entry) { return entry.id == id; });
  return it == catalog.embedded.end() ? nullptr : &*it;
}

// Parsed once, because a sweep over knobs of a system asks for its calibration, a large document, at every value.
Node parsed(const CatalogEntry& entry) {
  static std::mutex mutex;
  static std::map<const char*, Node> all;
  const std::lock_guard lock(mutex);
  const auto known = all.find(entry.text.data());
  return known != all.end()
             ? known->second
             : all.emplace(entry.text.data(),
                           parse_document(std::string(entry.file), std::string(entry.text)))
                   .first->second;
}

Node find(const Catalog& catalog, const std::string& id) {
  const auto file = user_file(catalog, id);
  return file.empty() ? parsed(*embedded_entry(catalog, id)) : load_document(file);
}

void keep_used(const Catalog& catalog, const std::string& id, const Node& document) {
  const bool embedded = embedded_entry(catalog, id) != nullptr;
  const auto file = user_file(catalog, id);
  const bool both = embedded && !file.empty();
  note_used(catalog.kind, id, file.empty() ? "built-in" : file.string(), both && !catalog.additive,
            document.place.source->text);
  if (both && catalog.additive) {
    add_note(fmt::format("note: {} adds to the built-in entry \"{}\"", file.string(), id));
  }
}

// Ids by the names of `known_as`.
using Names = std::map<std::string, std::string, std::less<>>;

Names names_of(const Catalog& catalog) {
  Names user;
  Names shipped;
  Problems problems;
  for (const std::string& id : catalog_ids(catalog)) {
    Names& names = user_file(catalog, id).empty() ? shipped : user;
    const Node document = find(catalog, id);
    std::vector<std::string> known_as;
    if (document.is_map()) {
      Fields(document, id, problems).texts("known_as", known_as);
    }
    for (const std::string& name : known_as) {
      const auto [known, is_new] = names.emplace(name, id);
      if (!is_new) {
        problems.add(document.find("known_as")->place, "known_as",
                     fmt::format("{} is called \"{}\" too", known->second, name));
      }
    }
  }
  problems.throw_if_any();
  user.merge(shipped);
  return user;
}

}  // namespace

const std::string& user_catalog_directory() { return user_directory(); }

void use_user_catalog(std::string directory) { user_directory() = std::move(directory); }

bool names_file(std::string_view text) {
  return text.find('/') != std::string_view::npos || text.ends_with(".yaml") ||
         text.ends_with(".yml") || text.ends_with(".json");
}

std::filesystem::path named_file(const Node& scalar) {
  std::filesystem::path file(scalar.text);
  return file.is_relative() && scalar.place.source
             ? std::filesystem::path(scalar.place.source->directory) / file
             : file;
}

std::vector<std::string> catalog_ids(const Catalog& catalog) {
  std::vector<std::string> ids;
  for (const CatalogEntry& entry : catalog.embedded) {
    ids.emplace_back(entry.id);
  }
  if (const auto folder = user_folder(catalog); is_there(folder)) {
    std::error_code error;
    const std::filesystem::directory_iterator files(folder, error);
    if (error) {
      throw InputError(
          fmt::format("error: cannot read {}: {}\n", folder.string(), error.message()));
    }
    for (const auto& file : files) {
      if (file.path().extension() == ".yaml" && !file.is_fifo(error)) {
        ids.push_back(file.path().stem().string());
      }
    }
  }
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

Node load_reference(const Catalog& catalog, const Node& scalar, std::string_view path) {
  const std::string& name = scalar.text;
  Problems problems;
  if (names_file(name)) {
    const std::filesystem::path file = named_file(scalar);
    std::error_code error;
    if (!std::filesystem::exists(file, error)) {
      problems.add(scalar.place, path, fmt::format("there is no file {}", file.string()));
      problems.throw_if_any();
    }
    Node node = load_document(file);
    if (!node.is_map()) {
      problems.add(node.place, path, fmt::format("a {} is a map of keys", catalog.singular));
      problems.throw_if_any();
    }
    node.reference = name;
    return node;
  }
  const auto ids = catalog_ids(catalog);
  if (std::find(ids.begin(), ids.end(), name) == ids.end()) {
    std::vector<std::string> meant = names_with_words(name, ids);
    if (const auto near = nearest_name(name, ids); near && meant.empty()) {
      meant = {*near};
    }
    problems.add(scalar.place, path,
                 fmt::format("no {} is called \"{}\"{} (see `roofcast list {}`)", catalog.singular,
                             name, did_you_mean(meant), catalog.kind));
    problems.throw_if_any();
  }
  Node node = find(catalog, name);
  keep_used(catalog, name, node);
  node.reference = name;
  return node;
}

Node load_entry(const Catalog& catalog, const std::string& id) {
  return load_reference(catalog, scalar_node(id, {}), "");
}

std::optional<Node> built_in_entry(const Catalog& catalog, std::string_view id) {
  const CatalogEntry* entry = embedded_entry(catalog, id);
  return entry == nullptr ? std::nullopt : std::optional(parsed(*entry));
}

std::optional<std::string> id_called(const Catalog& catalog, std::string_view name) {
  const auto ids = catalog_ids(catalog);
  if (std::binary_search(ids.begin(), ids.end(), name)) {
    return std::string(name);
  }
  static std::mutex mutex;
  static std::map<std::string_view, Names> by_kind;
  const std::lock_guard lock(mutex);
  auto names = by_kind.find(catalog.kind);
  if (names == by_kind.end()) {
    names = by_kind.emplace(catalog.kind, names_of(catalog)).first;
  }
  const auto found = names->second.find(name);
  return found == names->second.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace roofcast::base
