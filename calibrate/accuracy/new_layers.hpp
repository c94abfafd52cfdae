// SPDX-License-Identifier: Apache-2.0
//
// How right the calibrations are for a model that nobody measured. Each is fitted anew, without any shape of a fifth of
// the layers, and judged by these (Split::layers). Their intervals are those that ship.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "calibrate/platforms/error_summary.hpp"

namespace roofcast::calibrate {

struct NewLayers {
  std::string kind;
  // By chip and stack; without those of which one side of the draw has no rows.
  std::map<std::pair<std::string, std::string>, std::vector<Pair>> pairs;
};

// Of each kind with layers, in the order of operator_kinds().
std::vector<NewLayers> new_layers(const std::filesystem::path& tables);

}  // namespace roofcast::calibrate
