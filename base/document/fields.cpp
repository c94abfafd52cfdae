// SPDX-License-Identifier: Apache-2.0
#include "base/document/fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/document/recorder.hpp"
#include "base/document/renamed.hpp"
#include "base/nearest.hpp"
#include "base/units/unit_table.hpp"

namespace roofcast::base {
namespace {

std::optional<double> plain_number(std::string_view text) {
  if (text.starts_with('+') && !text.starts_with("+-")) {
    text.remove_prefix(1);
  }
  double value = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) {
    return std::nullopt;
  }
  return value;
}

std::string with_suggestion(std::string message, std::string_view wrong,
                            const std::vector<std::string>& allowed) {
  if (const auto near = nearest_name(wrong, allowed)) {
    message += fmt::format("; did you mean \"{}\"?", *near);
  }
  return message + fmt::format(" (allowed: {})", fmt::join(allowed, ", "));
}

}  // namespace

Fields::Fields(const Node& node, std::string path, Problems& problems)
    : node_(&node), path_(std::move(path)), problems_(&problems) {
  if (!node.is_map()) {
    usable_ = false;
    problems.add(node.place, path_, "a map of keys is expected here");
  }
}

Fields::Fields(Recorder& recorder, std::string path)
    : path_(std::move(path)), recorder_(&recorder) {
  static const Node nothing;
  node_ = &nothing;
}

// Under its name of today, or the one before.
const Entry* Fields::entry(std::string_view key) const {
  const Entry* found = node_->entry(key);
  return found == nullptr && !old_name(key).empty() ? node_->entry(old_name(key)) : found;
}

bool Fields::has(std::string_view key) const {
  if (recorder_ != nullptr) {
    return recorder_->is_given(path_of(key));
  }
  const Entry* found = entry(key);
  return found != nullptr && !found->value.is_null();
}

bool Fields::is_map(std::string_view key) const {
  if (recorder_ != nullptr) {
    return recorder_->is_map(path_of(key));
  }
  const Node* found = node_->find(key);
  return found != nullptr && found->is_map();
}

std::string Fields::path_of(std::string_view key) const {
  return path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key);
}

const Node* Fields::take(std::string_view key, Need need) {
  if (recorder_ != nullptr) {
    recorder_->key(path_of(key), {.type = Key::Type::any, .need = need});
    return nullptr;
  }
  known_.emplace_back(key);
  const Entry* found = entry(key);
  if (found != nullptr && found->key != key) {
    known_.push_back(found->key);
    note_renamed(found->key_place, found->key);
  }
  if (found != nullptr && !found->value.is_null()) {
    return &found->value;
  }
  if (need == required && usable_) {
    missing_.emplace_back(key);
  }
  return nullptr;
}

const Node* Fields::scalar(std::string_view key, Need need) {
  const Node* found = take(key, need);
  if (found != nullptr && !found->is_scalar()) {
    problems_->add(found->place, path_of(key), "a single value is expected here");
    return nullptr;
  }
  return found;
}

void Fields::problem(std::string_view key, std::string_view message) {
  if (recorder_ != nullptr || !usable_) {
    return;
  }
  const Node* found = node_->find_path(key);
  problems_->add(found != nullptr ? found->place : node_->place, path_of(key), message);
}

void Fields::check_range(const Node& node, std::string_view key, double value, Range range) {
  const bool low = range.open_below ? value <= range.least : value < range.least;
  if (low) {
    problems_->add(node.place, path_of(key),
                   fmt::format("must be {} {}, not {}", range.open_below ? "more than" : "at least",
                               range.least, node.text));
  } else if (value > range.most) {
    problems_->add(node.place, path_of(key),
                   fmt::format("must be at most {}, not {}", range.most, node.text));
  }
}

void Fields::text(std::string_view key, std::string& target, Need need) {
  if (recorder_ != nullptr) {
    recorder_->key(path_of(key), {.type = Key::Type::text, .need = need});
    return;
  }
  if (const Node* node = scalar(key, need)) {
    target = node->text;
  }
}

void Fields::flag(std::string_view key, bool& target, Need need) {
  if (recorder_ != nullptr) {
    target = recorder_->flag(path_of(key), need);
    return;
  }
  if (const Node* node = scalar(key, need)) {
    if (node->text == "true" || node->text == "false") {
      target = node->text == "true";
    } else {
      problems_->add(node->place, path_of(key),
                     fmt::format("must be true or false, not \"{}\"", node->text));
    }
  }
}

