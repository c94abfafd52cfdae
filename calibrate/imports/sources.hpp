// SPDX-License-Identifier: Apache-2.0
//
// What other tools wrote of operators, as columns of our own tables:
//
//   aiconfigurator  CSV of AIConfigurator's collector (ai-dynamo/aiconfigurator, collector/): framework, version, device,
//                   op_name and the shape; latency in ms. message_size is in elements; `step` is what is cached
//   nccl-tests      what they print (calibrate/logs/collective_log.hpp), of one host
//   nsys, ncu, pytorch
//                   profiles (calibrate/logs/kernel_profile.hpp). A profile tells no shape: it is one row, whose shape
//                   the caller gives
//   roofcast        our own tables, roofcast-bench's too
//   csv             any other CSV
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "calibrate/imports/foreign_columns.hpp"

namespace roofcast::calibrate {

struct ImportOptions {
  std::string format;  // of all sources; empty: their content tells
  std::string kind;    // of the operators; empty: the columns tell
  Pairs map;           // our column, the source's
  Pairs fill;          // our column, the cell of every row where the source has no such column
  std::string chip, stack,
      version;  // of every row, whatever the source says; empty: the source tells
  std::vector<std::string>
      kernels;  // parts of the names of a profile's kernels that count; none: its only one
  std::int64_t runs = 0;  // of the operator in a profile; 0: those of its kernels, which are equal
};

std::vector<std::string> import_formats();

// Of one kind.
struct ImportSource {
  std::string format;
  std::string kind;
  std::vector<std::string> columns;  // ours
  std::vector<std::vector<std::string>> rows;
};

// InputError where it cannot be read, or where its kind or a column that the kind needs is not told.
ImportSource read_source(const std::filesystem::path& file, const ImportOptions& options);

}  // namespace roofcast::calibrate
