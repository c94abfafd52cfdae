# SPDX-License-Identifier: Apache-2.0
# Precompiled headers: what nearly every source of a folder includes. They only save time: every file still includes
# what it uses, which architecture.headers checks without them.

# roofcast_precompile(<target> <header>...)
function(roofcast_precompile target)
  target_precompile_headers(${target} PRIVATE
    <algorithm> <array> <cmath> <cstddef> <cstdint> <filesystem> <functional> <limits> <map> <memory> <optional>
    <span> <stdexcept> <string> <string_view> <utility> <variant> <vector> <fmt/format.h>
    ${ARGN})
endfunction()
