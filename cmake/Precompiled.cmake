# SPDX-License-Identifier: Apache-2.0
# Precompiled headers: what nearly every source includes and nobody here changes. They only save time: every file still
# includes what it uses, which roofcast_header_test checks without them.

set(ROOFCAST_PRECOMPILED
    <algorithm> <array> <cmath> <cstddef> <cstdint> <filesystem> <functional> <limits> <map> <memory> <optional>
    <span> <stdexcept> <string> <string_view> <utility> <variant> <vector> <fmt/format.h>)

# roofcast_precompile(<target> [<header>...])
# The headers above, compiled once with roofcast_base, or with more of them once for the target.
function(roofcast_precompile target)
  if(ARGN OR target STREQUAL "roofcast_base")
    target_precompile_headers(${target} PRIVATE ${ROOFCAST_PRECOMPILED} ${ARGN})
  else()
    target_precompile_headers(${target} REUSE_FROM roofcast_base)
  endif()
endfunction()
