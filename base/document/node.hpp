// SPDX-License-Identifier: Apache-2.0
//
// A document as a tree of nodes. Every node knows its place in the file.
//
// Documents are YAML (JSON is a subset), of which a strict part is accepted: one document in UTF-8, string keys, no
// anchors, aliases, merge keys or tags. Duplicate keys, deep nesting and oversized input are errors. Scalars keep their
// text. Only a reader (base/document/fields.hpp) turns them into values, so `010` or `yes` never changes its meaning
// unseen.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/document/place.hpp"

namespace roofcast::base {

struct Entry;

struct Node {
  enum class Kind { null, scalar, sequence, map };

  Kind kind = Kind::null;
  std::string text;            // of a scalar
  bool quoted = false;         // of a scalar: "null" in quotes is a text, not null
  std::vector<Node> items;     // of a sequence
  std::vector<Entry> entries;  // of a map, in document order, keys unique
  Place place;                 // of a map or a null below a key: that key's
  std::string reference;       // the catalog id or path this node was loaded from, when it was
  std::string root;  // the reference at the end of its chain of `base:`, where that is another

  const std::string& root_reference() const { return root.empty() ? reference : root; }
  bool is_null() const { return kind == Kind::null; }
  bool is_scalar() const { return kind == Kind::scalar; }
  bool is_sequence() const { return kind == Kind::sequence; }
  bool is_map() const { return kind == Kind::map; }
  const Entry* entry(std::string_view key) const;  // nullptr when absent or not a map
  const Node* find(std::string_view key) const;    // nullptr when absent or not a map
  Node* find(std::string_view key);
  const Node* find_path(std::string_view dotted) const;  // "a.b.c"; this node for an empty path
  Node* find_path(std::string_view dotted);
  Node& operator[](std::string_view key);  // adds the key when absent; makes a null node a map
};

struct Entry {
  std::string key;
  Place key_place;
  Node value;
};

Node scalar_node(std::string text, Place place);

// Throws InputError (base/document/problems.hpp) with every problem found.
Node parse_document(std::shared_ptr<const Source> source);
Node parse_document(std::string name, std::string text);
Node load_document(const std::filesystem::path& file);

// The tree as YAML that parse_document reads back to an equal tree.
std::string to_yaml(const Node& node);
// Of trees that are equal but for their places, equal. Of this process only.
std::size_t hash(const Node& node);

}  // namespace roofcast::base
