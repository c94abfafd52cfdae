// SPDX-License-Identifier: Apache-2.0
//
// "-" as the name of a file: stdin where it is read, stdout where it is written.
#pragma once

#include <filesystem>
#include <iosfwd>
#include <optional>
#include <string>

namespace roofcast::base {

// Opens those of stdin, stdout and stderr that the process started without: else the first file that it opens becomes one
// of them, and gets what is said there. stdout fails as a closed one does. Before anything is opened.
void open_closed_streams();

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
