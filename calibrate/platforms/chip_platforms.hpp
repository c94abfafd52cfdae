// SPDX-License-Identifier: Apache-2.0
//
// The system that a chip was measured in: `measured_on` of the catalog's chips. Of one that names none, a system of the
// catalog that has it.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "hardware/nearest_calibration.hpp"
#include "sim/scenario/scenario.hpp"

namespace roofcast::calibrate {

// The calibration that a chip takes under a stack.
struct NearestCalibration {
  base::Node reference;  // an id, or what differs from one
  base::Node whole;      // every key
};
NearestCalibration nearest_of(const std::string& chip, std::string_view stack);

// Why there is no platform of a chip.
std::string no_system_with(std::string_view chip);

class ChipPlatforms {
 public:
  // `calibration`: an id or a path in place of the chips' own; `unmeasured`: what of a chip is not known, `also`: an
  // architecture that is not known either.
  explicit ChipPlatforms(std::string calibration = {},
                         hardware::Unmeasured unmeasured = hardware::Unmeasured::nothing,
                         std::string also = {})
      : calibration_(std::move(calibration)), unmeasured_(unmeasured), also_(std::move(also)) {}

  // The server of a chip under a serving stack, with kernels of a version of it (empty, or not a version: the newest);
  // nullptr where the catalog knows no such chip or server. Owned here, the
  // same on every call.
  const sim::Platform* find(std::string_view chip, std::string_view stack,
                            std::string_view version = {});
  // The same with kernels as they were timed, which no server tuned (hardware/kernel_versions.hpp).
  const sim::Platform* find_timed(std::string_view chip, std::string_view stack,
                                  std::string_view version = {});
  // The cluster of such servers, or the rack.
  const sim::Platform* find_cluster(std::string_view chip, std::string_view stack,
                                    std::string_view version = {});

 private:
  const sim::Platform* load(const hardware::Chip& chip, bool cluster, std::string_view stack,
                            std::string_view version, bool timed = false);

  using Key = std::tuple<std::string, std::string, std::string, std::string,
                         bool>;  // system, chip, stack, version, whether as timed
  std::string calibration_;
  hardware::Unmeasured unmeasured_;
  std::string also_;
  std::map<std::pair<std::string, bool>, std::string> systems_;  // of chips, and as clusters
  std::map<Key, sim::Platform> platforms_;
};

}  // namespace roofcast::calibrate
