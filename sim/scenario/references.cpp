// SPDX-License-Identifier: Apache-2.0
#include "sim/scenario/references.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

#include "base/document/notes.hpp"
#include "base/units/unit_text.hpp"
#include "hardware/chip_changes.hpp"
#include "hardware/nearest_calibration.hpp"
#include "hardware/prices.hpp"
#include "hardware/system.hpp"
#include "sim/scenario/dotted_path.hpp"
#include "workloads/architecture/architecture.hpp"
#include "workloads/architecture/precision.hpp"
#include "workloads/serving/serving.hpp"
#include "workloads/training/training.hpp"
#include "workloads/training/training_run.hpp"

namespace roofcast::sim {
namespace {

using base::Node;
using base::Problems;

constexpr std::string_view kModel = "model";
constexpr std::string_view kPrecision = "precision";
constexpr int kMaxDerivations = 16;  // of one part from another; more is a circle

bool is_chip(const ReferencePoint& point) { return point.catalog.singular == "chip"; }

std::string_view above(std::string_view path) { return path.substr(0, path.rfind('.')); }

// The id that a part is named by, alone or as the base of no change; empty where it is neither.
std::string_view id_of(const Node& part) {
  const Node* base = part.is_map() && part.entries.size() == 1 ? part.find("base") : &part;
  return base != nullptr && base->is_scalar() ? std::string_view(base->text) : std::string_view();
}

// Another chip in a system: what it was remains known, because prices and power are still those of a system with it.
void remember_replaced(Node& system, const Node& before) {
  const Node* name = before.is_map() ? before.find("name") : &before;
  if (name != nullptr && name->is_scalar() && system.is_map() &&
      system.find("replaces") == nullptr && name->text != id_of(*system.find("chip"))) {
    system["replaces"] = *name;
  }
}

// The path of the chip that a path leads into; empty where it leads into none.
std::string_view chip_above(std::string_view path) {
  for (const ReferencePoint& point : reference_points()) {
    if (is_chip(point) && path.starts_with(point.path) && path.size() > point.path.size() &&
        path[point.path.size()] == '.') {
      return point.path;
    }
  }
  return {};
}

std::string_view below(std::string_view path, std::string_view above) {
  return path.substr(above.size() + 1);
}

// The turn of a change among those that are made together: a die's figures before what follows from them, and the name of a
// chip last, so that its parent has the name that the chip had.
int turn_of(std::string_view path) {
  const std::string_view chip = chip_above(path);
  if (chip.empty()) {
    return 1;
  }
  return hardware::is_of_the_die(below(path, chip)) ? 0 : below(path, chip) == "name" ? 2 : 1;
}

// Loads everything on the way to `path`.
bool reach(Node& document, std::string_view path, Problems& problems) {
  for (std::size_t end = path.find('.');; end = path.find('.', end + 1)) {
    const std::string_view part = path.substr(0, end);
    if (!fill_at(document, part, problems) || !load_at(document, part, problems)) {
      return false;
    }
    if (end == std::string_view::npos) {
      return true;
    }
  }
}

void change(Node& document, const std::string& path, const base::Entry& entry, Problems& problems);
void set_at_once(Node& document, std::string_view path, const base::Place& path_place,
                 const Node& value, Problems& problems);

// Applies changes that are made together.
void change_all(Node& document, std::string_view path,
                const std::vector<const base::Entry*>& entries, Problems& problems) {
  for (const int turn : {0, 1, 2}) {
    for (const base::Entry* entry : entries) {
      const std::string changed = fmt::format("{}.{}", path, entry->key);
      if (turn_of(changed) == turn) {
        change(document, changed, *entry, problems);
      }
    }
  }
}

// GPUs of a system with a network; 0 of another one.
double gpus_in_network(const Node* system) {
  const Node* chips = system == nullptr || !system->is_map() ? nullptr : system->find("chips");
  const Node* network = chips == nullptr ? nullptr : system->find("scale_out");
  const bool known = network != nullptr && network->is_map() && chips->is_scalar();
  const base::ParsedQuantity parsed =
      known ? base::parse_quantity(chips->text, {}) : base::ParsedQuantity{};
  return known && parsed.ok() ? parsed.si : 0.0;
}

// A description with a name of its own describes what it says.
void note_size(Node* system, double described) {
  const double now = gpus_in_network(system);
  if (described > 0.0 && now > 0.0 && now != described &&
      system->find("described_chips") == nullptr) {
    (*system)["described_chips"] =
        base::scalar_node(fmt::format("{:.0f}", described), system->place);
  }
  if (described > 0.0 && now > described) {
    const Node* name = system->find("name");
    base::add_note(
        fmt::format("system.chips: {:.0f} GPUs are beyond the {:.0f} that {} describes. Its "
                    "network is taken to "
                    "be as fast between all of them, without further levels",
                    now, described, name != nullptr ? name->text : "the system"));
  }
}

// Applies the changes of a derived document; groups are changed key by key.
void change(Node& document, const std::string& path, const base::Entry& entry, Problems& problems) {
  const Node* target = document.find_path(path);
  if (entry.value.is_map() && target != nullptr && target->is_map()) {
    std::vector<const base::Entry*> entries;
    for (const base::Entry& each : entry.value.entries) {
      entries.push_back(&each);
    }
    change_all(document, path, entries, problems);
    return;
  }
  set_at_once(document, path, entry.key_place, entry.value, problems);
}

// Without a precision of its own a model runs in the one it was published in.
bool fill_precision(Node& document, std::string_view path, Problems& problems) {
  const std::string model_path =
      std::string(path.substr(0, path.size() - kPrecision.size())) + "model";
  const std::string_view around =
      model_path.size() > kModel.size() ? above(path) : std::string_view();
  const Node* place = document.find_path(around);
  if (place == nullptr || !place->is_map() || place->find(kPrecision) != nullptr) {
    return true;
  }
  // One that could not be loaded was reported, and has left an empty text.
  const Node* model = place->find(kModel);
  const bool lost = model != nullptr && model->is_scalar() && model->text.empty() && !model->quoted;
  if (lost || !load_at(document, model_path, problems)) {
    return false;
  }
  const Node* native = document.find_path(model_path + ".native_precision");
  if (native != nullptr && !native->is_null()) {
    const Node copy = *native;
    (*document.find_path(around))[kPrecision] = copy;
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

// Without a calibration of its own a system takes the nearest to its chip and the stack.
bool fill_calibration(Node& document, std::string_view path, Problems& problems) {
  const std::string above(path.substr(0, path.rfind('.')));
  const Node* system = document.find_path(above);
  if (system == nullptr || !system->is_map() || system->find("calibration") != nullptr) {
    return true;
  }
  const std::string chip_path = above + ".chip";
  const bool trains = document.find_path("training.trainer") != nullptr;
  if (!load_at(document, chip_path, problems) ||
      (trains && !load_at(document, "training.trainer", problems))) {
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

// A run that does not tell its failures has those of a published table.
bool fill_failures(Node& document, std::string_view path, Problems& /*problems*/) {
  Node* run = document.find_path(above(path));
  if (run == nullptr || !run->is_map() || run->find("failures") != nullptr) {
    return true;
  }
  (*run)["failures"] = base::scalar_node(std::string(workloads::kUsualFailures), run->place);
  base::add_note(fmt::format(
      "run.failures is not given: the rates of {} are taken (arXiv 2407.21783 table 5). Rates of "
      "clusters differ by a factor of ten. `failures: none` has no failures",
      workloads::kUsualFailures));
  return true;
}

bool load(Node& document, std::string_view path, Problems& problems, int derivations);

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
  if (!load(document, path, problems, derivations + 1)) {
    return false;
  }
  Node* derived = document.find_path(path);
  if (!changes.reference.empty()) {
    derived->root = derived->root_reference();
    derived->reference = changes.reference;
  }
  const bool has_source = derived->find("source") != nullptr;
  const double described = gpus_in_network(derived);
  std::vector<const base::Entry*> entries;
  for (const base::Entry& entry : changes.entries) {
    const bool skipped = entry.key == "base" || (entry.key == "source" && !has_source);
    if (!skipped) {
      entries.push_back(&entry);
    }
  }
  change_all(document, path, entries, problems);
  if (changes.find("name") == nullptr) {
    note_size(document.find_path(path), described);
  }
  return true;
}

bool load(Node& document, std::string_view path, Problems& problems, int derivations) {
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
    problems.add(error);
    *node = unloaded;
    return false;
  }
  return node->find("base") == nullptr ||
         derive(document, path, point->catalog, problems, derivations);
}

void set_at_once(Node& document, std::string_view path, const base::Place& path_place,
                 const Node& value, Problems& problems) {
  const ReferencePoint* point = reference_at(path);
  const bool replaces = point != nullptr && is_chip(*point);
  const std::string_view chip = replaces ? path : chip_above(path);
  if (!chip.empty() && !reach(document, replaces ? above(path) : chip, problems)) {
    return;
  }
  Node* node = chip.empty() ? nullptr : document.find_path(chip);
  const Node before = node == nullptr ? Node() : *node;
  const std::string_view knob =
      before.is_map() && !replaces ? hardware::knob_of_die(below(path, chip)) : std::string_view();
  if (!knob.empty()) {
    problems.add(path_place, path,
                 fmt::format("a die is read into the figures of its chip: set {}.{}, and what "
                             "depends on it follows",
                             chip, knob));
    return;
  }
  if (!replaces && before.is_map() && is_factor(value)) {
    hardware::state_default(*node, below(path, chip));
  }
  set_at(document, path, path_place, value, {load_at, fill_at}, problems);
  if (replaces) {
    remember_replaced(*document.find_path(above(path)), before);
  } else if (before.is_map()) {
    hardware::carry_along(*document.find_path(chip), before, below(path, chip), is_factor(value));
  }
}

}  // namespace

std::string_view stack_of(const Node& document) {
  const Node* stack = document.find_path("serving.stack");
  if (stack == nullptr) {
    stack = document.find_path("training.trainer.stack");
  }
  if (stack == nullptr) {
    return {};
  }
  const Node* base = stack->find("base");
  return stack->is_scalar() ? stack->text : base != nullptr ? base->text : stack->reference;
}

const std::vector<ReferencePoint>& reference_points() {
  constexpr std::string_view kOfPools = "the scenario's system";
  constexpr std::string_view kNative = "the model's native_precision";
  constexpr std::string_view kNearest = "the nearest to the chip and the serving stack";
  constexpr std::array<std::string_view, 3> kStack = {"serving.stack", "serving.version",
                                                      "training.trainer"};
  const auto chip = hardware::chip_catalog();
  const auto system = hardware::system_catalog();
  const auto calibration = hardware::calibration_catalog();
  static const std::vector<ReferencePoint> points = {
      {"system", system},
      {"deployment.prefill.system", system, kOfPools, fill_pool_system, {}, true},
      {"deployment.decode.system", system, kOfPools, fill_pool_system, {}, true},
      {"model", workloads::model_catalog()},
      {"precision", workloads::precision_catalog(), kNative, fill_precision, {"model"}},
      {"system.chip", chip},
      {"deployment.prefill.system.chip", chip},
      {"deployment.decode.system.chip", chip},
      {"system.calibration", calibration, kNearest, fill_calibration, kStack},
      {"deployment.prefill.system.calibration", calibration, kNearest, fill_calibration, kStack},
      {"deployment.decode.system.calibration", calibration, kNearest, fill_calibration, kStack},
      {"serving.stack", workloads::stack_catalog()},
      {"training.trainer", workloads::trainer_catalog()},
      {"run.failures", workloads::failure_catalog(), workloads::kUsualFailures, fill_failures},
      {"serving.speculative.measured", workloads::acceptance_catalog()},
      {"serving.speculative.model", workloads::model_catalog()},
      {"serving.speculative.precision", workloads::precision_catalog(), "the model's own"},
      {"traffic.agents.embedder.model", workloads::model_catalog()},
      {"traffic.agents.embedder.precision",
       workloads::precision_catalog(),
       kNative,
       fill_precision,
       {"traffic.agents.embedder.model"}},
      {"traffic.agents.reranker.model", workloads::model_catalog()},
      {"traffic.agents.reranker.precision",
       workloads::precision_catalog(),
       kNative,
       fill_precision,
       {"traffic.agents.reranker.model"}},
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

bool load_at(Node& document, std::string_view path, Problems& problems) {
  return load(document, path, problems, 0);
}

bool fill_at(Node& document, std::string_view path, Problems& problems) {
  const ReferencePoint* point = reference_at(path);
  return point == nullptr || point->fill == nullptr || point->fill(document, path, problems);
}

void set_through(Node& document, std::string_view path, const base::Place& path_place,
                 const Node& value, Problems& problems) {
  constexpr std::string_view kChips = ".chips";
  const bool sized = path.ends_with(kChips);
  const std::string_view system = path.substr(0, sized ? path.size() - kChips.size() : 0);
  const double described = sized && reach(document, system, problems)
                               ? gpus_in_network(document.find_path(system))
                               : 0.0;
  set_at_once(document, path, path_place, value, problems);
  if (sized) {
    note_size(document.find_path(system), described);
  }
}

bool is_set_before(std::string_view path, std::string_view other) {
  const auto order = [](std::string_view each) {
    const int turn = turn_of(each);
    return std::tuple(turn == 2, std::count(each.begin(), each.end(), '.'), turn);
  };
  return order(path) < order(other);
}

void load_references(Node& document, Problems& problems) {
  for (const ReferencePoint& point : reference_points()) {
    if (!point.only_for_knobs) {
      fill_at(document, point.path, problems);
    }
    load_at(document, point.path, problems);
  }
}

}  // namespace roofcast::sim
