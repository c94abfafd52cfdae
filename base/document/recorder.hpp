// SPDX-License-Identifier: Apache-2.0
//
// What a reader is given in place of a document when it is asked which keys it reads (base/document/schema.hpp).
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/document/key.hpp"

namespace roofcast::base {

// The group that holds the key of a dotted path; empty for the outermost.
std::string parent_of(const std::string& path);

// One run: is told the keys by their dotted paths, and answers what is asked about their values.
class Recorder {
 public:
  using Answers = std::map<std::string, std::size_t>;  // by path; 0 when not in it

  struct Question {
    enum class Kind { choice, flag, presence, shape, number };
    Kind kind = Kind::choice;
    std::vector<std::string> answers = {};
  };

  explicit Recorder(Answers answers) : answers_(std::move(answers)) {}

  void key(const std::string& path, Key key);
  bool flag(const std::string& path, Need need);
  double number(const std::string& path, Key key, double initial);
  std::optional<double> quantity(const std::string& path, Key key);
  std::size_t choice(const std::string& path, const std::vector<std::string>& names, Need need);
  bool enter(const std::string& path, Key key);  // whether the group or list is given
  bool is_given(const std::string& path);
  bool is_map(const std::string& path);

  const Answers& answers() const { return answers_; }
  const std::map<std::string, Question>& questions() const { return questions_; }
  const std::vector<std::string>& order() const { return order_; }  // of the keys
  const Key* find(const std::string& path) const;  // nullptr: not named in this run
  // The run could name it: its group or list was given.
  bool reached(const std::string& path) const;

 private:
  std::size_t ask(const std::string& path, Question question);

  Answers answers_;
  std::map<std::string, Question> questions_;
  std::vector<std::string> order_;
  std::map<std::string, Key> keys_;
  std::set<std::string> entered_ = {""};
};

}  // namespace roofcast::base
