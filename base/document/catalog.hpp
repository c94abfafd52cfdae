// SPDX-License-Identifier: Apache-2.0
//
// Open sets are data: one YAML file for each thing, file name = id, embedded in the program at build time.
//
// A catalog is one such set (chips, systems, models, …). A directory of the user can replace or add entries:
// `<directory>/<kind>/<id>.yaml` wins over the embedded entry of the same id.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/catalog_entry.hpp"
#include "base/document/node.hpp"

namespace roofcast::base {

// Another schema in which documents of a kind may be written.
struct ForeignSchema {
  bool (*recognises)(const Node& document);
  Node (*translate)(const Node& document);  // throws InputError
};

struct Catalog {
  std::string_view kind;      // "chips": the name of the folder and the word in messages
  std::string_view singular;  // "chip"
  std::span<const CatalogEntry> embedded;
  const ForeignSchema* foreign = nullptr;
  bool additive =
      false;  // the user's entry adds to the built-in one of its id, which it hides in other catalogs

  bool is_foreign(const Node& document) const {
    return foreign != nullptr && foreign->recognises(document);
  }
};

// The directory of the user; empty (the default) for none. It comes from the environment variable ROOFCAST_CATALOG and
// is set once, before the first look-up.
const std::string& user_catalog_directory();
// Takes its place: for a process that runs a command of another one.
void use_user_catalog(std::string directory);

// All ids, sorted, with those of the user.
std::vector<std::string> catalog_ids(const Catalog& catalog);

// Whether what may be an id of the catalog is the path of a file.
bool names_file(std::string_view text);
// The file that a scalar names. A relative path begins at the folder of its document.
std::filesystem::path named_file(const Node& scalar);

// The document that a scalar names. The scalar is a catalog id, or a path relative to the file with the scalar (a path
// has a '/' or ends in .yaml, .yml or .json). Throws InputError at the place of the scalar, with the nearest id.
Node load_reference(const Catalog& catalog, const Node& scalar, std::string_view path);
Node load_entry(const Catalog& catalog, const std::string& id);
// The built-in entry, whatever the user has under its id; none where there is none.
std::optional<Node> built_in_entry(const Catalog& catalog, std::string_view id);

// The id of the entry that other people's tables call so: the id itself, or a name of its `known_as`. The user's own
// entries come first; InputError where two entries of the same rank have the name.
std::optional<std::string> id_called(const Catalog& catalog, std::string_view name);

}  // namespace roofcast::base
