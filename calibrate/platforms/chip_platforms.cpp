// SPDX-License-Identifier: Apache-2.0
#include "calibrate/platforms/chip_platforms.hpp"

#include <fmt/format.h>

#include "base/csv/csv.hpp"
#include "calibrate/platforms/named_parts.hpp"
#include "sim/scenario/knob.hpp"
#include "sim/scenario/references.hpp"
#include "sim/scenario/section_readers.hpp"

namespace roofcast::calibrate {
namespace {

// A document with the system, its chip replaced; both whole. `names_one`: whether the system names a calibration.
base::Node system_with(const std::string& system, const std::string& chip, base::Problems& problems,
                       bool* names_one = nullptr) {
  base::Node document;
  document["system"] =
      base::load_reference(hardware::system_catalog(), base::scalar_node(system, {}), "");
  sim::set_knob(document, "system.chip", {}, base::scalar_node(chip, {}), problems);
  if (names_one != nullptr) {
    *names_one = document.find_path("system.calibration") != nullptr;
  }
  sim::load_references(document, problems);
  return document;
}

// What the chip names; else of the catalog's systems with the chip the one with the fewest, or as a cluster with the most.
std::string system_of(const hardware::Chip& chip, bool cluster) {
  std::string system = cluster ? chip.measured_on.cluster : chip.measured_on.server;
  if (!system.empty()) {
    return system;
  }
  const base::Catalog catalog = hardware::system_catalog();
  double chips = 0.0;
  for (const std::string& id : base::catalog_ids(catalog)) {
    const base::Node entry = base::load_entry(catalog, id);
    const base::Node* of = entry.find("chip");
    if (of == nullptr || of->text != chip.id) {
      continue;
    }
    const base::Node* count = entry.find("chips");
    const double size = count == nullptr ? 1.0 : base::parse_number(count->text).value_or(1.0);
    if (system.empty() || (cluster ? size > chips : size < chips)) {
      system = id;
      chips = size;
    }
  }
  return system;
}

}  // namespace

std::string no_system_with(std::string_view chip) {
  return chip_called(chip) == nullptr
             ? fmt::format("no system with {} in the catalog", chip)
             : fmt::format("the chip {} names no system in measured_on:, and none has it", chip);
}

const sim::Platform* ChipPlatforms::find(std::string_view chip, std::string_view stack,
                                         std::string_view version) {
  const hardware::Chip* known = chip_called(chip);
  return known == nullptr ? nullptr : load(*known, false, stack, version);
}

const sim::Platform* ChipPlatforms::find_timed(std::string_view chip, std::string_view stack,
                                               std::string_view version) {
  const hardware::Chip* known = chip_called(chip);
  return known == nullptr ? nullptr : load(*known, false, stack, version, true);
}

const sim::Platform* ChipPlatforms::find_cluster(std::string_view chip, std::string_view stack,
                                                 std::string_view version) {
  const hardware::Chip* known = chip_called(chip);
  return known == nullptr ? nullptr : load(*known, true, stack, version);
}

NearestCalibration nearest_of(const std::string& chip, std::string_view stack) {
  base::Problems problems;
  base::Node document = system_with(system_of(*chip_called(chip), false), chip, problems);
  NearestCalibration nearest;
  nearest.reference = hardware::nearest_calibration(*document.find_path("system.chip"), stack);
  document["system"]["calibration"] = nearest.reference;
  sim::load_references(document, problems);
  problems.throw_if_any();
  nearest.whole = *document.find_path("system.calibration");
  return nearest;
}

const sim::Platform* ChipPlatforms::load(const hardware::Chip& chip, bool cluster,
                                         std::string_view stack, std::string_view version,
                                         bool timed) {
  const auto [system, added] = systems_.try_emplace({chip.id, cluster});
  if (added) {
    system->second = system_of(chip, cluster);
  }
  if (system->second.empty()) {
    return nullptr;
  }
  const Key key{system->second, chip.id, std::string(stack), std::string(version), timed};
  if (const auto known = platforms_.find(key); known != platforms_.end()) {
    return &known->second;
  }
  base::Problems problems;
  bool names_one = false;
  base::Node document = system_with(system->second, chip.id, problems, &names_one);
  if (!calibration_.empty()) {
    document["system"]["calibration"] = base::scalar_node(calibration_, {});
  } else if (!names_one) {
    document["system"]["calibration"] = hardware::nearest_calibration(
        *document.find_path("system.chip"), stack, unmeasured_, also_);
  }
  sim::load_references(document, problems);
  if (base::Node* calibration = document.find_path("system.calibration"); timed && calibration) {
    std::erase_if(calibration->entries,
                  [](const base::Entry& entry) { return entry.key == "tuned"; });
  }
  if (!version.empty()) {
    document["serving"]["stack"] = base::scalar_node(std::string(stack), {});
    document["serving"]["version"] = base::scalar_node(std::string(version), {});
  }
  sim::Platform platform = sim::read_platform(document, problems);
  problems.throw_if_any();
  return &platforms_.emplace(key, std::move(platform)).first->second;
}

}  // namespace roofcast::calibrate
