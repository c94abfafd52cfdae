// SPDX-License-Identifier: Apache-2.0
//
// A page of drawn training runs: a row a run, and the share of them that are done in time.
#pragma once

#include <filesystem>

#include "cli/simulate/drawn_runs.hpp"

namespace roofcast::cli {

// `scenario`: its text. Throws InputError if it cannot run.
void write_report(const DrawnRuns& answer, const std::string& scenario,
                  const std::filesystem::path& file);

}  // namespace roofcast::cli
