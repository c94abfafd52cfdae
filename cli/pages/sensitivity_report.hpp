// SPDX-License-Identifier: Apache-2.0
//
// One self-contained HTML file of what a metric hangs on: elasticities, what is left with resources free, where its
// interval comes from, and its variance over ranges.
//
// The page, its data contract and its drawings are cli/assets/sensitivity.*.
#pragma once

#include <filesystem>
#include <string>

#include "cli/text/sensitivity_text.hpp"

namespace roofcast::cli {

// `text` is shown as the scenario whose knobs were overridden.
void write_report(const SensitivityAnswer& answer, const std::string& text,
                  const std::filesystem::path& file);
// Of a scenario that does not run.
void write_report_of_misfit(const std::string& title, const std::string& reason,
                            const std::string& text, const std::filesystem::path& file);

}  // namespace roofcast::cli
