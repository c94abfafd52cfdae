// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/document/output_file.hpp"

namespace roofcast::base {

// The bytes on the disk; none where the file cannot be read, or is none: a pipe may never end.
std::string bytes_of(const std::filesystem::path& file);

// Writes the text byte for byte; to stdout ("-") without control characters. Throws InputError where the file cannot be
// written whole.
void write_text(const std::filesystem::path& file, std::string_view text,
                Output kind = Output::named);

}  // namespace roofcast::base
