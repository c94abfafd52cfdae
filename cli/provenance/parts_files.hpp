// SPDX-License-Identifier: Apache-2.0
//
// The names in a folder of parts (cli/provenance/sweep_parts.hpp). Other files may lie there: they are noted, not read and
// not removed.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

namespace roofcast::cli {

inline constexpr const char* kSweep = "sweep.yaml";
inline constexpr const char* kFinishing = "finishing";  // cli/provenance/unfinished_sweep.hpp

std::string part_name(std::size_t part);   // 00007.csv
std::string check_name(std::size_t part);  // 00007.check

// Says on stderr which names are not those of a sweep of so many parts, if there are some.
void note_other_files(const std::filesystem::path& folder, std::size_t parts);

// Removes the files of a sweep of so many parts, those that a killed run left unfinished too, and the folder if nothing
// else is in it. What stays is noted: other names, and links, of which nobody here has written any.
void remove_parts(const std::filesystem::path& folder, std::size_t parts);

}  // namespace roofcast::cli
