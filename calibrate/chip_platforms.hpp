// SPDX-License-Identifier: Apache-2.0
//
// The system a chip was measured in: tables of measurements name only the chip.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "sim/scenario.hpp"

namespace roofcast::calibrate {

class ChipPlatforms {
 public:
  // `calibration`: an id or a path in place of the systems' own.
  explicit ChipPlatforms(std::string calibration = {}) : calibration_(std::move(calibration)) {}

  // The server (HGX node, NVL72 rack, PCIe box) of a chip of the catalog; nullptr for other chips.
  // Owned here, the same on every call.
  const sim::Platform* find(std::string_view chip);

 private:
  std::string calibration_;
  std::map<std::string, sim::Platform, std::less<>> platforms_;
};

}  // namespace roofcast::calibrate
