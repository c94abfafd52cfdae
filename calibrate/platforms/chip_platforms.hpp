// SPDX-License-Identifier: Apache-2.0
//
// The system a chip was measured in: tables of measurements name only the chip.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "hardware/nearest_calibration.hpp"
#include "sim/scenario/scenario.hpp"

namespace roofcast::calibrate {

class ChipPlatforms {
 public:
  // `calibration`: an id or a path in place of the chips' own; `measured`: whether chips have one of
  // their own.
  explicit ChipPlatforms(std::string calibration = {},
                         hardware::Measured measured = hardware::Measured::own)
      : calibration_(std::move(calibration)), measured_(measured) {}

  // The server (HGX node, NVL72 rack, PCIe box) of a chip of the catalog under a serving stack; nullptr for
  // other chips. Owned here, the same on every call.
  const sim::Platform* find(std::string_view chip, std::string_view stack);
  // The cluster of such servers, or the rack.
  const sim::Platform* find_cluster(std::string_view chip, std::string_view stack);

 private:
  const sim::Platform* load(std::string_view system, std::string_view chip, std::string_view stack);

  std::string calibration_;
  hardware::Measured measured_;
  std::map<std::pair<std::string, std::string>, sim::Platform> platforms_;  // by system and stack
};

}  // namespace roofcast::calibrate
