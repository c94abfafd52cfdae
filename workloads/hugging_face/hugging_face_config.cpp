// SPDX-License-Identifier: Apache-2.0
#include "workloads/hugging_face/hugging_face_config.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/nearest.hpp"

namespace roofcast::workloads {

using base::Node;

HuggingFaceConfig::HuggingFaceConfig(const Node& node, std::string path, base::Problems& problems)
    : node_(&node), fields_(node, std::move(path), problems), problems_(&problems) {}

bool HuggingFaceConfig::is_null(std::string_view key) const {
  const Node* found = node_->find(key);
  return found != nullptr && found->is_null();
}

base::Place HuggingFaceConfig::place_of(std::string_view key) const {
  const Node* found = node_->find(key);
  return found != nullptr ? found->place : node_->place;
}

std::string_view HuggingFaceConfig::first_of(std::initializer_list<std::string_view> keys) const {
  const auto* it =
      std::find_if(keys.begin(), keys.end(), [&](std::string_view key) { return has(key); });
  return it != keys.end() ? *it : *keys.begin();
}

std::string HuggingFaceConfig::path_of(std::string_view key) const {
  return fields_.path().empty() ? std::string(key) : fmt::format("{}.{}", fields_.path(), key);
}

void HuggingFaceConfig::problem(const base::Place& place, std::string_view key,
                                std::string_view message) {
  problems_->add(place, path_of(key), message);
}

Figure HuggingFaceConfig::required(std::string_view key, base::Range range) {
  if (!has(key)) {
    problem(place_of(key), key, fmt::format("the key \"{}\" is required", key));
    return {0, node_->place};
  }
  return optional(key, 0, range);
}

Figure HuggingFaceConfig::optional(std::string_view key, std::int64_t fallback, base::Range range) {
  Figure figure{fallback, place_of(key)};
  fields_.integer(key, figure.value, range, base::optional);
  const auto value = static_cast<double>(figure.value);
  figure.value = value < range.least || value > range.most ? fallback : figure.value;
  return figure;
}

double HuggingFaceConfig::required_number(std::string_view key) {
  double value = 0.0;
  if (has(key)) {
    fields_.number(key, value, base::positive, base::optional);
  } else {
    required(key);
  }
  return value;
}

bool HuggingFaceConfig::flag(std::string_view key, bool fallback) {
  fields_.flag(key, fallback, base::optional);
  return fallback;
}

std::string HuggingFaceConfig::text(std::string_view key) {
  std::string value;
  fields_.text(key, value, base::optional);
  return value;
}

const Node* HuggingFaceConfig::list_of_layers(std::string_view key, std::size_t layers) {
  if (!has(key) || layers == 0) {  // a model without layers is already a problem
    return nullptr;
  }
  const Node* list = node_->find(key);
  if (!list->is_sequence()) {
    problem(list->place, key, "a list is expected here: [a, b]");
    return nullptr;
  }
  if (list->items.size() != layers) {
    problem(list->place, key,
            fmt::format("has {} entries for {} layers", list->items.size(), layers));
    return nullptr;
  }
  return list;
}

std::vector<bool> HuggingFaceConfig::chosen_layers(std::string_view key, std::size_t layers) {
  std::vector<bool> chosen(layers, false);
  std::vector<std::string> indices;
  fields_.texts(key, indices);
  for (const std::string& index : indices) {
    const bool digits = !index.empty() && index.size() < 6 &&
                        index.find_first_not_of("0123456789") == std::string::npos;
    if (digits && std::stoul(index) < layers) {
      chosen[std::stoul(index)] = true;
    } else if (layers > 0) {
      problem(place_of(key), key, fmt::format("\"{}\" is no index of {} layers", index, layers));
    }
  }
  return chosen;
}

HuggingFaceConfig HuggingFaceConfig::at(const Node& node, std::string_view path) const {
  return {node, path_of(path), *problems_};
}

void HuggingFaceConfig::unknown(const Node& value, std::string_view key, std::string_view what,
                                const std::vector<std::string>& known) {
  std::string message = fmt::format("unknown {} \"{}\"", what, value.text);
  if (const auto near = base::nearest_name(value.text, known)) {
    message += fmt::format("; did you mean \"{}\"?", *near);
  }
  problem(value.place, key, fmt::format("{} (known: {})", message, fmt::join(known, ", ")));
}

}  // namespace roofcast::workloads
