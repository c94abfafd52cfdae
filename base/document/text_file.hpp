// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string_view>

namespace roofcast::base {

// Writes the text byte for byte. Throws InputError where the file cannot be written whole.
void write_text(const std::filesystem::path& file, std::string_view text);

}  // namespace roofcast::base
