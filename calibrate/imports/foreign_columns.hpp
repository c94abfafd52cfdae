// SPDX-License-Identifier: Apache-2.0
//
// Columns of other tools under the names of our own.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace roofcast::calibrate {

using Pairs = std::vector<std::pair<std::string, std::string>>;

struct ForeignTable {
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;
};

// "; did you mean "k"?", or nothing.
std::string did_you_mean(const std::string& wrong, const std::vector<std::string>& columns);

// Gives columns our names. time_s, time_ms, time_us and time_ns become latency_ms. InputError where the source has no
// such column.
void rename(ForeignTable& table, const Pairs& map, const std::string& place);

// The columns of AIConfigurator's collector under our names. Returns the kind that op_name tells where `kind` is empty;
// empty: it tells none.
std::string read_collector(ForeignTable& table, const std::string& kind);
// Of columns that older collectors did not have yet.
Pairs collector_defaults();

}  // namespace roofcast::calibrate
