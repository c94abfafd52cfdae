// SPDX-License-Identifier: Apache-2.0
#include "calibrate/platforms/chip_platforms.hpp"

#include <optional>

namespace roofcast::calibrate {
namespace {

using base::Node;

// A chip whole, whether it is derived or not.
hardware::Chip read_chip(const std::string& id) {
  base::Problems problems;
  Node document;
  document["system"]["chip"] = base::scalar_node(id, {});
  sim::load_references(document, problems);
  problems.throw_if_any();
  hardware::Chip chip;
  base::Fields fields(*document.find_path("system.chip"), id, problems);
  hardware::read(fields, chip);
  fields.end();
  problems.throw_if_any();
  return chip;
}

}  // namespace

const hardware::Chip* chip_called(std::string_view name) {
  static std::map<std::string, std::optional<hardware::Chip>, std::less<>> chips;
  auto known = chips.find(name);
  if (known == chips.end()) {
    const auto id = base::id_called(hardware::chip_catalog(), name);
    known = chips.emplace(name, id ? std::optional(read_chip(*id)) : std::nullopt).first;
  }
  return known->second ? &*known->second : nullptr;
}

const sim::Platform* ChipPlatforms::find(std::string_view chip, std::string_view stack) {
  const hardware::Chip* known = chip_called(chip);
  return known == nullptr ? nullptr : load(known->measured_on.server, known->id, stack);
}

const sim::Platform* ChipPlatforms::find_cluster(std::string_view chip, std::string_view stack) {
  const hardware::Chip* known = chip_called(chip);
  return known == nullptr ? nullptr : load(known->measured_on.cluster, known->id, stack);
}

const sim::Platform* ChipPlatforms::load(const std::string& system, const std::string& chip,
                                         std::string_view stack) {
  if (system.empty()) {
    return nullptr;
  }
  const Key key{system, chip, std::string(stack)};
  if (const auto known = platforms_.find(key); known != platforms_.end()) {
    return &known->second;
  }
  base::Problems problems;
  Node document;
  document["system"] =
      base::load_reference(hardware::system_catalog(), base::scalar_node(system, {}), "");
  sim::set_knob(document, "system.chip", {}, base::scalar_node(chip, {}), problems);
  const bool names_one = document.find_path("system.calibration") != nullptr;
  sim::load_references(document, problems);
  if (!calibration_.empty()) {
    document["system"]["calibration"] = base::scalar_node(calibration_, {});
  } else if (!names_one) {
    document["system"]["calibration"] =
        hardware::nearest_calibration(*document.find_path("system.chip"), stack, measured_);
  }
  sim::load_references(document, problems);
  sim::Platform platform = sim::read_platform(document, problems);
  problems.throw_if_any();
  return &platforms_.emplace(key, std::move(platform)).first->second;
}

}  // namespace roofcast::calibrate
