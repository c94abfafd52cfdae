// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "calibrate/accuracy/accuracy.hpp"

namespace roofcast::cli {

// The page docs/accuracy.md.
std::string accuracy_page(const std::vector<calibrate::KindAccuracy>& kinds);

}  // namespace roofcast::cli
