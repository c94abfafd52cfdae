// SPDX-License-Identifier: Apache-2.0
//
// A folder of parts (cli/provenance/sweep_parts.hpp) with the sweep that it is of.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/document/node.hpp"
#include "cli/provenance/sweep_parts.hpp"
#include "cli/tables/front_rows.hpp"
#include "sim/decide/sweep_points.hpp"

namespace roofcast::cli {

class PartsFolder {
 public:
  // Throws InputError if it is none, or what it was made from has changed.
  explicit PartsFolder(const std::filesystem::path& folder);
  PartsFolder(const PartsFolder&) = delete;
  PartsFolder& operator=(const PartsFolder&) = delete;

  const base::Node& document() const { return document_; }
  const sim::SweepPoints& points() const { return points_; }
  const std::string& text() const { return text_; }  // of the sweep
  const SweepParts& parts() const { return parts_; }

 private:
  base::Node document_;
  sim::SweepPoints points_;
  std::string text_;
  SweepParts parts_;
};

// The rows of a CSV, or of a folder of all parts of a sweep, which are read row after row and not kept.
class ResultRows {
 public:
  explicit ResultRows(const std::filesystem::path& results);

  const FrontRows& read(const FrontGoal& goal);  // outlives this
  // Of those that were read, by growing number.
  base::CsvTable table(const std::vector<std::size_t>& rows);

 private:
  std::optional<base::CsvFile> whole_;        // or
  std::vector<std::filesystem::path> parts_;  // in their order
  std::vector<std::size_t> ends_;             // of the rows of each part
  std::optional<FrontReader> reader_;
};

}  // namespace roofcast::cli
