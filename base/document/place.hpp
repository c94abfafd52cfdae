// SPDX-License-Identifier: Apache-2.0
//
// Where a piece of a document stands, for messages.
#pragma once

#include <memory>
#include <string>

namespace roofcast::base {

// The text a node came from: a file, a catalog entry, or a command-line argument.
struct Source {
  std::string name;  // what an error message calls it, e.g. "sweep.yaml" or "--set"
  std::string text;
  std::string directory;  // where relative paths named in it start; empty = working directory
};

struct Mark {
  int line = 0;    // 0-based
  int column = 0;  // 0-based, in bytes

  bool operator==(const Mark&) const = default;
};

// A place a message can point at.
struct Place {
  std::shared_ptr<const Source> source;
  Mark mark;
};

}  // namespace roofcast::base
