// SPDX-License-Identifier: Apache-2.0
#include "hardware/nearest_calibration.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "hardware/calibration.hpp"
#include "hardware/chip.hpp"

namespace roofcast::hardware {
namespace {

using base::Node;

constexpr double kOtherMemory = 4.0;  // generations that another kind of memory is worth

struct Generation {
  std::string_view architecture;
  double order;
};
constexpr Generation kGenerations[] = {
    {"volta", 0.0},  {"turing", 1.0},    {"ampere", 2.0},          {"ada", 3.0},
    {"hopper", 3.5}, {"blackwell", 4.5}, {"blackwell_ultra", 4.5}, {"rubin", 5.5},
};

// The figures of a chip that decide its distance to others.
struct Kind {
  std::string vendor;
  double generation = 0.0;
  bool hbm = false;
  std::vector<double> logs;  // of bandwidth, bf16 rate and SMs
};

std::optional<Kind> kind_of(const Node& document) {
  base::Problems problems;
  Chip chip;
  base::Fields fields(document, "chip", problems);
  read(fields, chip);
  const auto* generation =
      std::find_if(std::begin(kGenerations), std::end(kGenerations),
                   [&](const Generation& g) { return g.architecture == chip.architecture; });
  if (problems.size() > 0 || generation == std::end(kGenerations)) {
    return std::nullopt;
  }
  const double sms = static_cast<double>(chip.sms_used().value_or(1));
  return Kind{chip.vendor,
              generation->order,
              chip.memory_type.starts_with("HBM"),
              {std::log(chip.bandwidth.si()),
               std::log(std::max(chip.peak(base::MathType::bf16).si(), 1.0)), std::log(sms)}};
}

// In generations. A factor e in bandwidth, rate or SMs counts as a tenth of a generation.
double distance(const Kind& a, const Kind& b) {
  double far = std::abs(a.generation - b.generation) + (a.hbm == b.hbm ? 0.0 : kOtherMemory);
  for (std::size_t i = 0; i < a.logs.size(); ++i) {
    far += 0.1 * std::abs(a.logs[i] - b.logs[i]);
  }
  return far;
}

struct Reference {
  std::string id;
  std::vector<std::string> stacks;
  Kind kind;
  std::string text;  // its document
};

// The measured chips of the catalog with the stacks under which they were measured.
const std::vector<Reference>& references() {
  static const std::vector<Reference> all = [] {
    std::vector<Reference> chips;
    const auto known = base::catalog_ids(chip_catalog());
    for (const std::string& id : base::catalog_ids(calibration_catalog())) {
      const auto dot = id.find('.');
      const std::string chip = id.substr(0, dot);
      if (dot == std::string::npos || !std::binary_search(known.begin(), known.end(), chip)) {
        continue;
      }
      if (chips.empty() || chips.back().id != chip) {
        const Node document = base::load_entry(chip_catalog(), chip);
        const auto kind = kind_of(document);
        if (!kind) {
          continue;
        }
        chips.push_back({chip, {}, *kind, base::to_yaml(document)});
      }
      chips.back().stacks.push_back(id.substr(dot + 1));
    }
    return chips;
  }();
  return all;
}

}  // namespace

Node nearest_calibration(const Node& chip, std::string_view stack, Measured measured) {
  const auto kind = kind_of(chip);
  const Reference* nearest = nullptr;
  double least = std::numeric_limits<double>::infinity();
  if (kind) {
    for (const Reference& other : references()) {
      const bool own = other.id == chip.reference;
      if (other.kind.vendor != kind->vendor || (own && measured == Measured::others)) {
        continue;
      }
      const double far = own ? -1.0 : distance(*kind, other.kind);
      if (far < least) {
        least = far;
        nearest = &other;
      }
    }
  }
  if (nearest == nullptr) {
    return base::scalar_node("generic", chip.place);
  }
  const bool same_stack =
      std::find(nearest->stacks.begin(), nearest->stacks.end(), stack) != nearest->stacks.end();
  const Node id = base::scalar_node(
      nearest->id + "." + (same_stack ? std::string(stack) : nearest->stacks.back()), chip.place);
  if (least < 0.0 && same_stack && base::to_yaml(chip) == nearest->text) {
    return id;
  }
  Node transferred;
  transferred.kind = Node::Kind::map;
  transferred.place = chip.place;
  transferred["base"] = id;
  transferred["provenance"] = base::scalar_node("transferred", chip.place);
  static const Node generic = base::load_entry(calibration_catalog(), "generic");
  if (const Node* errors = generic.find("errors")) {
    transferred["errors"] = *errors;
  }
  if (kind->generation != nearest->kind.generation || kind->hbm != nearest->kind.hbm) {
    transferred["corrections"].place = chip.place;  // null
    transferred["older_versions"].place = chip.place;
  }
  return transferred;
}

}  // namespace roofcast::hardware
