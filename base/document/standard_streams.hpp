// SPDX-License-Identifier: Apache-2.0
//
// "-" as the name of a file: stdin where it is read, stdout where it is written.
#pragma once

#include <filesystem>
#include <iosfwd>
#include <optional>
#include <string>

namespace roofcast::base {

bool is_standard_stream(const std::filesystem::path& file);  // "-"

// The document that was read from stdin, which nobody can read again: it stands in what made an answer
// (cli/provenance/made_by.hpp).
void keep_standard_input(std::string text);
const std::optional<std::string>& kept_standard_input();

// What is written to "-" goes here: stdout.
std::ostream& standard_output();

// From now on stdout is for what is written to "-" alone: everything else that the process prints there goes to stderr.
void keep_standard_output();

}  // namespace roofcast::base
