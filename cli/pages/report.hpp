// SPDX-License-Identifier: Apache-2.0
//
// One self-contained HTML file out of a result: trade-off chart, roofline, time by operator,
// table.
//
// The page, its data contract and its drawings are cli/assets/report.*; this writer fills in the
// data.
#pragma once

#include <filesystem>
#include <string>

#include "sim/decide/result_table.hpp"
#include "sim/decide/sweep_points.hpp"

namespace roofcast::cli {

// `points` (nullptr when the sweep is not known) gives operator detail of chosen rows; `sweep_text`
// is shown as the scenario that made the rows.
void write_report(const sim::ResultTable& table, const sim::SweepPoints* points,
                  const std::string& sweep_text, const std::filesystem::path& file);

}  // namespace roofcast::cli
