// SPDX-License-Identifier: Apache-2.0
#include "sim/decide/quantity_knobs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/units/unit_table.hpp"
#include "sim/decide/solve.hpp"
#include "sim/scenario/dotted_path.hpp"

namespace roofcast::sim {
namespace {

using base::Node;

constexpr std::string_view kRoots[] = {"system", "serving.stack", "training.trainer", "run"};
constexpr std::string_view kOversubscription = "system.scale_out.oversubscription";
constexpr std::string_view kFailureRates = "run.failures.per_thousand_gpu_days";
constexpr std::string_view kOneKnob[] = {"system.chip.tensor", "system.chip.parent.tensor"};
// Numbers of units on the die. Peaks and rates follow them.
constexpr std::string_view kCounts[] = {"system.chip.compute.sms", "system.chip.assumed.sms",
                                        "system.chip.l2.slices"};
// Figures that the clock carries along (hardware/chip_changes.hpp): beside it they are work of one clock.
constexpr std::string_view kPerClock[] = {"system.chip.tensor", "system.chip.vector",
                                          "system.chip.measured.exponential_rate",
                                          "system.chip.measured.l2_bandwidth"};

constexpr std::pair<std::string_view, Resource> kResourceOf[] = {
    {"system.chip.tensor", Resource::compute},
    {"system.chip.vector", Resource::compute},
    {"system.chip.compute", Resource::compute},
    {"system.chip.assumed.clock", Resource::compute},
    {"system.chip.measured.exponential_rate", Resource::compute},
    {"system.chip.measured.l2_bandwidth", Resource::compute},
    {"system.chip.parent.tdp", Resource::power},
    {"system.chip.parent", Resource::compute},
    {"system.chip.hbm", Resource::memory},
    {"system.chip.measured", Resource::memory},
    {"system.calibration.memory", Resource::memory},
    {"system.chip.nvlink", Resource::network},
    {"system.chip.links", Resource::network},
    {"system.chip.pcie", Resource::network},
    {"system.chip.cpu_link", Resource::network},
    {"system.scale_up", Resource::network},
    {"system.scale_out", Resource::network},
    {"system.latency", Resource::network},
    {"system.calibration.collective", Resource::network},
    {"system.calibration.launch", Resource::launch},
    {"system.chip.power", Resource::power},
    {"system.host_power", Resource::power},
    {"system.rack_power", Resource::power},
    {"serving.stack", Resource::host},
    {"training.trainer", Resource::host},
};

struct Quantity {
  base::Dimension dimension;
  double si = 0.0;
};

std::optional<Quantity> quantity_of(const Node& node) {
  if (!node.is_scalar()) {
    return std::nullopt;
  }
  for (const base::DimensionText& each : base::kDimensionTexts) {
    if (each.dimension == base::kNone) {
      continue;
    }
    const base::ParsedQuantity parsed = base::parse_quantity(node.text, each.dimension);
    if (parsed.ok()) {
      return Quantity{each.dimension, parsed.si};
    }
  }
  return std::nullopt;
}

std::optional<Resource> resource_of(std::string_view path) {
  for (const auto& [prefix, resource] : kResourceOf) {
    if (path.starts_with(prefix)) {
      return resource;
    }
  }
  return std::nullopt;
}

QuantityKnob knob_of(const std::string& path, const Node& node) {
  QuantityKnob knob{path, node.text, 1, false, 0.0, 0, std::nullopt};
  if (const auto quantity = quantity_of(node)) {
    knob.time = quantity->dimension.money == 0 ? quantity->dimension.time : 0;
    knob.resource = knob.time == 0 ? std::nullopt : resource_of(path);
    if (std::any_of(std::begin(kPerClock), std::end(kPerClock),
                    [&](std::string_view figure) { return path.starts_with(figure); })) {
      knob.time = 0;
    }
  }
  return knob;
}

QuantityKnob whole_knob_of(const std::string& path, const Node& node) {
  QuantityKnob knob = knob_of(path, node);
  knob.whole = true;
  const char* begin = node.text.data();
  std::from_chars(begin, begin + node.text.size(), knob.number);
  return knob;
}

// Every number of a group, as set_knob multiplies them.
std::optional<QuantityKnob> together(const std::string& group, const Node& node) {
  std::optional<QuantityKnob> all;
  for (const base::Entry* entry : numbers_of(node)) {
    const QuantityKnob one = knob_of(fmt::format("{}.{}", group, entry->key), entry->value);
    if (!all) {
      all = one;
      all->path = fmt::format("{}.*", group);
      continue;
    }
    ++all->figures;
    all->now += fmt::format(", {}", one.now);
    if (all->time != one.time) {
      all->time = 0;
      all->resource.reset();
    }
  }
  return all;
}

void collect(const std::string& path, const Node& node, std::vector<QuantityKnob>& knobs) {
  if (path == kFailureRates) {  // numbers without a unit
    for (const base::Entry* entry : numbers_of(node)) {
      knobs.push_back(knob_of(fmt::format("{}.{}", path, entry->key), entry->value));
    }
    return;
  }
  if (std::find(std::begin(kOneKnob), std::end(kOneKnob), path) != std::end(kOneKnob)) {
    if (auto all = together(path, node)) {
      knobs.push_back(*all);
    }
    return;
  }
  for (const base::Entry& entry : node.entries) {
    const std::string below = fmt::format("{}.{}", path, entry.key);
    if (entry.value.is_map()) {
      collect(below, entry.value, knobs);
      continue;
    }
    if (std::find(std::begin(kCounts), std::end(kCounts), below) != std::end(kCounts)) {
      if (!entry.value.is_null()) {
        knobs.push_back(whole_knob_of(below, entry.value));
      }
      continue;
    }
    if (below == kOversubscription &&
        base::parse_quantity(entry.value.text, base::kNone).si > 1.0) {
      knobs.push_back(knob_of(below, entry.value));
      continue;
    }
    const auto quantity = quantity_of(entry.value);
    if (quantity && quantity->si > 0.0 && quantity->dimension.money == 0) {
      knobs.push_back(knob_of(below, entry.value));
    }
  }
}

}  // namespace

std::string_view name(Resource resource) {
  constexpr std::string_view kNames[kResources] = {"compute", "memory", "network",
                                                   "launch",  "host",   "power"};
  return kNames[static_cast<std::size_t>(resource)];
}

std::string QuantityKnob::times(double factor) const {
  return fmt::format("{}=x{:.15g}", path, factor);
}

bool QuantityKnob::less_is_better() const {
  return path.starts_with(kFailureRates) || path == kOversubscription || path.ends_with("energy") ||
         path.starts_with("system.host_power") || (time > 0 && path != "run.maintenance.every");
}

std::string QuantityKnob::at(double value) const { return fmt::format("{}={:.0f}", path, value); }

std::vector<QuantityKnob> quantity_knobs(const Node& document) {
  std::vector<QuantityKnob> knobs;
  for (const std::string_view root : kRoots) {
    if (const Node* node = document.find_path(root)) {
      collect(std::string(root), *node, knobs);
    }
  }
  return knobs;
}

QuantityKnob knob_at(const base::Source& written, const Node& document, base::Problems& problems) {
  const std::string& path = written.text;
  if (path.ends_with(".*")) {
    const std::string group = path.substr(0, path.size() - 2);
    const Node* node = document.find_path(group);
    if (node != nullptr) {
      if (auto all = together(group, *node)) {
        return *all;
      }
    }
    const auto source = std::make_shared<const base::Source>(written);
    problems.add({source, {}}, "", fmt::format("\"{}\" is no group with numbers", group));
    return {};
  }
  const KnobRange range = parse_knob_range(written, document, problems);
  const Node* node = document.find_path(path);
  if (node == nullptr || !node->is_scalar() || range.high == 0.0) {
    return {};
  }
  return range.whole ? whole_knob_of(path, *node) : knob_of(path, *node);
}

}  // namespace roofcast::sim
