// SPDX-License-Identifier: Apache-2.0
//
// The system that a chip was measured in: `measured_on` of the catalog's chips.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <tuple>
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

  // The server of a chip under a serving stack, with kernels of a version of it (empty, or not a version: the newest);
  // nullptr where the catalog knows no such chip or server. Owned here, the
  // same on every call.
  const sim::Platform* find(std::string_view chip, std::string_view stack,
                            std::string_view version = {});
  // The cluster of such servers, or the rack.
  const sim::Platform* find_cluster(std::string_view chip, std::string_view stack,
                                    std::string_view version = {});

 private:
  const sim::Platform* load(const std::string& system, const std::string& chip,
                            std::string_view stack, std::string_view version);

  using Key = std::tuple<std::string, std::string, std::string,
                         std::string>;  // system, chip, stack, version
  std::string calibration_;
  hardware::Measured measured_;
  std::map<Key, sim::Platform> platforms_;
};

}  // namespace roofcast::calibrate
