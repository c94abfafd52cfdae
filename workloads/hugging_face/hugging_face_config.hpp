// SPDX-License-Identifier: Apache-2.0
//
// Reads one Hugging Face configuration, for workloads/hugging_face/hugging_face.cpp and its families.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/document/fields.hpp"
#include "base/document/node.hpp"
#include "base/document/problems.hpp"

namespace roofcast::workloads {

// A whole number and its place: that of its key, or that of the configuration for a default.
struct Figure {
  std::int64_t value = 0;
  base::Place place;
};

// A key that a family spells in its own way (attribute_map of its class), and what its class takes where the file has
// none of it. 0: the file must have it. A usual key may have several spellings.
struct HuggingFaceKey {
  std::string_view usual;
  std::string_view own;
  std::int64_t fallback = 0;
};
using HuggingFaceKeys = std::span<const HuggingFaceKey>;

// Unlike a document of our own, a configuration may hold any other key. null is the same as absent.
// Functions take usual keys, and read them as `keys` say. The keys that anyone asks for are kept, in this and in its
// copies.
class HuggingFaceConfig {
 public:
  HuggingFaceConfig(const base::Node& node, std::string path, base::Problems& problems,
                    HuggingFaceKeys keys = {});

  const base::Node& node() const { return *node_; }
  // The value of a key, nullptr where the file lacks it.
  const base::Node* find(std::string_view key) const;
  // The keys that were asked for so far, as this file spells them.
  const std::set<std::string, std::less<>>& asked() const { return *asked_; }
  // Whether the file has it, or the family's class a figure for it.
  bool has(std::string_view key) const;
  bool is_null(std::string_view key) const;  // written as null
  base::Place place_of(std::string_view key) const;
  // The first of `keys` that is in the configuration, or the first of all: other versions spell keys differently.
  std::string_view first_of(std::initializer_list<std::string_view> keys) const;

  // A value that is missing or out of range is a problem and reads as 0, or as the fallback.
  Figure required(std::string_view key, base::Range range = base::at_least_one);
  Figure optional(std::string_view key, std::int64_t fallback,
                  base::Range range = base::not_negative);
  double required_number(std::string_view key);
  bool flag(std::string_view key, bool fallback);
  std::string text(std::string_view key);
  // A list with an entry for each layer. nullptr when it is absent or, which is a problem, is no such list.
  const base::Node* list_of_layers(std::string_view key, std::size_t layers);
  // Which layers a list of their indices names, counted from `first`. An index out of range is a problem. A text may
  // stand for the list: "4,5,6".
  std::vector<bool> chosen_layers(std::string_view key, std::size_t layers, std::size_t first = 0);
  // The configuration at a node below this one; `path`: its path from here.
  HuggingFaceConfig at(const base::Node& node, std::string_view path) const;
  // Reports a value that is none of the known ones.
  void unknown(const base::Node& value, std::string_view key, std::string_view what,
               const std::vector<std::string>& known);
  void problem(const base::Place& place, std::string_view key, std::string_view message);

 private:
  std::string path_of(std::string_view key) const;
  std::string_view own(std::string_view key) const;  // how this file spells it
  bool is_renamed(std::string_view key) const { return own(key) != key; }
  std::int64_t fallback_of(std::string_view key) const;

  const base::Node* node_;
  std::shared_ptr<std::set<std::string, std::less<>>> asked_;
  base::Fields fields_;
  base::Problems* problems_;
  HuggingFaceKeys keys_;
};

}  // namespace roofcast::workloads
