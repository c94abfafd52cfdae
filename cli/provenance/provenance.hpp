// SPDX-License-Identifier: Apache-2.0
//
// OUT.provenance.json beside OUT.csv: what made the result (cli/provenance/made_by.hpp), and
//
//   directory     where
//   time, machine when (UTC), and on what
//   outputs       every file that was written: path, bytes, FNV-1a
//
// A page and a JSON answer hold what made them, with the name that they were written under.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace roofcast::cli {

// OUT.csv, OUT.csv.gz and OUT.csv.zst → OUT.provenance.json
std::filesystem::path provenance_beside(const std::filesystem::path& result);

// The user asks for a table under this name, which may have any ending.
void note_table(const std::filesystem::path& file);

// Whether one is written beside it: beside each table that is a file, and no part of a sweep.
bool has_provenance(const std::filesystem::path& result);

// Writes one beside each table that this process has written and that has none yet, and gives all that it has written its
// name (base/document/output_file.hpp). Call it when all is written.
void finish_outputs();

// Throws as base::check_beside does.
void check_provenance_beside(const std::filesystem::path& result);

// Whether a file is, byte for byte, what the provenance beside the result says was written.
bool is_as_written(const std::filesystem::path& file, const std::filesystem::path& result);

// Of a result that is read. Says so where there is a provenance beside it that tells of other bytes; else empty. What lies
// beside it is no target from now on. Throws InputError for a part of a sweep that was changed.
std::string foreign_provenance(const std::filesystem::path& result);

struct RecordedFile {
  std::filesystem::path path;
  std::string hash;
};
struct Provenance {
  std::string file;  // that it is a part of, as it was named; "-": stdout
  std::string version;
  std::vector<std::string> command;
  std::filesystem::path directory;  // none: not recorded
  std::string user_catalog;
  std::optional<std::string> standard_input;  // that it read
  std::vector<RecordedFile> inputs;
  std::vector<RecordedFile> outputs;
};
// Of OUT.provenance.json, a page or a JSON answer. Throws InputError if there is none in it.
Provenance read_provenance(const std::filesystem::path& file);

// What the makers of two results differ in by their provenances, a line each: version, catalog entries. Empty if nothing,
// or if one of them is not there.
std::string difference_of_makers(const std::filesystem::path& old_provenance,
                                 const std::filesystem::path& new_provenance);
}  // namespace roofcast::cli
