// SPDX-License-Identifier: Apache-2.0
//
// A sweep in parts: files that a killed sweep leaves behind, and that several machines can share the work by.
//
//   OUT.csv.parts/sweep.yaml       the sweep, with its base written out
//                 identity.json    what the parts are made from (cli/provenance/parts_identity.hpp); who comes first
//                                  writes it, and a sweep with another one is refused
//                 00007.csv        the rows of part 7: the columns of the result, without ranks
//                 00007.check      FNV-1a of these bytes, with the identity: no other sweep's part has it
//                 finishing        what is written from all parts (cli/provenance/unfinished_sweep.hpp)
//
// Parts are consecutive points, as many in each, and depend on the sweep alone: the same on any machine. A part is
// renamed to its name when it is whole (base/document/output_file.hpp), and then gets its check.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/csv/csv.hpp"
#include "sim/decide/result_table.hpp"
#include "sim/decide/sweep_points.hpp"

namespace roofcast::cli {

// Some of the parts: number `index` of `of` shards. "3/8" is {3, 8}. A part belongs to the shard that the sum of its digits
// to the base `of` says: one of each `of` parts, but not the same one of each, for what a part costs often repeats with the
// axes of the sweep.
struct Shard {
  std::size_t index = 1;
  std::size_t of = 1;
  bool has(std::size_t part) const;
};
// Throws InputError. "slurm" is the place in a Slurm array, SLURM_ARRAY_TASK_ID of SLURM_ARRAY_TASK_COUNT.
Shard parse_shard(const std::string& text);

// OUT.csv → OUT.csv.parts
std::filesystem::path parts_folder(const std::filesystem::path& csv);

class SweepParts {
 public:
  using Row = std::function<void(std::size_t row, std::span<const std::string_view> cells)>;

  // `sweep_text` is that of result_csv.hpp. With `simulate` every row is replayed.
  SweepParts(const sim::SweepPoints& points, std::string sweep_text, bool simulate);

  std::size_t count() const { return (points_.size() + most_ - 1) / most_; }
  sim::SweepPoints points(std::size_t part) const;

  // Makes the folder, or throws InputError if what it has belongs to another sweep.
  void open(const std::filesystem::path& folder) const;
  // Throws InputError if the folder is none, or belongs to another sweep, or was filled with other files.
  void check(const std::filesystem::path& folder) const;
  // For a sweep that was read from such a folder: what it was made from counts as read.
  void adopt(const std::filesystem::path& folder);
  static bool has(const std::filesystem::path& folder, std::size_t part);
  void write(const std::filesystem::path& folder, std::size_t part,
             const sim::ResultTable& rows) const;
  // The files of all parts, each in one of the folders. Throws InputError if one lacks, or is not what write() wrote.
  std::vector<std::filesystem::path> files(const std::vector<std::filesystem::path>& folders) const;
  // The rows of all parts, each in one of the folders. Throws InputError if one lacks, or is not what write() wrote.
  sim::ResultTable read(const std::vector<std::filesystem::path>& folders) const;
  // The same, where only the columns that a front is found by have every row; the others are thin and empty.
  sim::ResultTable read_thin(const std::vector<std::filesystem::path>& folders) const;
  // Tells some columns of every row, all of which the parts have.
  void each(const std::vector<std::filesystem::path>& folders,
            const std::vector<std::string>& columns, const Row& take) const;
  // Sets some rows of a thin table, which ascend. What it has of them stays.
  void fetch(const std::vector<std::filesystem::path>& folders,
             const std::vector<std::size_t>& rows, sim::ResultTable& table) const;
  // Writes these columns of every row: `meets`, ranks, reasons and columns that no part has (replays, made_by) as the table has
  // them, the others as the parts do.
  void copy(const std::vector<std::filesystem::path>& folders, const sim::ResultTable& table,
            const std::vector<std::string>& columns, base::CsvWriter& csv) const;
  // cli/provenance/parts_files.hpp
  void remove(const std::filesystem::path& folder) const;

  bool simulates() const { return simulate_; }
  const std::vector<std::string>& columns() const { return columns_; }

 private:
  void check_identity(const std::filesystem::path& folder) const;
  bool is_written_over(const std::filesystem::path& file) const;  // a part that was not checked
  void check_part(const std::vector<std::filesystem::path>& folders, std::size_t part) const;
  std::filesystem::path file(const std::vector<std::filesystem::path>& folders,
                             std::size_t part) const;
  void each_row(const std::vector<std::filesystem::path>& folders, std::size_t part,
                const std::vector<std::size_t>& columns, const Row& take) const;

  const sim::SweepPoints& points_;
  std::string sweep_text_;
  bool simulate_;
  std::string identity_;
  std::vector<std::string> columns_;
  std::size_t most_;  // points of a part
};

struct PartsOnDisk {
  const SweepParts& parts;
  std::vector<std::filesystem::path> folders;
};

// Throws InputError for a file in a folder of parts that has the name of one, and is not what write() wrote.
void refuse_changed_part(const std::filesystem::path& file);

// What an identity.json says of `simulate`.
bool simulates(const std::filesystem::path& folder);

}  // namespace roofcast::cli
