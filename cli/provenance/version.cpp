// SPDX-License-Identifier: Apache-2.0
#include "cli/provenance/version.hpp"

#include <string_view>

namespace roofcast::cli {

std::string version() {
  constexpr std::string_view kCommit = ROOFCAST_COMMIT;
  std::string text = ROOFCAST_VERSION;
  return kCommit.empty() ? text : text.append(" (").append(kCommit).append(")");
}

}  // namespace roofcast::cli
