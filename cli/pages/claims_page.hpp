// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "calibrate/accuracy/claims.hpp"

namespace roofcast::cli {

// The page docs/workloads.md, docs/runs.md or docs/mlperf.md: every claim of the catalog that is for it, by section.
std::string claims_page(calibrate::ClaimsPage page);

}  // namespace roofcast::cli
