// SPDX-License-Identifier: Apache-2.0
//
// One self-contained HTML file of a roadmap: options over the portfolio with weights to turn, features by what each
// brings, tables and charts.
//
// The page, its data contract and its drawings are cli/assets/roadmap.*.
#pragma once

#include <filesystem>
#include <string>

#include "sim/roadmap/roadmap_result.hpp"

namespace roofcast::cli {

// `text` is shown as the roadmap that was compared.
void write_report(const sim::Roadmap& roadmap, const sim::RoadmapResult& result,
                  const std::string& text, const std::filesystem::path& file);

}  // namespace roofcast::cli
