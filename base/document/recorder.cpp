// SPDX-License-Identifier: Apache-2.0
#include "base/document/recorder.hpp"

#include <algorithm>
#include <cmath>

namespace roofcast::base {

std::string parent_of(const std::string& path) {
  const auto dot = path.rfind('.');
  return dot == std::string::npos ? "" : path.substr(0, dot);
}

std::size_t RecordedPaths::number(const std::string& path, std::size_t parent) {
  const std::size_t number = paths.size();
  numbers_.emplace(path, number);
  paths.push_back({path, parent});
  return number;
}

std::size_t RecordedPaths::number(const std::string& path) {
  const auto found = numbers_.find(path);
  return found != numbers_.end() ? found->second : number(path, number(parent_of(path)));
}

Recorder::Seen& Recorder::seen(std::size_t path) {
  if (path >= seen_.size()) {
    seen_.resize(std::max(path + 1, paths_->paths.size()));
  }
  return seen_[path];
}

std::size_t Recorder::answer(std::size_t path) const {
  const auto found = answers_.find(path);
  return found == answers_.end() ? 0 : found->second;
}

std::size_t Recorder::ask(const std::string& path, const Question& question) {
  const std::size_t number = paths_->number(path);
  if (!paths_->paths[number].question) {
    paths_->paths[number].question = question;
  }
  Seen& here = seen(number);
  if (!here.is_question) {
    here.is_question = true;
    questions_.push_back(number);
  }
  return answer(number);
}

void Recorder::key(const std::string& path, const Key& key) {
  const std::size_t number = paths_->number(path);
  Seen& here = seen(number);
  if (here.key == 0) {
    order_.push_back(number);
  }
  std::vector<Key>& keys = paths_->paths[number].keys;
  const auto found = std::find(keys.begin(), keys.end(), key);
  here.key = static_cast<std::size_t>(found - keys.begin()) + 1;
  if (found == keys.end()) {
    keys.push_back(key);
  }
}

bool Recorder::flag(const std::string& path, Need need) {
  key(path, {.type = Key::Type::flag, .need = need});
  return ask(path, {Question::Kind::flag, {"false", "true"}}) == 1;
}

double Recorder::number(const std::string& path, const Key& key, double initial) {
  const Range range = key.range;
  const bool from_least = std::isfinite(range.least);
  const bool least = key.need == required && from_least && !range.open_below;
  const double low = least ? range.least : initial;
  this->key(path, key);
  const double high = std::min(range.most, (from_least ? range.least : 0.0) + 1.0);
  return ask(path, {Question::Kind::number, {"low", "high"}}) == 0 ? low : high;
}

std::optional<double> Recorder::quantity(const std::string& path, const Key& key) {
  this->key(path, key);
  return key.need == required || is_given(path) ? std::optional(1.0) : std::nullopt;
}

std::size_t Recorder::choice(const std::string& path, const std::vector<std::string>& names,
                             Need need) {
  key(path, {.type = Key::Type::choice, .need = need, .choices = names});
  return ask(path, {Question::Kind::choice, names});
}

bool Recorder::enter(const std::string& path, const Key& key) {
  this->key(path, key);
  const bool given = key.need == required || is_given(path);
  if (given) {
    seen(paths_->number(path)).entered = true;
  }
  return given;
}

bool Recorder::is_given(const std::string& path) {
  return ask(path, {Question::Kind::presence, {"given", "absent"}}) == 0;
}

bool Recorder::is_map(const std::string& path) {
  // Not at the path itself: whether the key is given may be asked too.
  return ask(path + "/shape", {Question::Kind::shape, {"a single value", "a map"}}) == 1;
}

const Key* Recorder::find(std::size_t path) const {
  const std::size_t key = path < seen_.size() ? seen_[path].key : 0;
  return key == 0 ? nullptr : &paths_->paths[path].keys[key - 1];
}

bool Recorder::reached(std::size_t path) const {
  const std::size_t parent = paths_->paths[path].parent;
  return parent < seen_.size() && seen_[parent].entered;
}

}  // namespace roofcast::base
