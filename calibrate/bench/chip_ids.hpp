// SPDX-License-Identifier: Apache-2.0
//
// The catalog's id of a GPU by the name its driver gives it.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <utility>

namespace roofcast::bench {

std::span<const std::pair<std::string_view, std::string_view>> known_gpus();  // name, id

// Nothing for a name that is not known to the letter: variants of a GPU differ in memory and clocks.
std::optional<std::string_view> chip_of(std::string_view gpu);

}  // namespace roofcast::bench
