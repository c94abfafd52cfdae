// SPDX-License-Identifier: Apache-2.0
//
// Rows of other tools as a table of our own, with a manifest as calibrate/measurements/README.md says.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "calibrate/imports/sources.hpp"

namespace roofcast::calibrate {

struct ReadSource {
  std::string file, format, sha256;
  std::size_t rows = 0;
  std::size_t kept = 0;
};

struct Imported {
  std::string kind;
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;  // chips and stacks by their ids
  std::vector<ReadSource> sources;
  std::map<std::string, std::size_t> refused;  // rows that mean nothing, by reason
  std::set<std::string> chips;
  std::map<std::string, std::set<std::string>> versions;  // by stack
};

// InputError where a source cannot be read, the sources are of several kinds, or no row means anything.
Imported import_rows(const std::vector<std::filesystem::path>& sources,
                     const ImportOptions& options);

// What only the caller knows; empty: unknown.
struct Origin {
  std::string source, licence, timer;
};

// Writes the table (.csv, .csv.gz or .csv.zst) and NAME.yaml beside it; returns the latter. InputError where another kind of file
// has its name.
std::filesystem::path write_imported(const Imported& imported, const std::filesystem::path& table,
                                     const Origin& origin);

}  // namespace roofcast::calibrate
