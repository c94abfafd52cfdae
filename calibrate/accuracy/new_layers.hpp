// SPDX-License-Identifier: Apache-2.0
//
// How right the calibrations are for a model that nobody measured. Each is fitted anew, without any shape of a fifth of
// the layers, and judged by these (Split::layers). Their intervals are those that ship.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "calibrate/platforms/error_summary.hpp"

namespace roofcast::calibrate {

struct NewLayers {
  std::string kind;
  std::vector<Pair> pairs;
};

// In the order of operator_kinds(). Left out: kinds without layers, and those of which either side has no rows.
std::vector<NewLayers> new_layers(const std::filesystem::path& tables);

}  // namespace roofcast::calibrate
