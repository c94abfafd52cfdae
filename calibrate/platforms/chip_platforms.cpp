// SPDX-License-Identifier: Apache-2.0
#include "calibrate/platforms/chip_platforms.hpp"
#include "sim/scenario/knob.hpp"
#include "sim/scenario/references.hpp"
#include "sim/scenario/section_readers.hpp"

#include "calibrate/platforms/named_parts.hpp"

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

}  // namespace

const sim::Platform* ChipPlatforms::find(std::string_view chip, std::string_view stack,
                                         std::string_view version) {
  const hardware::Chip* known = chip_called(chip);
  return known == nullptr ? nullptr : load(known->measured_on.server, known->id, stack, version);
}

const sim::Platform* ChipPlatforms::find_timed(std::string_view chip, std::string_view stack,
                                               std::string_view version) {
  const hardware::Chip* known = chip_called(chip);
  return known == nullptr ? nullptr
                          : load(known->measured_on.server, known->id, stack, version, true);
}

const sim::Platform* ChipPlatforms::find_cluster(std::string_view chip, std::string_view stack,
                                                 std::string_view version) {
  const hardware::Chip* known = chip_called(chip);
  return known == nullptr ? nullptr : load(known->measured_on.cluster, known->id, stack, version);
}

NearestCalibration nearest_of(const std::string& chip, std::string_view stack) {
  base::Problems problems;
  base::Node document = system_with(chip_called(chip)->measured_on.server, chip, problems);
  NearestCalibration nearest;
  nearest.reference = hardware::nearest_calibration(*document.find_path("system.chip"), stack);
  document["system"]["calibration"] = nearest.reference;
  sim::load_references(document, problems);
  problems.throw_if_any();
  nearest.whole = *document.find_path("system.calibration");
  return nearest;
}

const sim::Platform* ChipPlatforms::load(const std::string& system, const std::string& chip,
                                         std::string_view stack, std::string_view version,
                                         bool timed) {
  if (system.empty()) {
    return nullptr;
  }
  const Key key{system, chip, std::string(stack), std::string(version), timed};
  if (const auto known = platforms_.find(key); known != platforms_.end()) {
    return &known->second;
  }
  base::Problems problems;
  bool names_one = false;
  base::Node document = system_with(system, chip, problems, &names_one);
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
