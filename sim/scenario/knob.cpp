// SPDX-License-Identifier: Apache-2.0
#include "sim/scenario/knob.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <vector>

#include "base/document/catalog.hpp"
#include "base/document/renamed.hpp"
#include "base/nearest.hpp"
#include "hardware/nearest_calibration.hpp"
#include "hardware/prices.hpp"
#include "hardware/system.hpp"
#include "workloads/architecture/architecture.hpp"
#include "workloads/architecture/precision.hpp"
#include "workloads/serving/serving.hpp"
#include "workloads/training/training.hpp"

namespace roofcast::sim {
namespace {

using base::Node;
using base::Problems;

constexpr int kMaxDerivations = 16;  // of one part from another; more is a circle

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

bool is_factor(const std::string& text) {
  return text.size() > 1 && text[0] == 'x' &&
         (text[1] == ' ' || text[1] == '.' || (text[1] >= '0' && text[1] <= '9'));
}

// "3.35 TB/s" × 2 = "6.7 TB/s": the unit stays.
bool multiply(Node& target, const std::string& factor_text) {
  std::string_view factor_view(factor_text);
  factor_view.remove_prefix(factor_view.find_first_not_of("x "));
  double factor = 0.0;
  double number = 0.0;
  const auto parsed =
      std::from_chars(factor_view.data(), factor_view.data() + factor_view.size(), factor);
  const char* begin = target.text.data();
  const char* end = begin + target.text.size();
  const auto base = std::from_chars(begin, end, number);
  if (parsed.ec != std::errc() || parsed.ptr != factor_view.data() + factor_view.size() ||
      base.ec != std::errc()) {
    return false;
  }
  target.text = fmt::format("{:.15g}{}", number * factor, std::string_view(base.ptr, end));
  return true;
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

// Applies the changes of a derived document; groups are changed key by key.
void change(Node& document, const std::string& path, const base::Entry& entry, Problems& problems) {
  const Node* target = document.find_path(path);
  if (entry.value.is_map() && target != nullptr && target->is_map()) {
    for (const base::Entry& below : entry.value.entries) {
      change(document, path + "." + below.key, below, problems);
    }
    return;
  }
  set_knob(document, path, entry.key_place, entry.value, problems);
}

bool load_at(Node& document, std::string_view path, Problems& problems, int derivations = 0);

// The id of the serving stack, which may be derived; empty when there is none.
std::string_view stack_of(const Node& document) {
  const Node* stack = document.find_path("serving.stack");
  if (stack == nullptr) {
    return {};
  }
  const Node* base = stack->find("base");
  return stack->is_scalar() ? stack->text : base != nullptr ? base->text : stack->reference;
}

// Without a precision of its own a model runs in the one it was published in.
bool fill_precision(Node& document, std::string_view, Problems& problems) {
  if (document.find("precision") != nullptr) {
    return true;
  }
  // One that could not be loaded was reported, and has left an empty text.
  const Node* model = document.find("model");
  const bool lost = model != nullptr && model->is_scalar() && model->text.empty() && !model->quoted;
  if (lost || !load_at(document, "model", problems)) {
    return false;
  }
  const Node* native = document.find_path("model.native_precision");
  if (native != nullptr && native->is_scalar()) {
    document["precision"] = Node(*native);
  }
  return true;
}

// Other texts are reported where the system is read.
hardware::Unmeasured unmeasured_in(const Node& system) {
  const Node* text = system.find("as_if_unmeasured");
  return text == nullptr                ? hardware::Unmeasured::nothing
         : text->text == "architecture" ? hardware::Unmeasured::architecture
                                        : hardware::Unmeasured::chip;
}

// Without a calibration of its own a system takes the nearest to its chip and the serving stack.
bool fill_calibration(Node& document, std::string_view path, Problems& problems) {
  const std::string above(path.substr(0, path.rfind('.')));
  const Node* system = document.find_path(above);
  if (system == nullptr || !system->is_map() || system->find("calibration") != nullptr) {
    return true;
  }
  const std::string chip_path = below(above, "chip");
  if (!load_at(document, chip_path, problems)) {
    return false;
  }
  if (const Node* chip = document.find_path(chip_path); chip != nullptr && chip->is_map()) {
    const Node nearest = hardware::nearest_calibration(*chip, stack_of(document),
                                                       unmeasured_in(*document.find_path(above)));
    (*document.find_path(above))["calibration"] = nearest;
  }
  return true;
}

// A knob changes the system of a pool that has none of its own: a copy of the scenario's.
bool fill_pool_system(Node& document, std::string_view path, Problems& problems) {
  Node* pool = document.find_path(path.substr(0, path.rfind('.')));
  if (pool == nullptr || !pool->is_map() || pool->find("system") != nullptr) {
    return true;
  }
  const Node* system = document.find("system");
  if (system == nullptr) {
    problems.add(pool->place, path, "name the system of this pool; the axis changes a part of it");
    return false;
  }
  const Node copy = *system;
  (*pool)["system"] = copy;
  return true;
}

// False when what is meant there cannot be had.
bool fill(Node& document, std::string_view path, Problems& problems) {
  const ReferencePoint* point = reference_at(path);
  return point == nullptr || point->fill == nullptr || point->fill(document, path, problems);
}

// `base: id` and dotted changes become the base's document with the changes made.
bool derive(Node& document, std::string_view path, const base::Catalog& catalog, Problems& problems,
            int derivations) {
  const Node changes = *document.find_path(path);
  const Node* parent = changes.find("base");
  const std::string parent_path = fmt::format("{}.base", path);
  if (!parent->is_scalar() || derivations >= kMaxDerivations) {
    problems.add(parent->place, parent_path,
                 parent->is_scalar()
                     ? "is derived from itself in a circle"
                     : fmt::format("expects the id or path of a {}", catalog.singular));
    *document.find_path(path) = base::scalar_node("", parent->place);
    return false;
  }
  *document.find_path(path) = *parent;
  if (!load_at(document, path, problems, derivations + 1)) {
    return false;
  }
  Node* derived = document.find_path(path);
  if (!changes.reference.empty()) {
    derived->reference = changes.reference;
  }
  const bool has_source = derived->find("source") != nullptr;
  for (const base::Entry& entry : changes.entries) {
    const bool skipped = entry.key == "base" || (entry.key == "source" && !has_source);
    if (!skipped) {
      change(document, fmt::format("{}.{}", path, entry.key), entry, problems);
    }
  }
  return true;
}

// Loads what the node at `path` names, if it may name something, translates it, if it is written in
// another schema, and derives it from its base, if it has one. False when that cannot be had; the node
// is then a scalar.
bool load_at(Node& document, std::string_view path, Problems& problems, int derivations) {
  const ReferencePoint* point = reference_at(path);
  Node* node = document.find_path(path);
  if (point == nullptr || node == nullptr) {
    return true;
  }
  if (node->is_scalar() && node->text.empty() && !node->quoted) {
    return false;  // it could not be had before, which has been reported
  }
  const Node unloaded = node->is_scalar() ? *node : base::scalar_node("", node->place);
  try {
    if (node->is_scalar()) {
      *node = base::load_reference(point->catalog, *node, path);
    }
    if (point->catalog.is_foreign(*node)) {
      *node = point->catalog.foreign->translate(*node);
    }
  } catch (const base::InputError& error) {
    problems.add_text(error.what());
    *node = unloaded;
    return false;
  }
  return node->find("base") == nullptr ||
         derive(document, path, point->catalog, problems, derivations);
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

const std::vector<ReferencePoint>& reference_points() {
  constexpr std::string_view kOfPools = "the scenario's system";
  constexpr std::string_view kNearest = "the nearest to the chip and the serving stack";
  constexpr std::string_view kStack = "serving.stack";
  const auto chip = hardware::chip_catalog();
  const auto system = hardware::system_catalog();
  const auto calibration = hardware::calibration_catalog();
  static const std::vector<ReferencePoint> points = {
      {"system", system},
      {"deployment.prefill.system", system, kOfPools, fill_pool_system, {}, true},
      {"deployment.decode.system", system, kOfPools, fill_pool_system, {}, true},
      {"model", workloads::model_catalog()},
      {"precision", workloads::precision_catalog(), "the model's native_precision", fill_precision,
       "model"},
      {"system.chip", chip},
      {"deployment.prefill.system.chip", chip},
      {"deployment.decode.system.chip", chip},
      {"system.calibration", calibration, kNearest, fill_calibration, kStack},
      {"deployment.prefill.system.calibration", calibration, kNearest, fill_calibration, kStack},
      {"deployment.decode.system.calibration", calibration, kNearest, fill_calibration, kStack},
      {"serving.stack", workloads::stack_catalog()},
      {"training.trainer", workloads::trainer_catalog()},
      {"serving.speculative.measured", workloads::acceptance_catalog()},
      {"serving.speculative.model", workloads::model_catalog()},
      {"serving.speculative.precision", workloads::precision_catalog(), "the model's own"},
      {"prices", hardware::price_catalog()},
  };
  return points;
}

const ReferencePoint* reference_at(std::string_view path) {
  for (const ReferencePoint& point : reference_points()) {
    if (point.path == path) {
      return &point;
    }
  }
  return nullptr;
}

bool lacks_a_reference(const Node& document, std::string_view section) {
  const auto& points = reference_points();
  return std::any_of(points.begin(), points.end(), [&](const ReferencePoint& point) {
    const bool inside = point.path.substr(0, point.path.find('.')) == section;
    const Node* node = inside ? document.find_path(point.path) : nullptr;
    return node != nullptr && node->is_scalar();
  });
}

void set_knob(Node& document, std::string_view path, const base::Place& path_place,
              const Node& value, Problems& problems) {
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
      if (!walked.empty() && !load_at(document, walked, problems)) {
        return;
      }
      const bool is_inside = &part != &parts.back();
      if (is_inside && !fill(document, below(walked, part), problems)) {
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
        if (numbers.empty() || !value.is_scalar() || !is_factor(value.text)) {
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
        if (value.is_scalar() && is_factor(value.text)) {
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
    if (!value.is_scalar() || !is_factor(value.text)) {
      *node = value;
    } else if (node->is_scalar() && multiply(*node, value.text)) {
      node->place = value.place;
    } else {
      problems.add(value.place, path,
                   fmt::format("\"{}\" multiplies a number, but there is none here", value.text));
    }
  }
}

void set_knob(Node& document, const base::Source& assignment, Problems& problems) {
  const auto source = std::make_shared<const base::Source>(assignment);
  const auto equals = source->text.find('=');
  if (equals == std::string::npos || equals + 1 == source->text.size()) {
    problems.add({source, {}}, "", "expects path=value, for example deployment.tensor_parallel=4");
    return;
  }
  const std::string path = source->text.substr(0, equals);
  const std::string text = source->text.substr(equals + 1);
  try {
    // Lists and maps may be typed too; their places point into the value.
    Node value = base::parse_document(fmt::format("{} {}", source->name, path), text);
    if (value.is_scalar()) {
      value.place = {source, {0, static_cast<int>(equals) + 1}};
    }
    set_knob(document, path, {source, {}}, value, problems);
  } catch (const base::InputError& error) {
    problems.add_text(error.what());
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

void load_references(Node& document, Problems& problems) {
  for (const ReferencePoint& point : reference_points()) {
    if (!point.only_for_knobs) {
      fill(document, point.path, problems);
    }
    load_at(document, point.path, problems);
  }
}

}  // namespace roofcast::sim
