// SPDX-License-Identifier: Apache-2.0
#include "workloads/hugging_face/hugging_face_config.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <utility>

#include "base/nearest.hpp"

namespace roofcast::workloads {

using base::Node;

HuggingFaceConfig::HuggingFaceConfig(const Node& node, std::string path, base::Problems& problems,
                                     HuggingFaceKeys keys)
    : node_(&node),
      asked_(std::make_shared<std::set<std::string, std::less<>>>()),
      fields_(node, std::move(path), problems),
      problems_(&problems),
      keys_(keys) {}

const Node* HuggingFaceConfig::find(std::string_view key) const {
  asked_->emplace(own(key));
  return node_->find(own(key));
}

std::string_view HuggingFaceConfig::own(std::string_view key) const {
  std::string_view missing = key;
  for (const HuggingFaceKey& known : keys_) {
    if (known.usual == key) {
      if (node_->find(known.own) != nullptr) {
        return known.own;
      }
      missing = missing == key ? known.own : missing;
    }
  }
  return node_->find(key) != nullptr ? key : missing;
}

std::int64_t HuggingFaceConfig::fallback_of(std::string_view key) const {
  const auto it = std::find_if(keys_.begin(), keys_.end(), [&](const HuggingFaceKey& known) {
    return known.usual == key && known.fallback > 0;
  });
  return it != keys_.end() ? it->fallback : 0;
}

bool HuggingFaceConfig::has(std::string_view key) const {
  const Node* found = find(key);
  return (found != nullptr && !found->is_null()) || fallback_of(key) > 0;
}

bool HuggingFaceConfig::is_null(std::string_view key) const {
  const Node* found = find(key);
  return found != nullptr && found->is_null();
}

base::Place HuggingFaceConfig::place_of(std::string_view key) const {
  const Node* found = node_->find(own(key));
  return found != nullptr ? found->place : node_->place;
}

std::string_view HuggingFaceConfig::first_of(std::initializer_list<std::string_view> keys) const {
  for (const auto& is_one : {&HuggingFaceConfig::has, &HuggingFaceConfig::is_renamed}) {
    const auto* it = std::find_if(keys.begin(), keys.end(),
                                  [&](std::string_view key) { return (this->*is_one)(key); });
    if (it != keys.end()) {
      return *it;
    }
  }
  return *keys.begin();
}

std::string HuggingFaceConfig::path_of(std::string_view key) const {
  return fields_.path().empty() ? std::string(own(key))
                                : fmt::format("{}.{}", fields_.path(), own(key));
}

void HuggingFaceConfig::problem(const base::Place& place, std::string_view key,
                                std::string_view message) {
  problems_->add(place, path_of(key), message);
}

Figure HuggingFaceConfig::required(std::string_view key, base::Range range) {
  if (!has(key)) {
    problem(place_of(key), key, fmt::format("the key \"{}\" is required", own(key)));
    return {0, node_->place};
  }
  return optional(key, 0, range);
}

Figure HuggingFaceConfig::optional(std::string_view key, std::int64_t fallback, base::Range range) {
  fallback = fallback_of(key) > 0 ? fallback_of(key) : fallback;
  find(key);
  Figure figure{fallback, place_of(key)};
  fields_.integer(own(key), figure.value, range, base::optional);
  const auto value = static_cast<double>(figure.value);
  figure.value = value < range.least || value > range.most ? fallback : figure.value;
  return figure;
}

double HuggingFaceConfig::required_number(std::string_view key) {
  double value = 0.0;
  if (has(key)) {
    fields_.number(own(key), value, base::positive, base::optional);
  } else {
    required(key);
  }
  return value;
}

bool HuggingFaceConfig::flag(std::string_view key, bool fallback) {
  find(key);
  fields_.flag(own(key), fallback, base::optional);
  return fallback;
}

std::string HuggingFaceConfig::text(std::string_view key) {
  std::string value;
  find(key);
  fields_.text(own(key), value, base::optional);
  return value;
}

const Node* HuggingFaceConfig::list_of_layers(std::string_view key, std::size_t layers) {
  if (!has(key) || layers == 0) {  // a model without layers is already a problem
    return nullptr;
  }
  const Node* list = find(key);
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

std::vector<bool> HuggingFaceConfig::chosen_layers(std::string_view key, std::size_t layers,
                                                   std::size_t first) {
  std::vector<bool> chosen(layers, false);
  std::vector<std::string> indices;
  if (const Node* node = find(key); node != nullptr && node->is_scalar() && !node->is_null()) {
    std::istringstream text(node->text);
    for (std::string index; std::getline(text >> std::ws, index, ',');) {
      indices.push_back(index);
    }
  } else {
    fields_.texts(own(key), indices);
  }
  for (const std::string& index : indices) {
    const bool digits = !index.empty() && index.size() < 6 &&
                        index.find_first_not_of("0123456789") == std::string::npos;
    const std::size_t layer = digits ? std::stoul(index) : 0;
    if (digits && layer >= first && layer - first < layers) {
      chosen[layer - first] = true;
    } else if (layers > 0) {
      problem(place_of(key), key, fmt::format("\"{}\" is no index of {} layers", index, layers));
    }
  }
  return chosen;
}

HuggingFaceConfig HuggingFaceConfig::at(const Node& node, std::string_view path) const {
  return {node, path_of(path), *problems_, {}};
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