void Fields::number(std::string_view key, double& target, Range range, Need need) {
  if (recorder_ != nullptr) {
    target = recorder_->number(path_of(key),
                               {.type = Key::Type::number, .need = need, .range = range}, target);
    return;
  }
  if (const Node* node = scalar(key, need)) {
    target = plain(*node, key, range).value_or(target);
  }
}

std::optional<double> Fields::plain(const Node& node, std::string_view key, Range range) {
  const auto value = plain_number(node.text);
  if (value) {
    constexpr DimensionText kPlain = kDimensionTexts.front();
    static_assert(kPlain.dimension == kNone);
    const double size = std::abs(*value);
    if (size != 0.0 && (size < kPlain.least || size > kPlain.most)) {
      problems_->add(node.place, path_of(key), parse_quantity(node.text, kNone).error);
      return std::nullopt;
    }
    check_range(node, key, *value, range);
  } else {
    problems_->add(node.place, path_of(key),
                   fmt::format("a number without a unit is expected, not \"{}\"", node.text));
  }
  return value;
}

void Fields::integer(std::string_view key, std::int64_t& target, Range range, Need need) {
  if (recorder_ != nullptr) {
    target = static_cast<std::int64_t>(
        recorder_->number(path_of(key), {.type = Key::Type::integer, .need = need, .range = range},
                          static_cast<double>(target)));
    return;
  }
  if (const Node* node = scalar(key, need)) {
    if (const auto value = whole(*node, key, range)) {
      target = *value;
    }
  }
}

std::optional<std::int64_t> Fields::whole(const Node& node, std::string_view key, Range range) {
  const auto value = plain_number(node.text);
  if (!value || *value != std::floor(*value) || std::abs(*value) > 1e15) {
    problems_->add(node.place, path_of(key),
                   fmt::format("a whole number is expected, not \"{}\"", node.text));
    return std::nullopt;
  }
  check_range(node, key, *value, range);
  return static_cast<std::int64_t>(*value);
}

void Fields::integer(std::string_view key, std::optional<std::int64_t>& target, Range range) {
  const bool given = has(key);
  std::int64_t value = 0;
  integer(key, value, range, optional);
  if (given) {
    target = value;
  }
}

void Fields::texts(std::string_view key, std::vector<std::string>& target, Need need) {
  if (recorder_ != nullptr) {
    recorder_->key(path_of(key), {.type = Key::Type::texts, .need = need});
    return;
  }
  for (const Node* item : scalars(key, need)) {
    target.push_back(item->text);
  }
}

std::vector<const Node*> Fields::scalars(std::string_view key, Need need) {
  std::vector<const Node*> found;
  const Node* node = take(key, need);
  if (node == nullptr) {
    return found;
  }
  if (!node->is_sequence()) {
    problems_->add(node->place, path_of(key), "a list is expected here: [a, b]");
    return found;
  }
  for (const Node& item : node->items) {
    if (item.is_scalar()) {
      found.push_back(&item);
    } else {
      problems_->add(item.place, path_of(key), "a list of single values is expected here");
    }
  }
  return found;
}

void Fields::integers(std::string_view key, std::vector<std::int64_t>& target, Range range,
                      Need need) {
  if (recorder_ != nullptr) {
    recorder_->key(path_of(key), {.type = Key::Type::integers, .need = need, .range = range});
    return;
  }
  for (const Node* item : scalars(key, need)) {
    if (const auto value = whole(*item, key, range)) {
      target.push_back(*value);
    }
  }
}

void Fields::numbers(std::string_view key, std::vector<double>& target, Range range, Need need) {
  if (recorder_ != nullptr) {
    recorder_->key(path_of(key), {.type = Key::Type::numbers, .need = need, .range = range});
    return;
  }
  for (const Node* item : scalars(key, need)) {
    if (const auto value = plain(*item, key, range)) {
      target.push_back(*value);
    }
  }
}

std::vector<double> Fields::quantities_si(std::string_view key, Dimension dimension, Range range,
                                          Need need) {
  if (recorder_ != nullptr) {
    recorder_->key(path_of(key), {.type = Key::Type::texts, .need = need});
    return {};
  }
  std::vector<double> found;
  for (const Node* item : scalars(key, need)) {
    if (const auto si = quantity_of(*item, key, dimension, range)) {
      found.push_back(*si);
    }
  }
  return found;
}

