// SPDX-License-Identifier: Apache-2.0
//
// How right the shipped calibrations are, over every table of measured operators there is.
//
// Own: a chip under its own calibration, on the shapes that were held back from the fit (of kinds that are not
// fitted, on all). Transferred: the same chip as if it had never been measured, on all shapes.
#pragma once

#include <array>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "calibrate/platforms/error_summary.hpp"

namespace roofcast::calibrate {

inline constexpr std::size_t kSizes = 4;  // of measured times: below 10 us, 100 us, 1 ms, and above
std::string_view size_name(std::size_t size);

struct Judged {
  std::vector<Pair> own;
  std::vector<Pair> transferred;
};
struct KindAccuracy {
  std::string kind;
  std::size_t rows = 0;                        // of the table
  std::map<std::string, std::size_t> refused;  // by reason
  Judged all;
  std::map<std::pair<std::string, std::string>, Judged> by_chip_and_stack;
  std::array<std::vector<Pair>, kSizes> own_by_size;
};

// Kinds without a table in the directory are left out. Throws InputError where all are.
std::vector<KindAccuracy> accuracy(const std::filesystem::path& tables);

// `errors:` of a calibration whose parameters are another chip's: the transferred errors.
std::string transferred_errors(const std::vector<KindAccuracy>& kinds);

}  // namespace roofcast::calibrate
