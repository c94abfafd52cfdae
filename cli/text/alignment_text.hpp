// SPDX-License-Identifier: Apache-2.0
//
// Warnings of widths that waste a part of a tile (sim/result/alignment.hpp), one line each; empty when there are none.
#pragma once

#include <string>

#include "sim/estimate.hpp"

namespace roofcast::cli {

std::string alignment_text(const sim::ScenarioView& scenario, const sim::ServingEstimate& estimate);

}  // namespace roofcast::cli
