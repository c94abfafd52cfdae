// SPDX-License-Identifier: Apache-2.0
#include "sim/scenario/dotted_path.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <vector>

#include "base/document/renamed.hpp"
#include "base/nearest.hpp"
#include "base/units/multiplied.hpp"

namespace roofcast::sim {
namespace {

using base::Node;
using base::Problems;

std::vector<std::string_view> split(std::string_view path) {
  std::vector<std::string_view> parts;
  while (true) {
    const auto dot = path.find('.');
    parts.push_back(path.substr(0, dot));
    if (dot == std::string_view::npos) {
      return parts;
    }
    path.remove_prefix(dot + 1);
  }
}

std::string below(const std::string& path, std::string_view key) {
  return path.empty() ? std::string(key) : fmt::format("{}.{}", path, key);
}

// One step of a path: a key, or some entries of a list, layers[attention].
struct Step {
  std::string_view key;
  std::string_view kind;  // empty: a key
};

Step step_of(std::string_view part) {
  const auto bracket = part.find('[');
  return bracket == std::string_view::npos || !part.ends_with(']')
             ? Step{part, {}}
             : Step{part.substr(0, bracket), part.substr(bracket + 1, part.size() - bracket - 2)};
}

// The entries of a list that are of a kind: one of their values is its name. Reports when none is.
std::vector<Node*> select(Node* list, const Step& step, std::string_view path,
                          const base::Place& place, Problems& problems) {
  std::vector<Node*> found;
  std::vector<std::string> kinds;
  if (list == nullptr || !list->is_sequence()) {
    problems.add(place, path, fmt::format("\"{}\" is not a list of groups", step.key));
    return found;
  }
  for (Node& item : list->items) {
    bool is_of_kind = false;
    for (const base::Entry& entry : item.entries) {
      const bool number = entry.value.text.find_first_not_of("0123456789") == std::string::npos;
      if (entry.value.is_scalar() && !number) {
        is_of_kind = is_of_kind || entry.value.text == step.kind;
        if (std::find(kinds.begin(), kinds.end(), entry.value.text) == kinds.end()) {
          kinds.push_back(entry.value.text);
        }
      }
    }
    if (is_of_kind) {
      found.push_back(&item);
    }
  }
  if (found.empty()) {
    const auto near = base::nearest_name(step.kind, kinds);
    problems.add(place, path,
                 fmt::format("there are no \"{}\" among the {}{} ({})", step.kind, step.key,
                             near ? fmt::format("; did you mean \"{}\"?", *near) : "",
                             fmt::join(kinds, ", ")));
  }
  return found;
}

// No real change is near these; beyond them is a mistake, and what follows from it no number.
constexpr double kLeastFactor = 1e-12;  // but for 0
constexpr double kMostFactor = 1e12;

// Returns what is wrong with the factor or the target; empty where nothing is.
std::string multiply(Node& target, const std::string& factor_text) {
  std::string_view digits(factor_text);
  digits.remove_prefix(digits.find_first_not_of("x "));
  double factor = 0.0;
  const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), factor);
  const bool whole = parsed.ptr == digits.data() + digits.size();
  const bool far = parsed.ec == std::errc::result_out_of_range ||
                   (factor != 0.0 && !(factor >= kLeastFactor && factor <= kMostFactor));
  if (!whole) {
    return fmt::format("\"{}\" is no factor: it is x and a number, such as x1.5", factor_text);
  }
  if (far) {
    return fmt::format("\"{}\" is out of range: a factor is from {:g} to {:g}", factor_text,
                       kLeastFactor, kMostFactor);
  }
  const auto text = target.is_scalar() ? base::multiplied(target.text, factor) : std::nullopt;
  if (!text) {
    return fmt::format("\"{}\" multiplies a number, but there is none here", factor_text);
  }
  target.text = *text;
  return {};
}

