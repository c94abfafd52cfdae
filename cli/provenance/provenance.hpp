// SPDX-License-Identifier: Apache-2.0
//
// What made a result: OUT.provenance.json beside OUT.csv.
//
//   version       of the program, with its commit
//   command       the arguments, as they were given; directory: where
//   time, machine when (UTC), and on what
//   catalog       every entry that was read: kind, id, built-in or the user's file, FNV-1a of its text, whether it hides
//                 a built-in one
//   inputs        every file that was read: path, bytes, FNV-1a
//   outputs       every file that was written: the same
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace roofcast::cli {

// OUT.csv and OUT.csv.gz → OUT.provenance.json
std::filesystem::path provenance_beside(const std::filesystem::path& result);

// Beside each CSV that this process has written. Call it when all is written.
void write_provenance(const std::vector<std::string>& command);

struct Provenance {
  std::string version;
  std::vector<std::string> command;
  std::filesystem::path directory;
  std::vector<std::filesystem::path> outputs;
};
// Throws InputError if the file is no provenance.
Provenance read_provenance(const std::filesystem::path& file);

// What the makers of two results differ in, a line each: version, catalog entries. Empty if nothing, or if one of them
// has no provenance.
std::string difference_of_makers(const std::filesystem::path& old_result,
                                 const std::filesystem::path& new_result);
}  // namespace roofcast::cli
