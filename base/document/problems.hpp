// SPDX-License-Identifier: Apache-2.0
//
// The problems of the user's input, collected so that one run reports all of them.
//
//   h100.yaml:7:15: error: hbm.bandwith: unknown key "bandwith"; did you mean "bandwidth"?
//     bandwith: 3.35 TB/s
//     ^
#pragma once

#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "base/document/place.hpp"

namespace roofcast::base {

// One of them, in its parts.
struct Problem {
  std::string file;        // or what else its place is called; empty where it has none
  std::size_t line = 0;    // 1-based; 0 where it has no place
  std::size_t column = 0;  // 1-based, in characters
  std::string path;        // the dotted key path; may be empty
  std::string message;     // one sentence without a full stop
  std::string excerpt;     // the line of the file, and a caret below the column
  std::string text;        // all of it, as it is printed
};

// Bad input or usage: the user can mend it. what() is the whole text for stderr.
class InputError : public std::runtime_error {
 public:
  explicit InputError(const std::string& text);  // one problem without a place: "error: …\n"
  InputError(const std::string& text, std::vector<Problem> problems);

  std::span<const Problem> problems() const { return *problems_; }

 private:
  std::shared_ptr<const std::vector<Problem>> problems_;
};

class Problems {
 public:
  // `path` is the dotted key path (may be empty), `message` one sentence without a full stop.
  void add(const Place& place, std::string_view path, std::string_view message);
  void add(const InputError& error);  // its problems
  bool empty() const { return problems_.empty(); }
  bool full() const {
    return problems_.size() >= kMost;
  }  // further ones are only counted as "more"
  std::size_t size() const { return problems_.size(); }
  std::string text() const;                // every problem once, in the order found
  void throw_if_any() const;               // InputError
  void add_text(const std::string& text);  // an already rendered problem without a place

 private:
  static constexpr std::size_t kMost = 100;

  void add(Problem problem);

  std::vector<Problem> problems_;
  bool more_ = false;
};

}  // namespace roofcast::base
