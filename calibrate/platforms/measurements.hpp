// SPDX-License-Identifier: Apache-2.0
//
// Where measured tables are. They are too large to be embedded, so the program reads them in place:
//
//   $ROOFCAST_DATA                     where it is set, and nowhere else
//   share/roofcast/measurements        of the nearest folder above the program: an installed one
//   calibrate/measurements             of the nearest folder above the program or the working directory: a checkout
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace roofcast::calibrate {

// The folder of all measured tables. Throws InputError where there is none.
std::filesystem::path measurements();

// NAME.csv or NAME.columns, compressed or not, in the folder; nothing where none of them is there.
std::optional<std::filesystem::path> find_table(const std::filesystem::path& folder,
                                                std::string_view name);

// What `calibrate validate KIND` reads where nobody names a table. Throws InputError where one of them is missing.
std::vector<std::filesystem::path> tables_of(std::string_view kind);

}  // namespace roofcast::calibrate
