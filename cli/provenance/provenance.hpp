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
//   user_catalog  the directory of ROOFCAST_CATALOG, if it was set
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace roofcast::cli {

// OUT.csv and OUT.csv.gz → OUT.provenance.json
std::filesystem::path provenance_beside(const std::filesystem::path& result);

// Beside each CSV that this process has written. Call it when all is written.
void write_provenance(const std::vector<std::string>& command);

// Whether a file is, byte for byte, what the provenance beside the result says was written.
bool is_as_written(const std::filesystem::path& file, const std::filesystem::path& result);

struct RecordedFile {
  std::filesystem::path path;
  std::string hash;
};
struct Provenance {
  std::string version;
  std::vector<std::string> command;
  std::filesystem::path directory;
  std::string user_catalog;
  std::vector<RecordedFile> inputs;
  std::vector<RecordedFile> outputs;
};
// Throws InputError if the file is no provenance.
Provenance read_provenance(const std::filesystem::path& file);

// What the makers of two results differ in by their provenances, a line each: version, catalog entries. Empty if nothing,
// or if one of them is not there.
std::string difference_of_makers(const std::filesystem::path& old_provenance,
                                 const std::filesystem::path& new_provenance);
}  // namespace roofcast::cli
