// SPDX-License-Identifier: Apache-2.0
//
// How right the shipped calibrations are, over every table of measured operators there is.
//
// Own: a chip under its own calibration, on the shapes that were held back from the fit (of kinds that are not
// fitted, on all). Transferred: the same chip as if it had never been measured, on all shapes. Unknown: as if nothing had
// been measured on its architecture.
#pragma once

#include <array>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "calibrate/platforms/error_summary.hpp"
#include "hardware/spreads.hpp"

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
  std::map<std::pair<std::string, std::string>, std::vector<Pair>>
      unknown;  // by architecture and stack
  std::array<std::vector<Pair>, kSizes> own_by_size;
};
struct Accuracy {
  std::vector<KindAccuracy> kinds;
  std::vector<hardware::ArchitectureSpread> spreads;
};

// Kinds without a table in the directory are left out. Throws InputError where all are.
Accuracy accuracy(const std::filesystem::path& tables);

// `errors:` of generic parameters: those between unrelated architectures, and as they are those of kinds without tables.
std::string generic_errors(const Accuracy& accuracy);

}  // namespace roofcast::calibrate
