// SPDX-License-Identifier: Apache-2.0
//
// What a document may say at a key.
#pragma once

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "base/units/dimension.hpp"

namespace roofcast::base {

struct Range {
  double least = -std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::infinity();
  bool open_below = false;  // least itself is excluded

  friend bool operator==(const Range&, const Range&) = default;
};
inline constexpr Range any_value{};
inline constexpr Range positive{0.0, std::numeric_limits<double>::infinity(), true};
inline constexpr Range not_negative{0.0};
inline constexpr Range fraction{0.0, 1.0};
inline constexpr Range at_least_one{1.0};

enum class Need { required, optional };
inline constexpr Need required = Need::required;
inline constexpr Need optional = Need::optional;

using KeyPath = std::vector<std::string>;  // from the group that says it

// What holds in a group when a key below it has this value.
struct Condition {
  KeyPath key;
  std::string value;  // a choice, "true" or "false"; "given" or "absent"
  bool on_presence = false;
  std::vector<KeyPath> required;
  std::vector<KeyPath> unknown;
  // Keys whose presence must be as said too. They decide whether the reader asks for this key at all.
  std::vector<std::pair<KeyPath, bool>> also_present = {};

  friend bool operator==(const Condition&, const Condition&) = default;
};

struct Key {
  enum class Type {
    any,
    text,
    texts,
    flag,
    integer,
    integers,
    number,
    numbers,
    quantity,
    choice,
    group,
    list
  };

  std::string name = {};
  Type type = Type::any;
  Need need = required;
  Range range = {};                       // of integers, numbers or a quantity in SI units
  Dimension dimension = {};               // of a quantity
  std::vector<std::string> choices = {};  // of a choice
  std::vector<Key> below = {};            // of a group, and of each entry of a list
  std::vector<Key> single = {};  // of a group: the value that may stand instead, if any may
  std::vector<Condition> conditions = {};

  friend bool operator==(const Key&, const Key&) = default;
};

}  // namespace roofcast::base