void Fields::source() {
  std::string ignored;
  text("source", ignored);
}

std::optional<double> Fields::quantity_si(std::string_view key, Dimension dimension, Range range,
                                          Need need) {
  if (recorder_ != nullptr) {
    return recorder_->quantity(
        path_of(key),
        {.type = Key::Type::quantity, .need = need, .range = range, .dimension = dimension});
  }
  const Node* node = scalar(key, need);
  if (node == nullptr) {
    return std::nullopt;
  }
  return quantity_of(*node, key, dimension, range);
}

std::optional<double> Fields::quantity_of(const Node& node, std::string_view key,
                                          Dimension dimension, Range range) {
  const ParsedQuantity parsed = parse_quantity(node.text, dimension);
  if (!parsed.ok()) {
    problems_->add(node.place, path_of(key), parsed.error);
    return std::nullopt;
  }
  check_range(node, key, parsed.si, range);
  return parsed.si;
}

std::optional<std::size_t> Fields::choice_index(std::string_view key,
                                                const std::vector<std::string>& names, Need need) {
  if (recorder_ != nullptr) {
    return recorder_->choice(path_of(key), names, need);
  }
  const Node* node = scalar(key, need);
  if (node == nullptr) {
    return std::nullopt;
  }
  const auto it = std::find(names.begin(), names.end(), node->text);
  if (it == names.end()) {
    problems_->add(
        node->place, path_of(key),
        with_suggestion(fmt::format("unknown value \"{}\"", node->text), node->text, names));
    return std::nullopt;
  }
  return static_cast<std::size_t>(it - names.begin());
}

bool Fields::group(std::string_view key, const std::function<void(Fields&)>& read, Need need) {
  if (recorder_ != nullptr) {
    const bool given = recorder_->enter(path_of(key), {.type = Key::Type::group, .need = need});
    if (given) {
      Fields below(*recorder_, path_of(key));
      read(below);
    }
    return given;
  }
  const Node* node = take(key, need);
  if (node == nullptr) {
    return false;
  }
  Fields below(*node, path_of(key), *problems_);
  read(below);
  below.end();
  return below.usable_;
}

bool Fields::part(std::string_view key, const std::function<void(Fields&)>& read, Need need) {
  if (recorder_ != nullptr) {
    recorder_->key(path_of(key), {.type = Key::Type::any, .need = need});
    return false;
  }
  return group(key, read, need);
}

void Fields::each(std::string_view key, const std::function<void(Fields&)>& read, Need need) {
  if (recorder_ != nullptr) {
    if (recorder_->enter(path_of(key), {.type = Key::Type::list, .need = need})) {
      Fields below(*recorder_, path_of(key));
      read(below);
    }
    return;
  }
  const Node* node = take(key, need);
  if (node == nullptr) {
    return;
  }
  if (!node->is_sequence() || node->items.empty()) {
    problems_->add(node->place, path_of(key), "a list with at least one entry is expected here");
    return;
  }
  for (std::size_t i = 0; i < node->items.size(); ++i) {
    Fields below(node->items[i], fmt::format("{}[{}]", path_of(key), i), *problems_);
    read(below);
    below.end();
  }
}

void Fields::end() {
  if (!usable_ || recorder_ != nullptr) {
    return;
  }
  std::vector<const Entry*> unknown;
  for (const Entry& entry : node_->entries) {
    if (std::find(known_.begin(), known_.end(), entry.key) == known_.end()) {
      unknown.push_back(&entry);
      if (!missing_.empty()) {
        std::erase(missing_, nearest_name(entry.key, known_).value_or(""));
      }
    }
  }
  for (const std::string& key : missing_) {
    const Node* found = node_->find(key);
    problems_->add(found != nullptr ? found->place : node_->place, path_of(key),
                   fmt::format("the key \"{}\" is required", key));
  }
  for (const Entry* entry : unknown) {
    problems_->add(
        entry->key_place, path_of(entry->key),
        with_suggestion(fmt::format("unknown key \"{}\"", entry->key), entry->key, known_));
    if (problems_->full()) {
      break;  // a suggestion for each of a million keys takes too long
    }
  }
}

}  // namespace roofcast::base
