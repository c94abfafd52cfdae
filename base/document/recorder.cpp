// SPDX-License-Identifier: Apache-2.0
#include "base/document/recorder.hpp"

#include <algorithm>
#include <cmath>

namespace roofcast::base {

std::string parent_of(const std::string& path) {
  const auto dot = path.rfind('.');
  return dot == std::string::npos ? "" : path.substr(0, dot);
}

std::size_t Recorder::ask(const std::string& path, Question question) {
  questions_.emplace(path, std::move(question));
  const auto found = answers_.find(path);
  return found == answers_.end() ? 0 : found->second;
}

void Recorder::key(const std::string& path, Key key) {
  if (keys_.insert_or_assign(path, std::move(key)).second) {
    order_.push_back(path);
  }
}

bool Recorder::flag(const std::string& path, Need need) {
  key(path, {.type = Key::Type::flag, .need = need});
  return ask(path, {Question::Kind::flag, {"false", "true"}}) == 1;
}

double Recorder::number(const std::string& path, Key key, double initial) {
  const Range range = key.range;
  const bool from_least = std::isfinite(range.least);
  const bool least = key.need == required && from_least && !range.open_below;
  const double low = least ? range.least : initial;
  this->key(path, std::move(key));
  const double high = std::min(range.most, (from_least ? range.least : 0.0) + 1.0);
  return ask(path, {Question::Kind::number, {"low", "high"}}) == 0 ? low : high;
}

std::optional<double> Recorder::quantity(const std::string& path, Key key) {
  const Need need = key.need;
  this->key(path, std::move(key));
  return need == required || is_given(path) ? std::optional(1.0) : std::nullopt;
}

std::size_t Recorder::choice(const std::string& path, const std::vector<std::string>& names,
                             Need need) {
  key(path, {.type = Key::Type::choice, .need = need, .choices = names});
  return ask(path, {Question::Kind::choice, names});
}

bool Recorder::enter(const std::string& path, Key key) {
  const Need need = key.need;
  this->key(path, std::move(key));
  const bool given = need == required || is_given(path);
  if (given) {
    entered_.insert(path);
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

const Key* Recorder::find(const std::string& path) const {
  const auto found = keys_.find(path);
  return found == keys_.end() ? nullptr : &found->second;
}

bool Recorder::reached(const std::string& path) const { return entered_.contains(parent_of(path)); }

}  // namespace roofcast::base
