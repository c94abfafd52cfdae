// SPDX-License-Identifier: Apache-2.0
//
// One table of results, a row for every shape that was asked for: measured, or with the reason why not. A row is with
// the system as soon as it is written, so that a process that is killed loses none.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "calibrate/bench/layouts.hpp"

namespace roofcast::base {
class CsvWriter;
}

namespace roofcast::bench {

using Cell = std::variant<std::int64_t, double, std::string>;
using Cells = std::vector<Cell>;

// Samples of one quantity, in its unit.
struct Spread {
  double median = 0.0, p10 = 0.0, p90 = 0.0;
  std::int64_t samples = 0;
};
Spread spread_of(const std::vector<double>& samples);  // NaN when there are none

// median, p10, p90 and samples, times `unit`: 1e3 for seconds in a column of milliseconds.
Cells cells_of(const Spread& spread, double unit);

// What all rows of a run share.
struct Subject {
  std::string chip;     // system
  std::string version;  // fw_version: CUDA's
};

class Table {
 public:
  // Replaces DIRECTORY/NAME.csv; CsvError when it cannot be written.
  Table(const std::filesystem::path& directory, const Layout& layout, Subject subject);
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;
  ~Table();

  // std::logic_error when the cells are not as many as the layout has columns of them.
  void measured(const Cells& shape, const Cells& results);
  void failed(const Cells& shape, std::string_view reason);

 private:
  void write(const Cells& shape, const Cells& results, std::string_view reason);

  const Layout& layout_;
  Subject subject_;
  std::ofstream file_;
  std::unique_ptr<base::CsvWriter> csv_;
};

}  // namespace roofcast::bench
