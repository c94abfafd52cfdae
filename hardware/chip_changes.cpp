// SPDX-License-Identifier: Apache-2.0
#include "hardware/chip_changes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "base/document/notes.hpp"
#include "base/units/multiplied.hpp"
#include "base/units/quantity.hpp"
#include "base/units/unit_text.hpp"

namespace roofcast::hardware {
namespace {

using base::Node;

constexpr auto kFlopsPerSecond = base::dimension_of(base::FlopsPerSecond{});
constexpr std::string_view kSms = "compute.sms";
constexpr std::string_view kClock = "compute.clock";
constexpr std::string_view kAssumedSms = "assumed.sms";
constexpr std::string_view kAssumedClock = "assumed.clock";
constexpr std::string_view kSlices = "l2.slices";
constexpr std::string_view kRelativeSlices = "l2.relative_slices";
constexpr std::string_view kExponentials = "measured.exponential_rate";
constexpr std::string_view kRelativeExponentials = "measured.relative_exponential_rate";

// 0 where there is none.
double number_at(const Node& chip, std::string_view path, base::Dimension dimension = {}) {
  const Node* node = chip.find_path(path);
  if (node == nullptr || !node->is_scalar()) {
    return 0.0;
  }
  const base::ParsedQuantity parsed = base::parse_quantity(node->text, dimension);
  return parsed.ok() && parsed.si > 0.0 ? parsed.si : 0.0;
}

// By what a figure was multiplied; 1 where it was or is not known.
double factor(const Node& chip, const Node& before, std::string_view path,
              base::Dimension dimension = {}) {
  const double now = number_at(chip, path, dimension);
  const double was = number_at(before, path, dimension);
  return now > 0.0 && was > 0.0 ? now / was : 1.0;
}

// That of the datasheet, else of what is assumed in its place.
double factor_used(const Node& chip, const Node& before, std::string_view stated,
                   std::string_view assumed, base::Dimension dimension) {
  const bool silent = number_at(chip, stated, dimension) == 0.0;
  return factor(chip, before, silent ? assumed : stated, dimension);
}

void scale(Node& chip, std::string_view path, double by, const base::Place& place) {
  Node* node = chip.find_path(path);
  const bool number = by != 1.0 && node != nullptr && node->is_scalar();
  if (const auto text = number ? base::multiplied(node->text, by) : std::nullopt) {
    node->text = *text;
    node->place = place;
  }
}

void scale_group(Node& chip, std::string_view group, double by, const base::Place& place) {
  if (const Node* node = chip.find(group)) {
    for (std::size_t i = 0; i < node->entries.size(); ++i) {
      if (node->entries[i].key != "source") {
        scale(chip, fmt::format("{}.{}", group, node->entries[i].key), by, place);
      }
    }
  }
}

void round_count(Node& chip, std::string_view path) {
  const double exact = number_at(chip, path);
  const double whole = std::max(1.0, std::round(exact));
  if (exact > 0.0 && exact != whole) {
    Node& node = *chip.find_path(path);
    base::add_note(fmt::format("{}: {} is rounded to {:.0f}", path, node.text, whole));
    node.text = fmt::format("{:.0f}", whole);
  }
}

void copy(const Node& from, std::string_view path, Node& to, std::string_view key) {
  const Node* node = from.find_path(path);
  if (node != nullptr && node->is_scalar()) {
    to[key] = *node;
  }
}

// The slices that a factor of an unknown number makes: the factor, and not the number, is kept. 1 where there is none.
double relative_slices(Node& chip, const Node& before, std::string_view path, bool by_factor) {
  const double times = number_at(chip, kSlices);
  if (path != kSlices || !by_factor || times == 0.0 || number_at(before, kSlices) > 0.0) {
    return 1.0;
  }
  const double were = number_at(before, kRelativeSlices);
  Node& l2 = chip["l2"];
  l2["relative_slices"] = base::scalar_node(fmt::format("{:g}", times * (were > 0.0 ? were : 1.0)),
                                            l2.find("slices")->place);
  std::erase_if(l2.entries, [](const base::Entry& entry) { return entry.key == "slices"; });
  base::add_note(fmt::format(
      "l2.slices: the chip does not say how many it has; {:g} times as many are taken", times));
  return times;
}

// The same of exp(), whose rate without a measurement is the calibration's.
void relate_exponentials(Node& chip, const Node& before, std::string_view path, bool by_factor) {
  const double times = number_at(chip, kExponentials, kFlopsPerSecond);
  if (path != kExponentials || !by_factor || times == 0.0 ||
      number_at(before, kExponentials, kFlopsPerSecond) > 0.0) {
    return;
  }
  const double was = number_at(before, kRelativeExponentials);
  Node& measured = chip["measured"];
  measured["relative_exponential_rate"] =
      base::scalar_node(fmt::format("{:g}", times * (was > 0.0 ? was : 1.0)),
                        measured.find("exponential_rate")->place);
  std::erase_if(measured.entries,
                [](const base::Entry& entry) { return entry.key == "exponential_rate"; });
}

// The figures of the group `parent` but its name.
Node energies_of(const Node& before) {
  Node parent;
  parent.kind = Node::Kind::map;
  parent.place = before.place;
  copy(before, kAssumedSms, parent, "sms");
  copy(before, kSms, parent, "sms");
  copy(before, kAssumedClock, parent, "clock");
  copy(before, kClock, parent, "clock");
  copy(before, "power.tdp", parent, "tdp");
  copy(before, "shared_memory.per_sm", parent, "shared_memory_per_sm");
  if (const Node* tensor = before.find("tensor")) {
    for (const base::Entry& entry : tensor->entries) {
      if (entry.key != "source") {
        copy(*tensor, entry.key, parent["tensor"], entry.key);
      }
    }
  }
  return parent;
}

}  // namespace

bool is_of_the_die(std::string_view path) {
  return path.starts_with("compute") || path.starts_with("assumed") || path == kSlices;
}

std::string_view knob_of_die(std::string_view path) {
  constexpr std::pair<std::string_view, std::string_view> kKnobs[] = {
      {"die.clock", kClock},
      {"die.flop_per_sm_clock", "tensor.*"},
      {"die.vector_flop_per_sm_clock", "vector.fp32"},
      {"die.exponentials_per_sm_clock", kExponentials},
      {"die.l2_bytes_per_sm_clock", "measured.l2_bandwidth"},
      {"die.tensor_instruction", "compute.tensor_instruction"},
      {"die.shared_memory", "shared_memory.per_sm"},
      {"die.registers", "registers.per_sm"},
      {"die.tensor_memory", "registers.tensor_memory_per_sm"},
  };
  const auto found = std::find_if(std::begin(kKnobs), std::end(kKnobs),
                                  [&](const auto& knob) { return knob.first == path; });
  const bool die = path == "die" || path.starts_with("die.");
  return found != std::end(kKnobs) ? found->second : die ? kSms : std::string_view();
}

void state_energies(Node& chip) {
  if (chip.is_map() && chip.find("parent") == nullptr) {
    chip["parent"] = energies_of(chip);
  }
}

void state_default(Node& chip, std::string_view path) {
  const Node* tdp = chip.find_path("power.tdp");
  const Node* cap = chip.find_path("power.cap");
  if (path == "power.cap" && (cap == nullptr || cap->is_null()) && tdp != nullptr) {
    chip["power"]["cap"] = Node(*tdp);
  }
  if (path == kSlices && number_at(chip, kSlices) == 0.0 && chip.find("l2") != nullptr) {
    chip["l2"]["slices"] = base::scalar_node("1", chip.find("l2")->place);
  }
  if (path == kExponentials && number_at(chip, kExponentials, kFlopsPerSecond) == 0.0 &&
      chip.find("measured") != nullptr) {
    chip["measured"]["exponential_rate"] =
        base::scalar_node("1 FLOPS", chip.find("measured")->place);
  }
}

//   sms, clock, slices   –   factors of the change
void carry_along(Node& chip, const Node& before, std::string_view path, bool by_factor) {
  constexpr auto kHertz = base::dimension_of(base::Hertz{});
  constexpr std::string_view kOfTheParent[] = {"parent", "power.cap", "name", "notes", "known_as"};
  for (const std::string_view same : kOfTheParent) {
    if (path == same || (path.starts_with(same) && path[same.size()] == '.')) {
      return;
    }
  }
  if (base::to_yaml(chip) == base::to_yaml(before)) {
    return;
  }
  if (chip.find("parent") == nullptr) {
    Node parent = energies_of(before);
    copy(before, "name", parent, "name");
    copy(before, "hbm.bandwidth", parent, "bandwidth");
    copy(before, "nvlink.bandwidth_bidirectional", parent, "nvlink_bidirectional");
    chip["parent"] = std::move(parent);
  }
  const double relative = relative_slices(chip, before, path, by_factor);
  relate_exponentials(chip, before, path, by_factor);
  if (by_factor) {
    for (const std::string_view count : {kSms, kAssumedSms, kSlices}) {
      round_count(chip, count);
    }
  }
  const double sms = factor_used(chip, before, kSms, kAssumedSms, {});
  const double clock = factor_used(chip, before, kClock, kAssumedClock, kHertz);
  const double slices = relative * factor(chip, before, kSlices);
  const Node* changed = chip.find_path(path.substr(0, path.find(".*")));
  const base::Place place = changed == nullptr ? chip.place : changed->place;
  scale_group(chip, "tensor", sms * clock, place);
  scale_group(chip, "vector", sms * clock, place);
  scale(chip, "measured.exponential_rate", sms * clock, place);
  const bool sliced = number_at(chip, kSlices) > 0.0;
  if (path == kSlices && sliced && number_at(before, kSlices) == 0.0) {
    base::add_note("l2.slices: the chip did not say how many it has, so that nothing follows");
  }
  scale(chip, "measured.l2_bandwidth", (sliced ? slices : relative * sms) * clock, place);
  scale(chip, "l2.capacity", slices, place);
  scale(chip, "assumed.l2_capacity", slices, place);
}

}  // namespace roofcast::hardware