void report_no_number(const Node& group, std::string_view key, std::string_view path,
                      const base::Place& place, Problems& problems) {
  std::vector<std::string> keys;
  for (const base::Entry& entry : group.entries) {
    keys.push_back(entry.key);
  }
  const auto near = base::nearest_name(key, keys);
  problems.add(place, path,
               fmt::format("there is no \"{}\" to multiply{}", key,
                           near ? fmt::format("; did you mean \"{}\"?", *near) : ""));
}

// What the node calls this key: the path or the document may still use the name before.
std::string_view name_in(const Node& node, std::string_view part, const base::Place& place) {
  if (node.find(part) != nullptr) {
    return part;
  }
  if (const std::string_view now = base::current_name(part); now != part) {
    base::note_renamed(place, part);
    return now;
  }
  const std::string_view before = base::old_name(part);
  return node.find(before) != nullptr ? before : part;
}

}  // namespace

bool is_factor(const Node& value) {
  const std::string& text = value.text;
  return value.is_scalar() && text.size() > 1 && text[0] == 'x' &&
         (text[1] == ' ' || text[1] == '.' || (text[1] >= '0' && text[1] <= '9'));
}

void set_at(Node& document, std::string_view path, const base::Place& path_place, const Node& value,
            const Through& through, Problems& problems) {
  const auto parts = split(path);
  if (std::find(parts.begin(), parts.end(), "") != parts.end()) {
    problems.add(path_place, path, "is not a dotted path such as deployment.tensor_parallel");
    return;
  }
  std::vector<Node*> nodes = {&document};
  std::string walked;
  bool in_list = false;
  for (const std::string_view& part : parts) {
    if (!in_list) {
      if (!walked.empty() && !through.load(document, walked, problems)) {
        return;
      }
      const bool is_inside = &part != &parts.back();
      if (is_inside && !through.fill(document, below(walked, part), problems)) {
        return;
      }
      nodes = {document.find_path(walked)};
    }
    const Step step = step_of(part);
    std::vector<Node*> next;
    std::string_view name = part;  // as the document has it
    for (Node* node : nodes) {
      if (!node->is_map() && !node->is_null()) {
        problems.add(path_place, path, fmt::format("\"{}\" is not a group of keys", walked));
        return;
      }
      if (part == "*" && &part == &parts.back()) {
        const auto numbers = numbers_of(*node);
        for (const base::Entry* number : numbers) {
          next.push_back(node->find(number->key));
        }
        if (numbers.empty() || !is_factor(value)) {
          problems.add(path_place, path, "\"*\" multiplies every number of a group: x1.35");
          return;
        }
        continue;
      }
      if (!step.kind.empty()) {
        const auto found = select(node->find(step.key), step, path, path_place, problems);
        if (found.empty()) {
          return;
        }
        next.insert(next.end(), found.begin(), found.end());
        continue;
      }
      name = name_in(*node, part, path_place);
      if (node->find(name) == nullptr) {
        if (is_factor(value)) {
          report_no_number(*node, name, path, path_place, problems);
          return;
        }
        (*node)[name].place = path_place;
        node->entries.back().key_place = path_place;
      }
      next.push_back(node->find(name));
    }
    in_list = in_list || !step.kind.empty();
    walked = below(walked, name);
    nodes = next;
  }
  for (Node* node : nodes) {
    if (!is_factor(value)) {
      *node = value;
    } else if (const std::string wrong = multiply(*node, value.text); wrong.empty()) {
      node->place = value.place;
    } else {
      problems.add(value.place, path, wrong);
    }
  }
}

std::vector<const base::Entry*> numbers_of(const Node& group) {
  std::vector<const base::Entry*> numbers;
  for (const base::Entry& entry : group.entries) {
    const std::string& text = entry.value.text;
    if (entry.key != "source" && entry.value.is_scalar() && !text.empty() && text[0] >= '0' &&
        text[0] <= '9') {
      numbers.push_back(&entry);
    }
  }
  return numbers;
}

}  // namespace roofcast::sim
