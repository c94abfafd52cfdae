// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

namespace roofcast::base {

// What a name says of its file, in small letters: ".csv" of rows.CSV.
std::string ending_of(const std::filesystem::path& file);

}  // namespace roofcast::base
