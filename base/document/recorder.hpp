// SPDX-License-Identifier: Apache-2.0
//
// What a reader is given in place of a document when it is asked which keys it reads (base/document/schema.hpp).
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/document/key.hpp"

namespace roofcast::base {

// The group that holds the key of a dotted path; empty for the outermost.
std::string parent_of(const std::string& path);

// What all runs of one reader say, by path. Paths are numbered in the order met; 0 is the outermost group.
struct RecordedPaths {
  struct Question {
    enum class Kind { choice, flag, presence, shape, number };
    Kind kind = Kind::choice;
    std::vector<std::string> answers = {};
  };
  struct Path {
    std::string name;
    std::size_t parent = 0;
    std::vector<Key> keys = {};  // the different ones that runs were told
    std::optional<Question> question = std::nullopt;
  };

  RecordedPaths() { number("", 0); }
  std::size_t number(const std::string& path);

  std::vector<Path> paths;

 private:
  std::size_t number(const std::string& path, std::size_t parent);

  std::unordered_map<std::string, std::size_t> numbers_;
};

// One run: is told the keys by their dotted paths, and answers what is asked about their values.
class Recorder {
 public:
  using Question = RecordedPaths::Question;
  using Answers = std::map<std::size_t, std::size_t>;  // by path; 0 when not in it

  Recorder(RecordedPaths& paths, Answers answers) : paths_(&paths), answers_(std::move(answers)) {
    seen(0).entered = true;
  }

  void key(const std::string& path, const Key& key);
  bool flag(const std::string& path, Need need);
  double number(const std::string& path, const Key& key, double initial);
  std::optional<double> quantity(const std::string& path, const Key& key);
  std::size_t choice(const std::string& path, const std::vector<std::string>& names, Need need);
  bool enter(const std::string& path, const Key& key);  // whether the group or list is given
  bool is_given(const std::string& path);
  bool is_map(const std::string& path);

  const Answers& answers() const { return answers_; }
  const std::vector<std::size_t>& order() const { return order_; }  // of the keys
  const std::vector<std::size_t>& questions() const { return questions_; }
  bool asks(std::size_t path) const { return path < seen_.size() && seen_[path].is_question; }
  std::size_t answer(std::size_t path) const;
  const Key* find(std::size_t path) const;  // nullptr: not named in this run
  // The run could name it: its group or list was given.
  bool reached(std::size_t path) const;

 private:
  struct Seen {
    std::size_t key = 0;  // of RecordedPaths::Path::keys, from 1; 0: not named
    bool entered = false;
    bool is_question = false;
  };

  Seen& seen(std::size_t path);
  std::size_t ask(const std::string& path, const Question& question);

  RecordedPaths* paths_;
  Answers answers_;
  std::vector<std::size_t> order_;
  std::vector<std::size_t> questions_;
  std::vector<Seen> seen_;  // by path
};

}  // namespace roofcast::base
