// SPDX-License-Identifier: Apache-2.0
//
// The problems of the user's input, collected so that one run reports all of them.
//
//   h100.yaml:7:15: error: hbm.bandwith: unknown key "bandwith"; did you mean "bandwidth"?
//     bandwith: 3.35 TB/s
//     ^
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "base/document/place.hpp"

namespace roofcast::base {

// Bad input or usage: the user can mend it. what() is the whole text for stderr.
class InputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class Problems {
 public:
  // `path` is the dotted key path (may be empty), `message` one sentence without a full stop.
  void add(const Place& place, std::string_view path, std::string_view message);
  bool empty() const { return texts_.empty(); }
  bool full() const { return texts_.size() >= kMost; }  // further ones are only counted as "more"
  std::size_t size() const { return texts_.size(); }
  std::string text() const;         // every problem once, in the order found
  void throw_if_any() const;        // InputError
  void add_text(std::string text);  // an already rendered problem, e.g. InputError::what()

 private:
  static constexpr std::size_t kMost = 100;

  std::vector<std::string> texts_;
  bool more_ = false;
};

}  // namespace roofcast::base
