// SPDX-License-Identifier: Apache-2.0
//
// The keys that a reader (base/document/fields.hpp) reads, found by running the reader, so that nothing is said twice:
//
//   const Key chip = describe<hardware::Chip>();     // a group with every key below it
//
// The keys of a reader may depend on values that it has read. So it is run again and again without a document. The
// first run takes the first answer to everything. The next runs change one answer each: every other answer to every
// choice, flag, number, "is this given?" and "is this a map?". Where that changes the keys, one more answer is
// changed on top, at most three deep.
//
// A key is required if it was in every run that could have had it. Where one choice, flag or presence decides whether a
// key is required or unknown, a Condition says so. Where a number decides it, the key is only optional. A key that may
// be a single value or a map is a group that also has the single value.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/document/fields.hpp"

namespace roofcast::base {

using KeyPath = std::vector<std::string>;  // from the group that says it

// What holds in a group when a key below it has this value.
struct Condition {
  KeyPath key;
  std::string value;  // a choice, "true" or "false"; "given" or "absent"
  bool on_presence = false;
  std::vector<KeyPath> required;
  std::vector<KeyPath> unknown;
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
};

Key describe(const std::function<void(Fields&)>& read);

template <class T>
Key describe() {
  return describe([](Fields& f) {
    T value;
    read(f, value);
  });
}

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
