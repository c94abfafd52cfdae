// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

namespace roofcast::base {

// The bytes of the UTF-8 character that `text` starts with; 0 when it starts with none.
std::size_t character_size(std::string_view text);

}  // namespace roofcast::base
