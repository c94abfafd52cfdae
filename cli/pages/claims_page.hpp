// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace roofcast::cli {

// The page docs/workloads.md: every claim of the catalog, by section.
std::string claims_page();

}  // namespace roofcast::cli
